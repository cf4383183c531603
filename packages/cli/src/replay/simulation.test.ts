import { createBreakerbox } from '@breakerbox/core';
import { guard } from '@breakerbox/instrumentation';
import { describe, expect, test } from 'vitest';
import { judgeEnding } from './judged-ending.ts';
import type { Ending, RecordedEvent } from './recording.ts';
import { createSimulation } from './simulation.ts';
import type { ReplayConfig } from './simulation-observer.ts';
import { tallySimulation } from './simulation-tally.ts';

const DOWN: Ending = { error: 'connect ECONNREFUSED 10.0.0.1:5432' };
const OK: Ending = { outcome: 'success' };

interface Call {
  readonly session?: string;
  readonly tool?: string;
  readonly at: number;
  readonly ending?: Ending;
  readonly input?: unknown;
  readonly live?: {
    readonly decision: 'call' | 'skip' | 'pause';
    readonly reason: 'closed' | 'open' | 'budget_exhausted';
  };
}

/** Calls that take 10 ms each. */
const eventsOf = (calls: readonly Call[]): readonly RecordedEvent[] =>
  calls.flatMap(({ session = 's', tool = 'crm', at, ending, input, live: decided }, index) => {
    const base = { session, callId: `${index}` };
    const start: RecordedEvent = { ...base, kind: 'start', tool, atMs: at, input, decided };
    return ending ? [start, { ...base, kind: 'end' as const, atMs: at + 10, ending }] : [start];
  });

const simulate = (events: readonly RecordedEvent[], config: ReplayConfig = {}) => {
  const { observer, close } = tallySimulation(config.scope === 'process');
  const simulation = createSimulation(config, observer);
  const placed = events.map((event) =>
    simulation.apply(event, ({ ending }, tool, input) => judgeEnding(ending, tool, input, config)),
  );
  simulation.finish();
  return { ...close(), misplaced: placed.filter((one) => !one).length };
};

const seconds = (from: number, to: number, ending: Ending, tool = 'crm'): readonly Call[] =>
  Array.from({ length: to - from }, (_, index) => ({ at: (from + index) * 1000, ending, tool }));

test('T3: the first rejected call of a session is measured, the later ones are modelled', () => {
  const { tools, openings, changedSessions } = simulate(eventsOf([...seconds(0, 8, DOWN), ...seconds(8, 10, OK)]));
  const crm = tools.get('crm');
  expect(openings).toMatchObject([{ session: 's', tool: 'crm', category: 'network', openedAtMs: 2010 }]);
  expect(crm?.calls).toEqual({ success: 2, failure: 8, ignored: 0, unknown: 0 });
  expect(crm?.rejected.circuit.measured).toEqual({ success: 0, failure: 1, ignored: 0, unknown: 0 });
  expect(crm?.rejected.circuit.modelled).toEqual({ success: 2, failure: 4, ignored: 0, unknown: 0 });
  expect(changedSessions).toBe(1);
});

test('T1: a recorded call is the probe when the cooldown is over by the clock of the recording', () => {
  const { openings, tools } = simulate(
    eventsOf([...seconds(0, 3, DOWN), ...seconds(63, 64, DOWN), ...seconds(184, 186, OK)]),
  );
  expect(openings).toMatchObject([{ openedAtMs: 2010, closedAtMs: 184_010, failedProbes: 1 }]);
  expect(tools.get('crm')?.openMs).toBe(182_000);
});

test('T6: an opening that rejects only calls that had succeeded is false', () => {
  const { tools } = simulate(eventsOf([...seconds(0, 3, DOWN), ...seconds(3, 6, OK)]));
  expect(tools.get('crm')).toMatchObject({ openings: 1, falseOpenings: 1 });
});

test('T6: repeats that the loop guard skips are counted apart', () => {
  const same = { tool: 'crm', input: { id: 7 }, ending: { outcome: 'failure', category: 'invalid_input' } as const };
  const calls = Array.from({ length: 6 }, (_, index) => ({ ...same, at: index * 1000 }));
  const { tools } = simulate(eventsOf(calls), { defaults: { failureThreshold: 100 }, budget: { failures: 100 } });
  expect(tools.get('crm')?.rejected.loop_guard.measured.failure).toBe(1);
  expect(tools.get('crm')?.rejected.circuit.measured.failure).toBe(0);
});

test('T6: a session pauses when its budget is used up, and later calls of all tools count as its rejections', () => {
  const calls = ['a', 'b', 'c'].flatMap((tool, index) => seconds(index * 2, index * 2 + 2, DOWN, tool));
  const { pauses } = simulate(eventsOf([...calls, ...seconds(7, 9, OK, 'd')]), {
    systemic: false,
    budget: { failures: 5 },
  });
  expect(pauses).toMatchObject([{ session: 's', by: 'budget', rejected: { success: 2, failure: 1 } }]);
});

test('T10: calls that a limit pauses are counted apart, with the place where it was reached', () => {
  const calls = [...seconds(0, 10, OK), ...seconds(10, 12, DOWN, 'mail'), ...seconds(12, 13, OK)];
  const { tools, limits, ...tally } = simulate(eventsOf(calls), { limits: { calls: 9 } });
  const rejected = { success: 2, failure: 2, ignored: 0, unknown: 0 };
  expect(limits).toEqual([
    { session: 's', limit: 'calls', mode: 'pause', atMs: 8000, afterCall: 9, calls: 13, pausedCalls: 4, rejected },
  ]);
  expect(tools.get('crm')?.rejected.limit).toMatchObject({ measured: { success: 1 }, modelled: { success: 1 } });
  expect(tools.get('mail')?.rejected.limit.modelled.failure).toBe(2);
  expect(tally).toMatchObject({ changedSessions: 1, sessionsOfFailures: 0, pausedBy: { budget: 0, systemic: 0 } });
});

test('T10: a limit of tokens counts what models and calls have used, and one of time counts by the clock of the recording', () => {
  const spent = (atMs: number): RecordedEvent => ({ kind: 'spend', session: 's', atMs, tokens: 1000 });
  const calls = eventsOf(seconds(0, 8, OK)).flatMap((event) =>
    event.kind === 'end' ? [{ ...event, tokens: 100 }, spent(event.atMs)] : [event],
  );
  expect(simulate(calls, { limits: { tokens: 3300 } }).limits).toMatchObject([
    { limit: 'tokens', atMs: 2010, afterCall: 3, pausedCalls: 5 },
  ]);
  expect(simulate(calls, { limits: { tokens: 300_000 } }).limits).toEqual([]);
  // A quarter of the time is kept for the answer.
  const timed = simulate(calls, { limits: { durationMs: 6000, tokens: { limit: 1000, mode: 'observe' } } });
  expect(timed.limits).toMatchObject([
    { limit: 'tokens', mode: 'observe', afterCall: 1, pausedCalls: 0 },
    { limit: 'durationMs', mode: 'pause', afterCall: 5, calls: 8, pausedCalls: 3 },
  ]);
});

test('T10: a limit that only the expected tokens of calls under way reach is left out', () => {
  const [one, two, three, ...rest] = ['a', 'b', 'c', 'd'].map((callId, index): readonly RecordedEvent[] => {
    const call = { session: 's', callId, atMs: index * 10 };
    return [
      { ...call, kind: 'start', tool: 'crm' },
      { ...call, kind: 'end', ending: OK, tokens: callId === 'a' ? 500 : 10 },
    ];
  });
  const together = [...(one ?? []), two?.[0], three?.[0], two?.[1], three?.[1], ...rest.flat()];
  const events = together.filter((event) => event !== undefined);
  expect(simulate(events, { limits: { tokens: 1400 } }).limits).toEqual([]);
  expect(simulate(events, { limits: { tokens: 510 } }).limits).toMatchObject([{ afterCall: 3, pausedCalls: 1 }]);
});

test('T1: sessions are apart, whatever their times are; in scope process they share circuits', () => {
  const one = seconds(100, 102, DOWN).map((call) => ({ ...call, session: 'one' }));
  const other = seconds(103, 105, DOWN).map((call) => ({ ...call, session: 'other' }));
  expect(simulate(eventsOf([...one, ...other])).openings).toEqual([]);
  expect(simulate(eventsOf([...other, ...one]))).toMatchObject({ openings: [], misplaced: 0 });
  expect(simulate(eventsOf([...one, ...other]), { scope: 'process' }).openings).toHaveLength(1);
});

describe('C14: keys', () => {
  const url = (host: number) => ({ url: `https://h${host}.example/a` });
  const missing = (index: number): Call => ({
    ...{ tool: 'fetch_url', at: index * 1000, input: url(index) },
    ending: { error: `getaddrinfo ENOTFOUND h${index}.example` },
  });

  test('a tool whose keys fail in a row opens at the same call as live', async () => {
    const { tools, openings } = simulate(eventsOf(Array.from({ length: 30 }, (_, index) => missing(index))));
    const session = createBreakerbox({ agent: 'live', clock: { now: () => 0, unixNow: () => 0 } }).session();
    const fetchUrl = guard(session, 'fetch_url', async (input: { url: string }): Promise<void> => {
      throw new Error(`getaddrinfo ENOTFOUND ${new URL(input.url).hostname}`);
    });
    let calls = 0;
    while (session.view().circuits[0]?.state !== 'open') await fetchUrl(url(calls++)).catch(() => {});
    expect(openings).toMatchObject([{ tool: 'fetch_url', category: 'network', openedAtMs: (calls - 1) * 1000 + 10 }]);
    expect(tools.get('fetch_url')).toMatchObject({ openings: 1, keyFailures: 30, failedKeys: 30 });
  });

  test('an open key rejects its own calls only', () => {
    const to = (host: number, at: number, ending: Ending): Call => ({
      tool: 'fetch_url',
      at,
      input: url(host),
      ending,
    });
    const dead = Array.from({ length: 5 }, (_, index) => to(1, index * 2000, { error: 'HTTP 503' }));
    const fine = Array.from({ length: 5 }, (_, index) => to(2, index * 2000 + 1000, OK));
    const { tools, openings } = simulate(eventsOf([...dead, ...fine].sort((one, other) => one.at - other.at)));
    expect(openings).toEqual([]);
    const { rejected, ...tally } = tools.get('fetch_url') ?? {};
    expect(tally).toMatchObject({ keyFailures: 5, failedKeys: 1, ignoredErrors: {} });
    expect(rejected?.circuit).toMatchObject({ measured: { failure: 1 }, modelled: { failure: 1, success: 0 } });
  });

  test('an answer 404 interrupts the row', () => {
    const gone: Call = { ...missing(4), ending: { error: 'HTTP 404 Not Found' } };
    const row = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => missing(from + index));
    expect(simulate(eventsOf([...row(0, 4), gone, ...row(5, 9)])).openings).toEqual([]);
  });

  test.each([
    ['of a tool without keys', { url: 'https://a.example/' }, { tools: { fetch_url: { key: false } } }],
    ['of a call without arguments', {}, {}],
  ] as const)('failures %s count for the tool', (_, input, config) => {
    const calls = [0, 1, 2].map((at) => ({ tool: 'fetch_url', at, input, ending: { error: 'HTTP 503' } }));
    const { tools, openings } = simulate(eventsOf(calls), config);
    expect(openings).toMatchObject([{ category: 'server' }]);
    expect(tools.get('fetch_url')?.keyFailures).toBe(0);
  });
});

test('an event before an earlier one of its session keeps the time of that one, and an end without a start is left out', () => {
  const stray: RecordedEvent = { kind: 'end', session: 's', atMs: 5000, callId: 'x', ending: OK };
  expect(
    simulate([
      ...eventsOf([
        { at: 9000, ending: OK },
        { at: 8000, ending: OK },
      ]),
      stray,
    ]).misplaced,
  ).toBe(3);
});

test('a call without an end counts as unknown', () => {
  expect(simulate(eventsOf([{ at: 0 }])).tools.get('crm')?.calls).toMatchObject({ unknown: 1 });
});

test('T8: decisions of a live run are compared, also after a person has resumed it', () => {
  const live = (decision: 'call' | 'pause', reason: 'closed' | 'budget_exhausted') => ({ decision, reason }) as const;
  const { parity } = simulate(
    eventsOf([
      { at: 0, ending: DOWN, live: live('call', 'closed') },
      { at: 1000, live: live('pause', 'budget_exhausted') },
      { at: 9000, ending: OK, live: live('call', 'closed') },
      { at: 9500, live: live('pause', 'budget_exhausted') },
    ]),
    { systemic: false, budget: { failures: 1 }, defaults: { failureThreshold: 5 } },
  );
  expect(parity).toMatchObject({ compared: 3, different: 0, notCompared: 1 });
});

test('T8: where the recording says when a pause ended, later decisions are compared too, also if no call was paused', () => {
  const live = { decision: 'call', reason: 'closed' } as const;
  const config: ReplayConfig = { systemic: false, budget: { failures: 1 }, defaults: { failureThreshold: 5 } };
  const [failed, next] = [eventsOf([{ at: 0, ending: DOWN, live }]), eventsOf([{ at: 9000, ending: OK, live }])];
  expect(simulate([...failed, ...next], config).parity).toMatchObject({ compared: 2, different: 1 });
  const resumed: RecordedEvent = { kind: 'resume', session: 's', atMs: 8000 };
  expect(simulate([...failed, resumed, ...next], config).parity).toEqual({
    ...{ compared: 2, different: 0, notCompared: 0, differences: [] },
  });
});

test('T8: a decision that differs is listed', () => {
  const live = { decision: 'skip', reason: 'open' } as const;
  expect(simulate(eventsOf([{ at: 0, live }])).parity).toMatchObject({
    different: 1,
    differences: [{ tool: 'crm', live: 'skip (open)', replay: 'call (closed)' }],
  });
});

test('settings that cannot work are rejected before a file is read', () => {
  expect(() => createSimulation({ budget: { failures: 0 } }, tallySimulation(false).observer)).toThrow(
    /budget\.failures/,
  );
});

test('T7: a session that waits while thousands of others go on keeps its circuits, budget and measured part', () => {
  const before = eventsOf([...seconds(0, 3, DOWN), ...seconds(3, 4, OK)]);
  const after = eventsOf(seconds(5, 7, OK));
  const others = Array.from({ length: 3000 }, (_, index) => index).flatMap((index) =>
    eventsOf([{ session: `other ${index}`, at: 4000, ending: OK }]),
  );
  const alone = simulate([...before, ...after]);
  const { tools, openings, changedSessions } = simulate([...before, ...others, ...after]);
  expect(openings).toEqual(alone.openings);
  expect(changedSessions).toBe(1);
  expect(tools.get('crm')?.rejected).toEqual(alone.tools.get('crm')?.rejected);
  expect(tools.get('crm')?.rejected.circuit).toMatchObject({ measured: { success: 1 }, modelled: { success: 2 } });
});
