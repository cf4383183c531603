import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { metrics } from '@opentelemetry/api';
import { afterEach, expect, test } from 'vitest';
import { createBreakerbox } from '../index.ts';
import { newAgent, registerMetrics, seriesOf } from './test-support.telemetry.ts';

afterEach(() => metrics.disable());

const NAMES = ['breakerbox_circuits', 'breakerbox_systemic_active', 'breakerbox_sessions'];

/** A program as it is after a hot reload: its module is evaluated again, and the earlier box is dropped. */
const load = (agent: string): void => {
  const box = createBreakerbox({ agent, scope: 'process', tools: { a: {}, b: {}, c: {} } });
  const session = box.session();
  for (const tool of ['a', 'b', 'c']) {
    for (let call = 0; call < 3; call += 1) session.acquire(tool).settle({ outcome: 'failure', category: 'network' });
  }
  session.end();
};

test('C12: circuits and events that sessions share leave the gauges when the program has dropped their box', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const agent = newAgent();
  const { scrape } = registerMetrics();
  const counted = async () => {
    const lines = await scrape();
    return NAMES.flatMap((name) => seriesOf(agent, lines, name)).filter((line) => !line.endsWith(' 0'));
  };
  for (let reload = 0; reload < 20; reload += 1) load(agent);
  expect(await counted()).toContain('breakerbox_circuits{gen_ai_tool_name="a",breakerbox_state="open"} 20');
  expect(await counted()).toContain('breakerbox_systemic_active{} 20');
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  await new Promise((resolve) => setImmediate(resolve));
  expect(await counted()).toEqual([]);
});

test('C12: they stay while a session of the box is in use', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const agent = newAgent();
  const { scrape } = registerMetrics();
  const session = createBreakerbox({ agent, scope: 'process', tools: { a: {} } }).session();
  for (let call = 0; call < 3; call += 1) session.acquire('a').settle({ outcome: 'failure', category: 'network' });
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  expect(seriesOf(agent, await scrape(), 'breakerbox_circuits')).toContain(
    'breakerbox_circuits{gen_ai_tool_name="a",breakerbox_state="open"} 1',
  );
  expect(session.peek('a')?.state).toBe('open');
});
