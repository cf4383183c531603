import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

const conditions = ['breakerbox-source'];
const resolve = { resolve: { conditions }, ssr: { resolve: { conditions, externalConditions: conditions } } };

/** Half of the tests wait for servers most of the time, so one more of them runs than there are cores. */
const maxWorkers = availableParallelism() + 1;

/** Real servers on a busy machine: CI gives a test that failed one more try, and the report says so. */
const retry = process.env.CI === 'true' ? 1 : 0;

/** Many tests do on purpose what a program should not. Tests of the warnings turn them on. */
const PARTS_ENV = { BREAKERBOX_WARNINGS: 'off', BREAKERBOX_ALERT_INTERVALS: '15' };

/** Has dependencies of its own, which `npm test` does not install. */
const PREVIEW = 'dashboards/preview/**/*.test.ts';

/** Random cases and simulations: `npm test` runs a tenth or less of what `npm run test:all` does. The seed of a case that fails is printed. */
const MODELS = [
  'packages/core/src/proof/model.test.ts',
  'packages/core/src/limits/tree.property.test.ts',
  'packages/fleet/src/proof/promises.test.ts',
  'test/models/failover.test.ts',
  'bench/src/scale/scale.test.ts',
];
const MANY_CASES = '10000';

/**
 * What `npm test` leaves to `npm run test:all`: endurance, packages and programs in blank projects, proofs and simulations that keep both
 * cores busy for minutes, a real Claude process for each call, messages of 65 MB, telemetry backends that hang, docker-compose.yml in
 * containers, the console and tools in a browser, what servers of the relay do and how they fail, endless and hostile
 * values, faults of Redis under a fleet of processes, and pictures of the dashboards.
 */
const SLOW = [
  ...[
    'soak',
    'compose',
    'newcomer',
    'recipes',
    'mcp-conformance',
    'incident',
    'mixin',
    'mcp-programs',
    'mcp-relay-{connections,features,gateways,go,http,http-outages,listen,outages,proxy,python,restart,services}',
    'outages.{browser,fetch,runner}',
    'packaging.{beside,clone,command,install,otel,release,surface,tarballs,use}',
  ].map((name) => `test/${name}.test.ts`),
  'packages/core/src/proof/walk.test.ts',
  'packages/telemetry/src/exit{,.backends}.test.ts',
  'packages/demo/src/{left-behind,shared/shared-demo}.test.ts',
  'alerts/tests/{engines,grafana-managed,native,situations}.test.ts',
  'bench/src/{bench,scrape,relay/http-memory}.test.ts',
  'bench/bundle/bundle.test.ts',
  'bench/outages/headlines.test.ts',
  'test/{costs,hostile}/*.test.ts',
  'test/frameworks/claude-agent.test.ts',
  'test/hostile-telemetry/otlp.test.ts',
  'test/console-{actions,alert,view}.browser.test.ts',
  'test/fleet/faults.test.ts',
  'test/models/{blank-project,cut,faults,*.faults}.test.ts',
  PREVIEW,
];

/** What a test says that registers something for its process: a clock, an SDK, a mock, a setting. */
const OF_THE_PROCESS =
  /setGlobal|useFakeTimers|vi\.(mock|spyOn|stub|resetModules)|process\.env|globalThis|register(Metrics|Traces)/;
const SHARED = '{packages/core/src,packages/instrumentation/src/classify,packages/control/src,dashboards/src}';

/** Tests that leave nothing behind. Each worker loads the modules once for all of them, which takes half the time. */
const togetherIn = (folders: string, exclude: readonly string[]): readonly string[] =>
  globSync(`${folders}/**/*.test.ts`, { exclude: ['**/proof/**', ...exclude] }).filter(
    (file) => !OF_THE_PROCESS.test(readFileSync(file, 'utf8')),
  );
const TOGETHER = togetherIn(SHARED, []);
/** In workers of their own: they load frameworks. */
const ADAPTERS = togetherIn('packages/{instrumentation,cli}/src', TOGETHER);

/** Tests of several packages that run with the parts. */
const AMONG_PARTS = ['frameworks', 'hostile-telemetry', 'models', 'secrets'];

export default defineConfig({
  test: {
    globalSetup: 'test/temporary.ts',
    projects: [
      ...[
        { name: 'together', include: TOGETHER },
        { name: 'adapters', include: ADAPTERS },
      ].map(({ name, include }) => ({
        ...resolve,
        test: {
          name,
          env: PARTS_ENV,
          include: [...include],
          isolate: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers,
          retry,
          sequence: { groupOrder: 1 },
        },
      })),
      {
        ...resolve,
        test: {
          name: 'parts',
          env: PARTS_ENV,
          include: [
            'packages/*/src/**/*.test.ts',
            'packages/control/console/src/*.test.ts',
            'test/{mcp-servers,outages}.*.ts',
            'scripts/*.test.mjs',
            '{dashboards,alerts,stack,docs,examples,bench}/**/*.test.ts',
            ...AMONG_PARTS.map((folder) => `test/${folder}/**/*.test.ts`),
          ],
          exclude: [...configDefaults.exclude, ...SLOW, ...TOGETHER, ...ADAPTERS],
          maxWorkers,
          // Tests that start servers and tools share two cores in CI.
          testTimeout: 60_000,
          hookTimeout: 60_000,
          retry,
          // From 1: what has no order of its own, which is 0, runs last where there is a single worker.
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...resolve,
        test: {
          name: 'whole',
          include: ['test/**/*.test.ts'],
          exclude: [
            ...configDefaults.exclude,
            ...SLOW,
            'test/{costs,hostile}/**',
            'test/{mcp-servers,outages}.*',
            ...AMONG_PARTS.map((folder) => `test/${folder}/**`),
          ],
          // Prometheus, Alertmanager and a fleet of agents in real time. They mostly wait, but a busy machine changes what they do.
          maxWorkers: 3,
          testTimeout: 180_000,
          hookTimeout: 60_000,
          retry,
          sequence: { groupOrder: 2 },
        },
      },
      {
        ...resolve,
        test: {
          name: 'slow',
          env: {
            BREAKERBOX_MODEL_CASES: MANY_CASES,
            BREAKERBOX_WARNINGS: 'off',
            // Alerts in a demonstration, which scrapes each second, and at the longest interval.
            BREAKERBOX_ALERT_INTERVALS: '1,60',
          },
          include: [...SLOW, ...MODELS, 'alerts/tests/*.test.ts'],
          // One after the other, with the machine to themselves: npm installs, and memory is measured.
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 60_000,
          retry,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
