import { createHash } from 'node:crypto';
import { createNoopMeter, metrics } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { processState, SHAPE } from './readers.ts';
import { createAgentSeries, toolSeries } from './series.ts';
import { newAgent, registerMetrics, seriesOf } from './test-support.telemetry.ts';

afterEach(() => metrics.disable());

/** Another copy of this package: its modules are loaded again, and share only globalThis. */
const anotherCopy = async () => {
  vi.resetModules();
  return { ...(await import('../index.ts')), ...(await import('./otel-binding.ts')) };
};

describe('two copies in one process', () => {
  test('they count into the same series, and are exported once', async () => {
    const agent = newAgent();
    const { scrape } = registerMetrics();
    for (const copy of [await anotherCopy(), await anotherCopy()]) {
      const session = copy.createBreakerbox({ agent, tools: { a: {} } }).session();
      session.acquire('a').settle({ outcome: 'success' });
    }
    const lines = await scrape();
    expect(seriesOf(agent, lines, 'breakerbox_outcomes_total')).toContain(
      'breakerbox_outcomes_total{gen_ai_tool_name="a",breakerbox_outcome="success"} 2',
    );
    expect(seriesOf(agent, lines, 'breakerbox_sessions')).toContain(
      'breakerbox_sessions{breakerbox_session_state="active"} 2',
    );
    expect(seriesOf(agent, lines, 'gen_ai_execute_tool_duration_count')).toEqual([
      'gen_ai_execute_tool_duration_count{gen_ai_tool_name="a"} 2',
    ]);
  });

  test('they follow a new SDK together, and release the old one', async () => {
    const agent = newAgent();
    const old = registerMetrics();
    const copies = [await anotherCopy(), await anotherCopy()];
    const sessions = copies.map((copy) => copy.createBreakerbox({ agent, tools: { a: {} } }).session());
    metrics.disable();
    const { scrape } = registerMetrics();
    for (const session of sessions) session.acquire('a').settle({ outcome: 'success' });
    const outcome = 'breakerbox_outcomes_total{gen_ai_tool_name="a",breakerbox_outcome="success"} 2';
    expect(seriesOf(agent, await scrape(), 'breakerbox_outcomes_total')).toContain(outcome);
    expect(seriesOf(agent, await old.scrape(), 'breakerbox_outcomes_total')).toEqual([]);
  });

  test('a copy whose API sees no SDK leaves the other its own', async () => {
    const agent = newAgent();
    const copy = await anotherCopy();
    const session = copy.createBreakerbox({ agent, tools: { a: {} } }).session();
    const { scrape } = registerMetrics();
    copy.followProviders();
    const blind = await anotherCopy();
    // As the API of a newer minor does with an SDK that registered itself with an older one.
    const asked = vi.spyOn(metrics, 'getMeterProvider').mockReturnValue({ getMeter: createNoopMeter });
    blind.followProviders();
    asked.mockRestore();
    session.acquire('a').settle({ outcome: 'success' });
    expect(seriesOf(agent, await scrape(), 'breakerbox_outcomes_total')).toContain(
      'breakerbox_outcomes_total{gen_ai_tool_name="a",breakerbox_outcome="success"} 1',
    );
  });
});

test('the shape matches its number: raise SHAPE when it changes, and write the new digest here', () => {
  const series = createAgentSeries('a');
  const tool = toolSeries(series, 't', 1);
  const keysOf = (one: object): string[] =>
    (one instanceof Map ? [...one.keys()] : Object.keys(one)).map(String).sort();
  const parts = [['state', processState()] as const, ...Object.entries(series), ...Object.entries(tool)];
  const shape = parts.map(([name, part]) => [name, typeof part === 'object' && name !== 'tools' ? keysOf(part) : []]);
  const digest = createHash('sha256').update(JSON.stringify(shape)).digest('hex').slice(0, 12);
  expect([SHAPE, digest]).toEqual([17, '892ac65111c8']);
});
