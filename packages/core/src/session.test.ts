import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { bench, failOnce, journal, steps, succeedOnce, trip, watchDiag } from './test-support.ts';

afterEach(() => diag.disable());

describe('deciding', () => {
  test('C5: an open tool is skipped, with a message that a model can act on', () => {
    const { session } = bench();
    trip(session, 'a');
    const permit = session.acquire('a');
    expect(permit).toMatchObject({ decision: 'skip', reason: 'open', state: 'open' });
    expect(permit.message).toBe(
      "Tool 'a' is unavailable: the last calls failed (network). Do not call it now. It may work again in about 60 s. " +
        'Continue without it, and say in your answer what is missing. [breakerbox:not-called]',
    );
  });

  test('E4: the other tools continue while one is open', () => {
    const { session } = bench();
    trip(session, 'a');
    expect(succeedOnce(session, 'b')).toBe('call');
  });

  test('P1: the third step after opening probes; a success closes', () => {
    const { session } = bench();
    trip(session, 'a');
    steps(session, 2);
    expect(session.acquire('a').decision).toBe('skip');
    session.step();
    expect(succeedOnce(session, 'a')).toBe('probe');
    expect(session.peek('a')).toMatchObject({ state: 'closed', generation: 3, failures: 0 });
    expect(succeedOnce(session, 'a')).toBe('call');
  });

  test('O3: if a probe waits for a Retry-After alone, the message says how long', () => {
    const { session } = bench({ defaults: { failureThreshold: 1 } });
    failOnce(session, 'a', 'rate_limit', 300_000);
    steps(session, 5);
    expect(session.acquire('a').message).toContain(
      '(rate_limit). Do not call it now. It may work again in about 5 min. ',
    );
  });

  test('P1: a session without steps probes by time', () => {
    const { session, clock } = bench();
    trip(session, 'a');
    clock.advance(59_999);
    expect(session.acquire('a').decision).toBe('skip');
    clock.advance(1);
    expect(session.acquire('a').decision).toBe('probe');
  });

  test('C6: while one probe is under way, other calls are skipped, and the message says so', () => {
    const { session } = bench();
    trip(session, 'a');
    steps(session, 3);
    session.acquire('a');
    const second = session.acquire('a');
    expect(second).toMatchObject({ decision: 'skip', reason: 'probe_in_flight' });
    expect(second.message).toContain(
      'Do not call it now. One call is testing that now. It may work again later in this run.',
    );
  });

  test('B2: with one failure left decisions carry caution', () => {
    const { session } = bench();
    for (const tool of ['a', 'b', 'c'] as const) failOnce(session, tool, 'server');
    expect(session.acquire('d').caution).toBe(false);
    failOnce(session, 'd', 'server');
    expect(session.acquire('d')).toMatchObject({ decision: 'call', caution: true, budgetRemaining: 1 });
  });

  test('B1: at 0 left every tool pauses until resume', () => {
    const { session, box } = bench({ systemic: false });
    const lines = journal(box);
    for (const tool of ['a', 'b', 'c', 'd', 'a']) failOnce(session, tool, 'server');
    for (const tool of ['a', 'b', 'c', 'd', 'never-heard-of']) {
      expect(session.acquire(tool)).toMatchObject({ decision: 'pause', reason: 'budget_exhausted' });
    }
    expect(session.acquire('a').message).toContain('too many tool calls of this run have failed');
    session.resume();
    expect(session.acquire('a').decision).toBe('call');
    expect(session.view().budget).toMatchObject({ remaining: 5, cycle: 2 });
    expect(lines).toEqual(['budget.exhausted', 'budget.resumed']);
  });

  test('B3: an outage costs one; skips, ignored outcomes and failed probes cost nothing', () => {
    const { session } = bench();
    trip(session, 'a');
    for (let i = 0; i < 10; i += 1) session.acquire('a').settle({ outcome: 'failure' });
    for (let i = 0; i < 10; i += 1) session.acquire('b').settle({ outcome: 'ignored', category: 'tool_error' });
    steps(session, 3);
    expect(failOnce(session, 'a')).toBe('probe');
    expect(session.view().budget).toMatchObject({ rule: 'window', remaining: 4 });
  });

  test('S2: while systemic every tool pauses, including healthy and probing ones, until a person confirms', () => {
    const { session, box } = bench();
    const lines = journal(box);
    trip(session, 'a');
    trip(session, 'b');
    steps(session, 20);
    for (const tool of ['a', 'b', 'c', 'd']) {
      expect(session.acquire(tool)).toMatchObject({ decision: 'pause', reason: 'systemic' });
    }
    expect(session.acquire('c').message).toBe(
      "Tool calls are paused: 'a' and 'b' failed in the same way (network); the cause is probably in the network. Do not call any tools, " +
        'including ones that still work. Report what is done, what is not done and why. Say that a person may have to confirm the recovery. [breakerbox:not-called]',
    );
    expect(session.view()).toMatchObject({ state: 'paused_systemic', budget: { remaining: 4 } });
    session.confirmRecovered();
    expect(session.acquire('c').decision).toBe('call');
    expect(session.acquire('a').decision).toBe('skip'); // P3: the ladder begins at its first rung.
    steps(session, 3);
    expect(session.acquire('a').decision).toBe('probe');
    expect(lines).toEqual([
      'a closed>open',
      'b closed>open',
      'systemic.detected',
      'systemic.resolved',
      'a open>half_open',
    ]);
  });

  test('S1: with `systemic: false` failures of several tools never make an event', () => {
    const { session } = bench({ systemic: false, budget: { failures: 50 } });
    for (const tool of ['a', 'b', 'c']) trip(session, tool);
    expect(session.acquire('d').decision).toBe('call');
    expect(session.view().budget).toMatchObject({ remaining: 47, consumed: 9, provisional: 0 });
  });

  test('C12: another session of the box has its own circuits and budget', () => {
    const { session, box } = bench();
    trip(session, 'a');
    const other = box.session();
    expect(other.acquire('a').decision).toBe('call');
    expect(other.view().budget.remaining).toBe(5);
  });
});

describe('around sessions', () => {
  test('E5: a listener that throws, synchronously or later, changes nothing and is reported', async () => {
    const error = watchDiag();
    const { session, box } = bench();
    box.on('circuit.transition', () => {
      throw new Error('broken listener');
    });
    box.on('decision', async () => {
      throw new Error('broken async listener');
    });
    trip(session, 'a');
    expect(session.peek('a')?.state).toBe('open');
    await vi.waitFor(() => expect(error).toHaveBeenCalledTimes(4));
  });

  test('E5: box.on returns a function that stops listening', () => {
    const { session, box } = bench();
    const listener = vi.fn();
    const stop = box.on('decision', listener);
    session.acquire('a');
    stop();
    session.acquire('a');
    expect(listener).toHaveBeenCalledOnce();
  });

  test('B5: a name that the model invented has no circuit, but its failures cost budget', () => {
    const { session } = bench();
    const permit = session.acquire('made_up');
    expect(permit).toMatchObject({ decision: 'call', reason: 'undeclared', state: undefined });
    permit.settle({ outcome: 'failure' });
    for (let i = 0; i < 3; i += 1) failOnce(session, 'made_up', 'server');
    expect(session.peek('made_up')).toBeUndefined();
    expect(session.view()).toMatchObject({ circuits: [], budget: { remaining: 1 } });
  });

  test('O1: a tool that was never declared is judged by the defaults', () => {
    const { session } = bench({ defaults: { outcomes: { tool_error: 'failure' }, classify: () => 'tool_error' } });
    session.acquire('made_up').settle({ error: new Error('x') });
    expect(session.view().budget.consumed).toBe(1);
  });

  test('C2: a tool that is declared later starts closed; declaring it again changes nothing', () => {
    const { session, box } = bench();
    box.declare('late', { failureThreshold: 1 });
    session.declare('late');
    expect(failOnce(session, 'late')).toBe('call');
    expect(session.peek('late')?.state).toBe('open');
  });

  test('C11: a reader changes nothing, and shows what the next decision finds: an expired lease is a failure', () => {
    const { session, clock, box } = bench();
    trip(session, 'a');
    steps(session, 3);
    session.acquire('a');
    clock.advance(60_000);
    const lines = journal(box);
    const before = session.view();
    expect(session.peek('a')?.state).toBe('open');
    expect(session.view()).toEqual(before);
    expect(lines).toEqual([]);
    session.acquire('b');
    expect(lines).toEqual(['a half_open>open']);
    expect(session.view()).toMatchObject({ ...before, circuits: [before.circuits[0], { tool: 'b' }] });
  });
});
