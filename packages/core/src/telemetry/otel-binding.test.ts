import { metrics } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bench, failOnce, succeedOnce, watchWarnings } from '../test-support.ts';
import { agentSeries, delist, enlist, followProviders } from './otel-binding.ts';
import { processState } from './readers.ts';
import { newAgent, registerMetrics, seriesOf } from './test-support.telemetry.ts';

let agent = '';
beforeEach(() => {
  agent = newAgent();
});
afterEach(() => metrics.disable());

describe('following the meter provider', () => {
  test('it works without another decision, after followProviders()', async () => {
    const { session } = bench({ agent, tools: { a: {} } });
    succeedOnce(session, 'a');
    const { scrape } = registerMetrics();
    expect(seriesOf(agent, await scrape(), 'breakerbox_outcomes_total')).toEqual([]);
    followProviders();
    expect(seriesOf(agent, await scrape(), 'breakerbox_outcomes_total')).toContain(
      'breakerbox_outcomes_total{gen_ai_tool_name="a",breakerbox_outcome="success"} 1',
    );
  });

  test('a declaration does too', async () => {
    const { box } = bench({ agent, tools: {} });
    const { scrape } = registerMetrics();
    box.declare('late');
    expect(seriesOf(agent, await scrape(), 'breakerbox_circuits')).toHaveLength(3);
  });

  test('the previous provider reads nothing any longer', async () => {
    const first = registerMetrics();
    const { session } = bench({ agent, tools: { a: {} } });
    succeedOnce(session, 'a');
    metrics.disable();
    registerMetrics();
    succeedOnce(session, 'a');
    expect(seriesOf(agent, await first.scrape(), 'breakerbox_outcomes_total')).toEqual([]);
  });
});

describe('zeros of new series', () => {
  test("an error is counted under the tool's own judgement", async () => {
    const { scrape } = registerMetrics();
    const { session } = bench({ agent, tools: { a: { outcomes: { invalid_input: 'failure' } } } });
    expect(seriesOf(agent, await scrape(), 'breakerbox_errors_total')).toEqual([]);
    failOnce(session, 'a', 'invalid_input');
    expect(seriesOf(agent, await scrape(), 'breakerbox_errors_total')).toEqual([
      'breakerbox_errors_total{gen_ai_tool_name="a",breakerbox_outcome="failure",error_type="invalid_input"} 1',
    ]);
  });

  test("beyond maxTools they are shared, and _OTHER takes no tool's place", async () => {
    const { scrape } = registerMetrics();
    const { session, box } = bench({ agent, tools: { a: {} }, maxTools: 2 });
    succeedOnce(session, 'made_up'); // Makes _OTHER.
    box.declare('b');
    box.declare('c');
    const tools = seriesOf(agent, await scrape(), 'breakerbox_circuits').map(
      (line) => /tool_name="(\w+)"/.exec(line)?.[1],
    );
    expect([...new Set(tools)].sort()).toEqual(['_OTHER', 'a', 'b']);
  });

  test('tools of which nothing is exported take no place of maxTools', async () => {
    const { scrape } = registerMetrics();
    const groups = { quiet: { telemetry: 'none' } } as const;
    const tools = { silent: { telemetry: 'none' }, member: { group: 'quiet' }, a: {} } as const;
    const { box } = bench({ agent, tools, groups, maxTools: 2 });
    box.declare('b');
    box.declare('c');
    const series = seriesOf(agent, await scrape(), 'breakerbox_circuits');
    const seen = series.map((line) => /tool_name="(\w+)"/.exec(line)?.[1]);
    expect([...new Set(seen)].sort()).toEqual(['_OTHER', 'a', 'b']);
  });
});

test('new sessions retire idle ones when no metrics are collected', () => {
  let retired = 0;
  const idle = Array.from({ length: 10 }, () => ({
    retireIfIdle: () => {
      retired += 1;
      return true;
    },
  }));
  const busy = { retireIfIdle: () => false };
  for (const one of idle) enlist(one);
  for (let i = 0; i < 50; i += 1) enlist(busy);
  expect(retired).toBe(10);
  delist(busy);
});

test('dropped sessions leave in batches: a hundred for each new session', () => {
  let retired = 0;
  const dropped = Array.from({ length: 1_000 }, () => {
    let idles = false;
    return {
      drop: () => {
        idles = true;
      },
      retireIfIdle: () => {
        retired += Number(idles);
        return idles;
      },
    };
  });
  for (const one of dropped) enlist(one);
  for (const one of dropped) one.drop();
  const before = processState().live.size;
  const busy = { retireIfIdle: () => false };
  for (let come = 0; come < 20; come += 1) enlist(busy); // Others are looked at, too.
  expect(retired).toBe(1_000);
  expect(processState().live.size).toBeLessThanOrEqual(before - 1_000 + 1);
  delist(busy);
});

test('beyond 200 agent names, agents share the series of _OTHER, and that is reported once', () => {
  const warnings = watchWarnings();
  for (let n = 0; n < 1_200; n += 1) agentSeries(`run-${n % 600}`);
  expect(agentSeries('run-0').agent).toBe('run-0');
  expect([agentSeries('run-598'), agentSeries('one more')]).toEqual([agentSeries('run-599'), agentSeries('run-599')]);
  expect(agentSeries('run-599').agent).toBe('_OTHER');
  expect(processState().agents.size).toBe(201);
  expect(warnings()).toEqual([expect.stringMatching(/more than 200 different agent names.*box\.session\(\{ id \}\)/)]);
});
