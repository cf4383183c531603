/** docker-compose.yml in a container engine, with substitutes for the images of other projects: compose/substitutes. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { readCompose } from '../stack/files.ts';
import { ask, checkContainers, type Engine, NoEngineError, runBeside, startEngine } from './compose/engine.ts';
import { buildDemo, buildSubstitutes, DEMO_IMAGE, NODE_IMAGE, sizeOf } from './compose/images.ts';
import { type Compose, findCompose, statesOf, tracesOf } from './compose/stack.ts';

/** Of a test and of the preparation, on a busy machine. */
const LIMIT_MS = 240_000;
/** The longest health check: three services, each of which waits for the one before it, with 10 s between checks. */
const HEALTHY_MS = 120_000;
/** The first alert is sent 1:35 after the start of the agents. */
const ALERT_MS = 170_000;
const DOWN_MS = 60_000;
const WAIT = { interval: 1000 };
const MEGABYTE = 1_000_000;
/** What the image of the demo agents may add to Node's. */
const MOST_MEGABYTES = 250;

const say = (text: string): void => void process.stderr.write(`compose.test.ts: ${text}\n`);

const folder = mkdtempSync(join(tmpdir(), 'compose-'));
let engine: Engine;
let compose: Compose;
let before: readonly string[];
let without: string | undefined;

const prepare = async (): Promise<void> => {
  engine = await startEngine(folder, 'host');
  compose = await findCompose(engine, folder);
  await buildSubstitutes(engine, join(folder, 'context'));
  await checkContainers(engine, NODE_IMAGE, 'host');
  await buildDemo(engine);
  await engine.stop();

  engine = await startEngine(folder, 'own');
  await engine.docker('network', 'create', 'trial');
  await checkContainers(engine, NODE_IMAGE, 'trial');
  await engine.docker('network', 'rm', 'trial');
  before = await tracesOf(engine);
};

beforeAll(async () => {
  try {
    await prepare();
    say(compose.about);
  } catch (error) {
    if (!(error instanceof NoEngineError) || process.env.BREAKERBOX_REQUIRE_ENGINE === '1') throw error;
    without = error.message;
    say(`skipped. ${without}`); // Reporters do not show why a test is skipped.
  }
}, LIMIT_MS);

beforeEach((context) => {
  if (without !== undefined) context.skip(without);
  context.onTestFailed(async () => say(await compose.run('logs', '--no-color', '--tail', '20').catch(String)));
});

afterAll(async () => {
  await engine?.stop();
  await rm(folder, { recursive: true, force: true }); // A hundred thousand files.
}, LIMIT_MS);

/** The values of an instant query, by the label. */
const query = async (text: string, label: string): Promise<Readonly<Record<string, number>>> => {
  const answer = await ask(engine, `http://127.0.0.1:9090/api/v1/query?query=${encodeURIComponent(text)}`);
  const { data }: { data: { result: { metric: Record<string, string>; value: [number, string] }[] } } =
    JSON.parse(answer);
  return Object.fromEntries(data.result.map(({ metric, value }) => [metric[label], Number(value[1])]));
};

test('the image of the demo agents adds at most 250 MB to its base', async () => {
  const added = ((await sizeOf(engine, DEMO_IMAGE)) - (await sizeOf(engine, NODE_IMAGE))) / MEGABYTE;
  say(`the image of the demo agents adds ${Math.round(added)} MB to its base`);
  expect(added).toBeGreaterThan(0);
  expect(added).toBeLessThanOrEqual(MOST_MEGABYTES);
});

test(
  'every service becomes healthy, and none is restarted',
  async () => {
    await compose.run('up', '--detach');
    const healthy = Object.entries(readCompose().services).map(([name, { healthcheck }]) => [
      name,
      healthcheck ? 'healthy' : 'running',
    ]);
    await vi.waitFor(async () => expect(await statesOf(engine)).toEqual(Object.fromEntries(healthy)), {
      ...WAIT,
      timeout: HEALTHY_MS,
    });
  },
  LIMIT_MS,
);

/** Of ports whose `/` is not answered with success. */
const PATHS: Readonly<Record<string, string>> = { 9090: '/-/healthy', 9464: '/metrics' };
const PORTS = Object.values(readCompose().services).flatMap(({ ports = [] }) => ports.map((one) => one.split(':')[1]));

test.each(PORTS)('port %s is published on 127.0.0.1', async (port = '') => {
  await expect(ask(engine, `http://127.0.0.1:${port}${PATHS[port] ?? '/'}`)).resolves.toBeDefined();
});

test(
  'Prometheus scrapes the demo agents, and the Collector receives what they push',
  async () => {
    const scraped = ['agent-research:9464', 'agent-support:9464'];
    const wait = { ...WAIT, timeout: HEALTHY_MS };
    await vi.waitFor(async () => {
      expect(await query('up', 'instance')).toEqual(
        Object.fromEntries([...scraped, 'otel-collector:8889'].map((one) => [one, 1])),
      );
      const decisions = await query('sum by (instance) (breakerbox_decisions_total) > 0', 'instance');
      expect(Object.keys(decisions).sort()).toEqual(scraped);
      const pushed = await query('substitute_requests_total{path=~"/v1/.*"}', 'path');
      expect(Object.keys(pushed).sort()).toEqual(['/v1/logs', '/v1/metrics', '/v1/traces']);
    }, wait);
  },
  LIMIT_MS,
);

test(
  'the link in the log of the console signs in, and every agent answers there',
  async () => {
    const [, token] =
      /http:\/\/localhost:9480\/#token=(\S+)/.exec(await compose.run('logs', '--no-color', 'console')) ?? [];
    const script = `const at = 'http://127.0.0.1:9480/api/';
      const headers = { 'content-type': 'application/json' };
      const entry = await fetch(at + 'sign-in', { method: 'POST', headers, body: ${JSON.stringify(JSON.stringify({ token }))} });
      const [cookie] = entry.headers.getSetCookie()[0].split(';');
      const { endpoints } = await (await fetch(at + 'state', { headers: { cookie } })).json();
      console.log(endpoints.map((one) => one.status + ' ' + one.state?.boxes[0].agent).join());`;
    const agents = 'answers ops-agent,answers research-agent,answers support-agent';
    await expect(runBeside(engine, script)).resolves.toBe(`${agents}\n`);
  },
  LIMIT_MS,
);

test(
  'the pager prints the alert of an outage',
  async () => {
    const wait = { ...WAIT, timeout: ALERT_MS };
    const message =
      /Warning: (\w+-agent): (\w+) is out of use.*http:\/\/localhost:3000\/d\/.*http:\/\/localhost:9480\/#agent=\1&tool=\2/s;
    await vi.waitFor(async () => expect(await compose.run('logs', '--no-color', 'pager')).toMatch(message), wait);
  },
  LIMIT_MS,
);

test(
  '`down -v` leaves no container, network, volume, process or mount, and neither does the engine',
  async () => {
    expect(await tracesOf(engine)).not.toEqual(before);
    await compose.run('down', '-v');
    await vi.waitFor(async () => expect(await tracesOf(engine)).toEqual(before), { ...WAIT, timeout: DOWN_MS });
    await engine.stop();
    expect(engine.left()).toEqual([]);
  },
  LIMIT_MS,
);
