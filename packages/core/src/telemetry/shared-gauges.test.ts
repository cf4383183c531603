import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { metrics } from '@opentelemetry/api';
import { afterEach, expect, test } from 'vitest';
import { createBreakerbox } from '../index.ts';
import { boxModels } from '../models/model-session.ts';
import { newAgent, registerMetrics, seriesOf } from './test-support.telemetry.ts';

afterEach(() => metrics.disable());

const NAMES = ['breakerbox_circuits', 'breakerbox_systemic_active', 'breakerbox_sessions'];

/** A program as it is after a hot reload: its module is evaluated again, and the earlier box is dropped. */
const load = (agent: string, ends = true): void => {
  const box = createBreakerbox({ agent, scope: 'process', tools: { a: {}, b: {}, c: {} }, models: { 'acme/m': {} } });
  const session = box.session();
  box.on('circuit.transition', () => box.tools);
  const models = boxModels(box);
  models.declare({ name: 'acme/m', group: 'acme', hasFallback: false });
  models.session.acquire('model:acme/m').settle({ outcome: 'success' });
  for (const tool of ['a', 'b', 'c']) {
    for (let call = 0; call < 3; call += 1) session.acquire(tool).settle({ outcome: 'failure', category: 'network' });
  }
  if (ends) session.end();
};

const pause = () => new Promise((resolve) => setImmediate(resolve));

/** Lets the engine collect what nothing refers to, and tell so. */
const collectAll = async (turns: number): Promise<void> => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let turn = 0; turn < turns; turn += 1) {
    await pause();
    collect();
  }
  await pause();
};

test.each([
  ['ended', true, []],
  ['left open', false, ['breakerbox_sessions{breakerbox_session_state="active"} 20']],
])(
  'C12: what sessions share leaves the gauges when the program has dropped their box: sessions %s',
  async (_, ends, left) => {
    const agent = newAgent();
    const { scrape } = registerMetrics();
    const counted = async () => {
      const lines = await scrape();
      return NAMES.flatMap((name) => seriesOf(agent, lines, name)).filter((line) => !line.endsWith(' 0'));
    };
    for (let reload = 0; reload < 20; reload += 1) load(agent, ends);
    expect(await counted()).toContain('breakerbox_circuits{gen_ai_tool_name="a",breakerbox_state="open"} 20');
    expect(await counted()).toContain('breakerbox_systemic_active{} 20');
    await collectAll(8);
    expect(await counted()).toEqual(left);
  },
);

test('C12: they stay while a session of the box is in use', async () => {
  const agent = newAgent();
  const { scrape } = registerMetrics();
  const session = createBreakerbox({ agent, scope: 'process', tools: { a: {} } }).session();
  for (let call = 0; call < 3; call += 1) session.acquire('a').settle({ outcome: 'failure', category: 'network' });
  await collectAll(3);
  expect(seriesOf(agent, await scrape(), 'breakerbox_circuits')).toContain(
    'breakerbox_circuits{gen_ai_tool_name="a",breakerbox_state="open"} 1',
  );
  expect(session.peek('a')?.state).toBe('open');
});
