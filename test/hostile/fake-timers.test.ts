import { createBreakerbox, type Session } from '@breakerbox/core';
import { guard } from '@breakerbox/instrumentation';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

/**
 * Tests of agents use fake timers, which can start at any moment. Fake timers also replace `performance.now`, and start at 0. For the box,
 * time then goes back by as long as the process has been running.
 */

const MINUTE = 60_000;

beforeAll(async () => {
  // The real clock is then well ahead of a fake clock that starts at 0.
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

/** The probe is due after a minute of fake time, to the millisecond. */
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
  it('that start before the box: a minute is a minute', () => {
    vi.useFakeTimers();
    const session = box().session();
    open(session);
    expectProbeAfterAMinute(session);
  });

  it('that start after the box: a minute is a minute', () => {
    const session = box().session();
    vi.useFakeTimers();
    open(session);
    expectProbeAfterAMinute(session);
  });

  it('that start while a circuit is open: its probe is at most a minute away', () => {
    const session = box().session();
    open(session);
    vi.useFakeTimers();
    expect(session.acquire('search').decision).toBe('skip');
    vi.advanceTimersByTime(MINUTE);
    expect(session.acquire('search').decision).toBe('probe');
  });

  it('that end while a probe is under way: its success closes the circuit', () => {
    vi.useFakeTimers();
    const session = box().session();
    open(session);
    vi.advanceTimersByTime(MINUTE);
    const probe = session.acquire('search');
    vi.useRealTimers();
    probe.settle({ outcome: 'success' });
    expect(session.peek('search')?.state).toBe('closed');
  });

  it('that start and end ten times, for six seconds each: they add up to a minute', () => {
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

  it('that start between two openings: the openings are one event (S1)', () => {
    const session = box().session();
    open(session);
    vi.useFakeTimers();
    open(session, 'fetch');
    expect(session.acquire('another').reason).toBe('systemic');
  });

  it('end a guarded call at its time-out, for a guard that was made before or after they started', async () => {
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

  it('delay a pre-call check by no more than its 5 s', async () => {
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
