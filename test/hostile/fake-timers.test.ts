import { createBreakerbox, type Session } from '@breakerbox/core';
import { guard } from '@breakerbox/instrumentation';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

/**
 * Tests of agents fake time, and begin to at any moment. Fake timers replace `performance.now` too, and begin at 0: seen from
 * the box, time goes back by as long as the process has been running.
 */

const MINUTE = 60_000;

beforeAll(async () => {
  // So that the real clock is well ahead of a faked one that begins at 0.
  await vi.waitUntil(() => performance.now() > 200);
});
afterEach(() => {
  vi.useRealTimers();
});

const box = () =>
  createBreakerbox({ agent: 'fake-timers', tools: { search: {}, fetch: {} }, budget: { failures: 50 } });

const open = (session: Session, tool = 'search'): void => {
  for (let failures = 0; failures < 3; failures += 1) {
    session.acquire(tool).settle({ outcome: 'failure', category: 'network' });
  }
};

/** A minute of fake time brings the probe, to the millisecond. */
const expectProbeAfterAMinute = (session: Session): void => {
  expect(session.acquire('search').decision).toBe('skip');
  vi.advanceTimersByTime(MINUTE - 1);
  expect(session.acquire('search').decision).toBe('skip');
  vi.advanceTimersByTime(1);
  const probe = session.acquire('search');
  expect(probe.decision).toBe('probe');
  probe.settle({ outcome: 'success' });
  expect(session.peek('search')?.state).toBe('closed');
};

describe('fake timers', () => {
  it('that are there before the box: a minute is a minute', () => {
    vi.useFakeTimers();
    const session = box().session();
    open(session);
    expectProbeAfterAMinute(session);
  });

  it('that come after the box: a minute is a minute', () => {
    const session = box().session();
    vi.useFakeTimers();
    open(session);
    expectProbeAfterAMinute(session);
  });

  it('that come while a circuit is open: its probe is at most a minute away', () => {
    const session = box().session();
    open(session);
    vi.useFakeTimers();
    expect(session.acquire('search').decision).toBe('skip');
    vi.advanceTimersByTime(MINUTE);
    expect(session.acquire('search').decision).toBe('probe');
  });

  it('that go while a probe is under way: its success closes the circuit', () => {
    vi.useFakeTimers();
    const session = box().session();
    open(session);
    vi.advanceTimersByTime(MINUTE);
    const probe = session.acquire('search');
    vi.useRealTimers();
    probe.settle({ outcome: 'success' });
    expect(session.peek('search')?.state).toBe('closed');
  });

  it('that come and go ten times, six seconds each: they add up to a minute', () => {
    const session = box().session();
    open(session);
    for (let round = 0; round < 10; round += 1) {
      expect(session.acquire('search').decision).toBe('skip');
      vi.useFakeTimers();
      session.view();
      vi.advanceTimersByTime(MINUTE / 10);
      session.view();
      vi.useRealTimers();
    }
    expect(session.acquire('search').decision).toBe('probe');
  });

  it('that come between two openings: they are one event (S1)', () => {
    const session = box().session();
    open(session);
    vi.useFakeTimers();
    open(session, 'fetch');
    expect(session.acquire('another').reason).toBe('systemic');
  });

  it('end a guarded call that runs out of time, whether the guard was made before or after', async () => {
    const hang = () => new Promise<never>(() => {});
    const session = box().session();
    const before = guard(session, 'search', hang, { timeoutMs: 1_000 });
    vi.useFakeTimers();
    const after = guard(session, 'fetch', hang, { timeoutMs: 1_000 });
    for (const tool of [before, after]) {
      const ended = tool(undefined).catch((error: Error) => error.name);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(await ended).toBe('TimeoutError');
    }
  });

  it('hold up no pre-call check for longer than its 5 s', async () => {
    vi.useFakeTimers();
    const precheck = () => new Promise<never>(() => {});
    const checked = createBreakerbox({ agent: 'fake-timers', tools: { search: { precheck } } });
    let answered = false;
    const asked = checked.precheck().then(() => {
      answered = true;
    });
    await vi.advanceTimersByTimeAsync(4_999);
    expect(answered).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await asked;
    expect(checked.session().acquire('search').decision).toBe('call');
  });
});
