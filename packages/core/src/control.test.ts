import { describe, expect, test } from 'vitest';
import { BreakerboxUsageError } from './checks/checks.ts';
import type { CircuitMode } from './circuit/circuit.ts';
import type { TransitionEvent } from './events.ts';
import { bench, failOnce, journal, steps, succeedOnce, trip } from './test-support.ts';

const SWITCHED_OFF =
  "Tool 'a' is unavailable: it is switched off. Do not call it. " +
  'Continue without it, and say in your answer what is missing. [breakerbox:not-called]';

/** Failures that are no event, until the budget is spent: the sixth is final, and no circuit opens. */
const exhaust = (session: ReturnType<typeof bench>['session']) => {
  for (const tool of ['b', 'c']) {
    failOnce(session, tool, 'server');
    failOnce(session, tool, 'network');
  }
  for (let call = 0; call < 2; call += 1) failOnce(session, 'made up', 'server');
};

describe('C1: a change by an operator', () => {
  test('C1: the circuit starts again, closed, and calls under way are late', () => {
    const { session, box } = bench();
    const late: boolean[] = [];
    box.on('outcome', (event) => late.push(event.late));
    const underWay = session.acquire('a');
    failOnce(session, 'a');
    session.control('a', 'observe_only');
    session.control('a', 'automatic');
    expect(session.peek('a')).toMatchObject({ state: 'closed', generation: 2, failures: 0 });
    underWay.settle({ outcome: 'failure', category: 'network' });
    expect(session.peek('a')?.failures).toBe(0);
    expect(session.view().budget.remaining).toBe(4);
    expect(late).toEqual([false, true]);
  });

  test('C1: each change is emitted once, with the reported states', () => {
    const { session, box } = bench();
    const told: TransitionEvent[] = [];
    box.on('circuit.transition', (event) => told.push(event));
    session.control('a', 'automatic');
    trip(session, 'a');
    session.control('a', 'forced_open');
    session.control('a', 'forced_open');
    session.control('a', 'disabled');
    session.control('a', 'automatic');
    expect(told.map(({ from, to, category, observed }) => [from, to, category, observed])).toEqual([
      ['closed', 'open', 'network', false],
      ['open', 'forced_open', 'network', false],
      ['forced_open', 'disabled', undefined, false],
      ['disabled', 'closed', undefined, false],
    ]);
  });

  test('S1: a tool that an operator controls is not part of a later event', () => {
    const { session } = bench();
    trip(session, 'a');
    session.control('a', 'forced_open');
    trip(session, 'b');
    expect(session.view()).toMatchObject({ state: 'active', systemic: undefined, budget: { remaining: 3 } });
  });

  test('C7: a probe under way is late, and its lease costs nothing', () => {
    const { session, clock } = bench();
    trip(session, 'a');
    steps(session, 3);
    session.acquire('a');
    session.control('a', 'disabled');
    session.control('a', 'automatic');
    clock.advance(60_000);
    session.step();
    expect(session.peek('a')?.state).toBe('closed');
    expect(session.view().budget.remaining).toBe(4);
  });

  test('C1: other sessions of the box are not touched', () => {
    const { session, box } = bench();
    session.control('a', 'forced_open');
    expect(box.session().acquire('a').decision).toBe('call');
  });

  test.each([
    [
      'a',
      'off',
      "session.control('a', 'off'): there is no such mode",
      'automatic, forced_open, disabled, observe_only',
    ],
    ['a', undefined, "session.control('a', undefined)", 'Give one of'],
    ['serach', 'disabled', "session.control('serach', …): no tool of that name is declared", "box.declare('serach')"],
  ])('E6: control(%s, %s) is rejected, and the error says how to fix it', (tool, mode, what, fix) => {
    const { session } = bench();
    const control = () => session.control(tool, mode as CircuitMode);
    expect(control).toThrow(BreakerboxUsageError);
    expect(control).toThrow(what);
    expect(control).toThrow(fix);
    expect(session.view().circuits).toEqual([]);
  });
});

describe('C1: forced_open', () => {
  test('C1: calls are skipped with their own message, and never probe', () => {
    const { session, clock } = bench({ tools: { a: { mode: 'forced_open' } } });
    steps(session, 50);
    clock.advance(1e9);
    const permit = session.acquire('a');
    expect(permit).toMatchObject({
      decision: 'skip',
      reason: 'forced_open',
      state: 'forced_open',
      wouldDecide: undefined,
    });
    expect(permit.message).toBe(SWITCHED_OFF);
    permit.settle({ outcome: 'success' });
    expect(session.acquire('a').decision).toBe('skip');
  });

  test('B1: a paused session pauses the tool like any other', () => {
    const { session } = bench({ tools: { a: { mode: 'forced_open' }, b: {}, c: {} } });
    exhaust(session);
    expect(session.acquire('a')).toMatchObject({ decision: 'pause', reason: 'budget_exhausted' });
  });

  test('C1: as the default it also rejects calls of undeclared tools', () => {
    const { session } = bench({ defaults: { mode: 'forced_open' }, tools: { b: { mode: 'automatic' } } });
    expect(session.acquire('a')).toMatchObject({ decision: 'skip', reason: 'forced_open', state: undefined });
    expect(session.acquire('a').message).toBe(SWITCHED_OFF);
    expect(succeedOnce(session, 'b')).toBe('call');
  });
});

describe('C1: disabled', () => {
  test('C1: calls pass, and change neither circuit nor budget', () => {
    const { session } = bench({ tools: { a: { mode: 'disabled' } } });
    for (let i = 0; i < 9; i += 1) expect(failOnce(session, 'a')).toBe('call');
    expect(session.acquire('a')).toMatchObject({
      reason: 'disabled',
      state: 'disabled',
      wouldDecide: undefined,
      message: '',
    });
    expect(session.view()).toMatchObject({ budget: { consumed: 0 }, circuits: [{ state: 'disabled', failures: 0 }] });
  });

  test('C1: pauses of the session apply', () => {
    const { session } = bench({ tools: { a: { mode: 'disabled' }, b: {}, c: {} } });
    exhaust(session);
    expect(session.acquire('a')).toMatchObject({ decision: 'pause', reason: 'budget_exhausted', state: 'disabled' });
  });

  test('C1: a call that passed while disabled does not count later either', () => {
    const { session } = bench({ tools: { a: { mode: 'disabled', failureThreshold: 1 } } });
    const permit = session.acquire('a');
    session.control('a', 'automatic');
    permit.settle({ outcome: 'failure' });
    expect(session.view()).toMatchObject({ budget: { consumed: 0 }, circuits: [{ state: 'closed', failures: 0 }] });
  });
});

describe('C1: observe_only', () => {
  const observing = () => bench({ tools: { a: { mode: 'observe_only' }, b: {}, c: {}, d: { mode: 'observe_only' } } });

  test('C1: calls that would have been skipped pass, and their permits say so', () => {
    const { session } = observing();
    expect(session.acquire('a')).toMatchObject({ decision: 'call', reason: 'closed', wouldDecide: 'call' });
    trip(session, 'a');
    const permit = session.acquire('a');
    expect(permit).toMatchObject({
      decision: 'call',
      reason: 'would_skip',
      wouldDecide: 'skip',
      state: 'observe_only',
    });
    expect(permit.message).toBe('');
    permit.settle({ outcome: 'success' });
    expect(session.peek('a')).toMatchObject({ state: 'observe_only', category: 'network' });
    expect(session.acquire('b').wouldDecide).toBeUndefined();
  });

  test('C1: probes are decided as probes, and close the circuit of the dry run', () => {
    const { session, box } = observing();
    const lines: string[] = [];
    box.on('circuit.transition', ({ from, to, observed }) => lines.push(`${from}>${to} ${observed}`));
    trip(session, 'a');
    steps(session, 3);
    const probe = session.acquire('a');
    expect(probe).toMatchObject({ decision: 'probe', reason: 'probe_due', wouldDecide: 'probe' });
    expect(session.acquire('a')).toMatchObject({ reason: 'would_skip', wouldDecide: 'skip' });
    probe.settle({ outcome: 'success' });
    expect(session.acquire('a')).toMatchObject({ reason: 'closed' });
    expect(lines).toEqual(['closed>open true', 'open>half_open true', 'half_open>closed true']);
  });

  test('C9: a probe of the dry run has a lease too', () => {
    const { session, clock } = observing();
    trip(session, 'a');
    steps(session, 3);
    session.acquire('a');
    clock.advance(60_000);
    expect(session.acquire('a').reason).toBe('would_skip');
    expect(session.peek('a')?.category).toBe('timeout');
  });

  test('C1: observed failures and openings are not in the real ledger', () => {
    const { session, box } = observing();
    const lines = journal(box);
    trip(session, 'a');
    trip(session, 'd');
    expect(session.view()).toMatchObject({
      state: 'active',
      systemic: undefined,
      budget: { consumed: 0, provisional: 0 },
    });
    trip(session, 'b');
    expect(session.view()).toMatchObject({ state: 'active', budget: { remaining: 4 } });
    expect(session.acquire('c').decision).toBe('call');
    expect(lines.filter((line) => !line.includes('>'))).toEqual([]);
  });

  test('C1: if the session would have been paused, observed tools continue and say so', () => {
    const { session } = observing();
    trip(session, 'a');
    trip(session, 'd');
    const permit = session.acquire('d');
    expect(permit).toMatchObject({ decision: 'call', reason: 'would_pause', wouldDecide: 'pause' });
    permit.settle({ outcome: 'failure' });
    expect(session.acquire('b').decision).toBe('call');
    session.confirmRecovered();
    expect(session.acquire('d')).toMatchObject({ reason: 'would_skip' });
  });

  test('C1: failures of the other tools count in the dry run, including earlier ones', () => {
    const { session } = bench({ tools: { a: {}, b: {}, c: {} } });
    exhaust(session);
    expect(session.acquire('a').decision).toBe('pause');
    session.control('a', 'observe_only');
    expect(session.acquire('a')).toMatchObject({ decision: 'call', reason: 'would_pause' });
    session.resume();
    expect(session.acquire('a')).toMatchObject({ decision: 'call', reason: 'closed' });
  });

  test('C1: as the default it lets every call pass, also of undeclared tools', () => {
    const { session } = bench({ defaults: { mode: 'observe_only' } });
    for (const tool of ['a', 'b', 'c']) trip(session, tool, 'server');
    for (let i = 0; i < 5; i += 1) failOnce(session, 'made_up', 'network');
    expect(session.acquire('made_up')).toMatchObject({ decision: 'call', reason: 'would_pause', wouldDecide: 'pause' });
    expect(session.view()).toMatchObject({ state: 'active', budget: { consumed: 0 } });
  });
});
