import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT, runCommand } from './newcomer/commands.ts';
import { packAll } from './newcomer/pack.ts';
import { FRAMEWORKS, type Neighbour, TELEMETRY } from './packaging/beside/projects.ts';
import { NPM_QUIET } from './packaging/nodes.ts';
import { run } from './packaging/run.ts';

/*
 * Blank projects that have another telemetry package, or an old framework, before Breakerbox is installed by the documented line: npm takes
 * it, and the program runs.
 */

const OURS = ['core', 'instrumentation', 'telemetry'].map((name) => `@breakerbox/${name}`);
const ALL: readonly Neighbour[] = [...TELEMETRY, ...FRAMEWORKS];
/** Installs mostly wait for the network and the disk. */
const AT_ONCE = 4;

let above: string;
let tarballs: readonly string[];
const folderOf = ({ name }: Neighbour): string => join(above, name.replace(/@[\d.]+$/, '').replaceAll(/\W+/g, '-'));

const npm = (folder: string, packages: readonly string[]) =>
  runCommand('npm', ['install', ...NPM_QUIET, ...packages], folder);

/** What npm had to say against the second install. */
const refusals = new Map<string, unknown>();

const makeProject = async (one: Neighbour): Promise<void> => {
  const folder = folderOf(one);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'blank', private: true, type: 'module' }));
  await npm(folder, [one.name, ...(one.others ?? [])]);
  await npm(folder, tarballs).catch((error: unknown) => refusals.set(one.name, error));
  await cp(join(ROOT, 'test/packaging/programs'), folder, { recursive: true });
  if (one.setUp !== undefined) await writeFile(join(folder, 'set-up.mjs'), one.setUp);
};

beforeAll(async () => {
  above = await mkdtemp(join(tmpdir(), 'breakerbox-beside-'));
  const packed = await packAll();
  tarballs = OURS.map((name) => `file:${packed.get(name)}`);
  const waiting = [...ALL];
  const next = async (): Promise<void> => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await makeProject(one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}, 600_000);
afterAll(() => rm(above, { recursive: true, force: true }));

/** The last line: libraries print as well. */
const runProgram = async <Printed>(
  one: Neighbour,
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<Printed> => {
  const env = {
    OTEL_TRACES_EXPORTER: 'none',
    DD_TRACE_AGENT_URL: 'http://127.0.0.1:2',
    DD_INSTRUMENTATION_TELEMETRY_ENABLED: 'false',
    ...more,
  };
  const { code, stdout, stderr } = await run(process.execPath, args, folderOf(one), env);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Printed;
};

const SEEN = ['read the-news', 'ECONNREFUSED', 'ECONNREFUSED', 'ECONNREFUSED', 'refused: open'];
const SKIPPED = /^breakerbox_decisions_total\{[^\n]*"search"[^\n]*"skip"[^\n]*"open"[^\n]*\} 1$/m;

interface Ran {
  readonly seen: unknown;
  readonly metrics: string;
  readonly theirs?: number;
  readonly logged: readonly string[];
}

describe.each(ALL)('beside $name', (one) => {
  test('npm installs the packages, and one copy of the API for all of them', async () => {
    expect(refusals.get(one.name)).toBeUndefined();
    const modules = join(folderOf(one), 'node_modules');
    expect(existsSync(join(modules, '@opentelemetry/api'))).toBe(true);
    for (const name of OURS) expect(await readdir(join(modules, name))).not.toContain('node_modules');
    await runCommand('npm', ['ls', ...OURS, '@opentelemetry/api'], folderOf(one)); // Fails where a peer doesn't fit.
  });

  test('guard() and startTelemetry() work', async () => {
    const { seen, metrics, theirs, logged } = await runProgram<Ran>(one, [
      'beside.mjs',
      ...(one.setUp ? ['./set-up.mjs'] : []),
    ]);
    expect(seen).toEqual(SEEN);
    if (one.takesMetrics) {
      expect(theirs).toBe(1);
      expect(metrics).toBe('');
      expect(logged).toEqual([
        expect.stringMatching(/^startTelemetry\(\) did nothing: .* leave startTelemetry\(\) out/),
      ]);
    } else {
      expect(metrics).toMatch(SKIPPED);
      expect(logged).toEqual([]);
    }
  });
});

const sdk2 = TELEMETRY.find(({ name }) => name.startsWith('@opentelemetry/sdk-node')) as Neighbour;

test('with API 1.9, which has no logs, startTelemetry says that log events go nowhere, and metrics do', async () => {
  const { metrics, logged } = await runProgram<Ran>(sdk2, ['beside.mjs'], { OTEL_LOGS_EXPORTER: 'console' });
  expect(metrics).toMatch(SKIPPED);
  expect(logged).toEqual([
    expect.stringContaining('log events are not sent, because @opentelemetry/api 1.9 has no logs'),
  ]);
});

test('the exporter and the producer of @breakerbox/telemetry/sdk work in an SDK of line 2', async () => {
  const setUp = `
import { NodeSDK } from '@opentelemetry/sdk-node';
import { BreakerboxPrometheusExporter, breakerboxMetricProducer } from '@breakerbox/telemetry/sdk';
const exporter = new BreakerboxPrometheusExporter({ preventServerStart: true, metricProducers: [breakerboxMetricProducer()] });
new NodeSDK({ metricReader: exporter }).start();
export const counted = async () => {
  const { resourceMetrics: { scopeMetrics }, errors } = await exporter.collect();
  if (errors.length > 0) throw errors[0];
  const points = scopeMetrics.flatMap(({ metrics }) => metrics).filter(({ descriptor }) => descriptor.name === 'breakerbox.decisions');
  return points.flatMap(({ dataPoints }) => dataPoints).reduce((sum, { value }) => sum + value, 0);
};
`;
  await writeFile(join(folderOf(sdk2), 'exporter.mjs'), setUp);
  expect(await runProgram<Ran>(sdk2, ['beside.mjs', './exporter.mjs'])).toMatchObject({ seen: SEEN, theirs: 5 });
});

test.each(FRAMEWORKS)('$name: the adapter works, or says what it needs', async (one) => {
  const imports = [
    `import { createBreakerbox } from '@breakerbox/core';`,
    `import * as adapter from '@breakerbox/instrumentation/${one.adapter}';`,
    `import { say } from './story.mjs';`,
    `const session = createBreakerbox({ agent: 'old' }).session();`,
  ];
  await writeFile(join(folderOf(one), 'adapter.mjs'), [...imports, one.program].join('\n'));
  expect(await runProgram(one, ['adapter.mjs'])).toEqual(one.prints);
});
