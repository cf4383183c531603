import { diag, metrics } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Availability } from '../precheck.ts';
import { report } from '../report/report.ts';
import { restore } from '../snapshot/restore.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { newAgent, registerMetrics, seriesOf } from '../telemetry/test-support.telemetry.ts';
import { microtasks, slowCheck } from '../test-support.prechecks.ts';
import { bench, failOnce, steps, succeedOnce, trip, watchDiag } from '../test-support.ts';
import { inAnotherProcess } from './test-support.rules.ts';

afterEach(() => {
  metrics.disable();
  diag.disable();
});

/** A check that answers at once what it is told to. */
const checked = (first: Availability = 'available') => {
  const precheck = vi.fn<(tool: string) => Availability>(() => first);
  return { precheck, say: (next: Availability) => precheck.mockReturnValue(next) };
};

describe('K1: scores', () => {
  test('K1: an unavailable tool is skipped with a route, and neither circuit nor budget changes', () => {
    const { precheck, say } = checked('unavailable');
    const { session } = bench({ tools: { a: { precheck, alternatives: [{ tool: 'b' }] }, b: {} } });
    const permit = session.acquire('a');
    expect(permit).toMatchObject({
      decision: 'skip',
      reason: 'unavailable',
      state: 'closed',
      route: { kind: 'alternative', tool: 'b' },
    });
    expect(permit.message).toContain('its pre-call check says that it cannot be used now');
    expect(session.unavailable()).toEqual(['a']);
    permit.settle({ outcome: 'failure' });
    expect(session.peek('a')).toMatchObject({ state: 'closed', failures: 0 });
    expect(session.view().budget.consumed).toBe(0);
    say('available');
    expect(precheck).toHaveBeenCalledExactlyOnceWith('a');
  });

  test('K1: a due probe waits until the check allows it, and keeps its slot', () => {
    const { precheck, say } = checked();
    const { session, clock } = bench({ tools: { a: { precheck } }, precheckMaxAgeMs: 1_000 });
    trip(session, 'a');
    say('unavailable');
    clock.advance(60_000);
    steps(session, 3);
    expect(session.acquire('a')).toMatchObject({ decision: 'skip', reason: 'unavailable', state: 'open' });
    say('available');
    clock.advance(1_001);
    expect(succeedOnce(session, 'a')).toBe('probe');
  });

  test('K1: a degraded tool is called, and its circuit opens one failure earlier; never below one', () => {
    const degraded = () => 'degraded' as const;
    const { session } = bench({
      tools: { a: { precheck: degraded }, b: { precheck: degraded, failureThreshold: 1 }, c: {} },
      systemic: false,
    });
    for (const tool of ['a', 'c']) for (let i = 0; i < 2; i += 1) failOnce(session, tool);
    expect([session.peek('a')?.state, session.peek('c')?.state]).toEqual(['open', 'closed']);
    succeedOnce(session, 'b');
    expect(session.peek('b')?.state).toBe('closed');
    failOnce(session, 'b');
    expect(session.peek('b')?.state).toBe('open');
  });

  test('C1, K1: an observed tool is called, and says that it would have been skipped', () => {
    const { session } = bench({ tools: { a: { mode: 'observe_only', precheck: () => 'unavailable' } } });
    expect(session.acquire('a')).toMatchObject({ decision: 'call', reason: 'would_skip', wouldDecide: 'skip' });
  });

  test('C1, K1: no check runs for tools that an operator controls, and during a pause of the session', () => {
    const { precheck } = checked();
    const { session } = bench({ tools: { a: { precheck }, b: {}, c: {} } });
    session.control('a', 'disabled');
    expect(session.acquire('a').reason).toBe('disabled');
    session.control('a', 'forced_open');
    expect(session.acquire('a').reason).toBe('forced_open');
    session.control('a', 'automatic');
    for (const tool of ['b', 'c']) trip(session, tool);
    expect(session.acquire('a').reason).toBe('systemic');
    expect(precheck).not.toHaveBeenCalled();
  });
});

describe('K2: allowed and failing tools', () => {
  test('K2: a tool outside the allowed list is skipped, declared or not', () => {
    const { session } = bench({ allowedTools: ['a'] });
    expect(session.acquire('a').decision).toBe('call');
    for (const tool of ['b', 'made_up']) {
      const permit = session.acquire(tool);
      expect(permit).toMatchObject({ decision: 'skip', reason: 'not_allowed' });
      expect(permit.message).toContain('this run is not allowed to use it. Do not call it.');
    }
    expect(session.unavailable()).toEqual(['b', 'c', 'd']);
    expect(session.view().budget.consumed).toBe(0);
  });

  test("K2: a session's own list replaces that of the box, also in another process", () => {
    const { box } = bench({ allowedTools: ['a'] });
    const session = box.session({ allowedTools: ['b'] });
    expect([session.acquire('a').reason, session.acquire('b').reason]).toEqual(['not_allowed', 'closed']);
    expect(inAnotherProcess(session, box).acquire('b').reason).toBe('not_allowed'); // The box's again.
    const restored = restore(box, JSON.parse(JSON.stringify(snapshot(session))), { allowedTools: ['b'] });
    expect([restored.acquire('a').reason, restored.acquire('b').reason]).toEqual(['not_allowed', 'closed']);
  });

  test('K2: an empty list allows no tool', () => {
    const { session } = bench({ allowedTools: [] });
    expect(session.unavailable()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('K2: no check runs for a tool that is not allowed', () => {
    const { precheck } = checked();
    const { session } = bench({ tools: { a: { precheck } }, allowedTools: ['b'] });
    session.acquire('a');
    expect(precheck).not.toHaveBeenCalled();
  });

  test('E5, K2: a check that throws, rejects or answers nonsense means available, and is reported', async () => {
    const error = watchDiag();
    const { session } = bench({
      tools: {
        a: {
          precheck: () => {
            throw new Error('broken');
          },
        },
        b: { precheck: () => Promise.reject(new Error('broken')) },
        c: { precheck: (() => 'fine') as never },
      },
    });
    for (const tool of ['a', 'b', 'c']) expect(session.acquire(tool).decision).toBe('call');
    await microtasks();
    for (const tool of ['a', 'b', 'c']) expect(session.acquire(tool).decision).toBe('call');
    expect(error).toHaveBeenCalledTimes(3);
  });

  test('K2: a check that takes too long means available', async () => {
    watchDiag();
    const { check, answer } = slowCheck();
    const { session, clock } = bench({ tools: { a: { precheck: check } } });
    session.acquire('a');
    await answer(0, 'unavailable');
    expect(session.acquire('a').reason).toBe('unavailable');
    clock.advance(30_001);
    session.acquire('a'); // Starts a new check; the old score is used until it answers.
    clock.advance(5_000);
    expect(session.acquire('a').decision).toBe('call');
  });
});

describe('K3: checks run beside the decision', () => {
  test('K3: a check that takes time counts from the next decision on', async () => {
    const { check, answer } = slowCheck();
    const { session } = bench({ tools: { a: { precheck: check } } });
    expect(session.acquire('a').decision).toBe('call');
    expect(session.acquire('a').decision).toBe('call');
    expect(check).toHaveBeenCalledTimes(1);
    await answer(0, 'unavailable');
    expect(session.acquire('a').reason).toBe('unavailable');
  });

  test('K3: an answer is valid until its age limit, for all sessions of the box', () => {
    const { precheck } = checked();
    const { session, box, clock } = bench({ tools: { a: { precheck } }, precheckMaxAgeMs: 2_000 });
    session.acquire('a');
    clock.advance(2_000);
    box.session().acquire('a');
    expect(precheck).toHaveBeenCalledTimes(1);
    clock.advance(1);
    session.acquire('a');
    expect(precheck).toHaveBeenCalledTimes(2);
  });

  test('K3: box.precheck() runs all checks at once, so that the first decision has their answers', async () => {
    const slow = slowCheck();
    const { session, box } = bench({
      tools: { a: { precheck: slow.check }, b: { precheck: async () => 'unavailable' as const }, c: {} },
    });
    const asked = box.precheck();
    await slow.answer(0, 'unavailable');
    await asked;
    expect(['a', 'b', 'c'].map((tool) => session.acquire(tool).decision)).toEqual(['skip', 'skip', 'call']);
  });

  test('K3: a check may query the session about its own tool', () => {
    const sessions: ReturnType<typeof bench>['session'][] = [];
    const precheck = vi.fn(
      () => (sessions[0]?.acquire('a').decision === 'call' ? 'degraded' : 'unavailable') as Availability,
    );
    const { session } = bench({ tools: { a: { precheck } } });
    sessions.push(session);
    expect(session.acquire('a').decision).toBe('call');
    expect(precheck).toHaveBeenCalledTimes(1);
  });

  test('K3: each answer is counted, and its series are zero from the start', async () => {
    const { scrape } = registerMetrics();
    const agent = newAgent();
    const { precheck, say } = checked();
    const { session, box } = bench({ agent, tools: { a: { precheck } } });
    session.acquire('a');
    say('degraded');
    await box.precheck();
    session.acquire('a');
    expect(seriesOf(agent, await scrape(), 'breakerbox_prechecks_total')).toEqual([
      'breakerbox_prechecks_total{gen_ai_tool_name="a",breakerbox_availability="available"} 1',
      'breakerbox_prechecks_total{gen_ai_tool_name="a",breakerbox_availability="degraded"} 1',
      'breakerbox_prechecks_total{gen_ai_tool_name="a",breakerbox_availability="unavailable"} 0',
    ]);
  });

  test('C11, K3: reports, views and peeks start no check', () => {
    const { precheck } = checked();
    const { session } = bench({ tools: { a: { precheck } } });
    report(session);
    session.view();
    session.peek('a');
    snapshot(session);
    expect(precheck).not.toHaveBeenCalled();
  });

  test('C11, K3, S5: a reader after the end of an event keeps the scores; the next decision forgets them', () => {
    const { precheck } = checked();
    const systemic = { recovery: { afterMs: 1_000 } };
    const { session, clock } = bench({ tools: { a: { precheck }, b: {}, c: {} }, systemic });
    session.acquire('a');
    for (const tool of ['b', 'c']) trip(session, tool);
    clock.advance(1_000);
    expect(session.view().systemic).toBeUndefined();
    report(session);
    expect(session.explain('a').reason).toBe('closed');
    expect(precheck).toHaveBeenCalledTimes(1);
    session.acquire('a');
    expect(precheck).toHaveBeenCalledTimes(2);
  });
});
