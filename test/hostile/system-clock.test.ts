import { createBreakerbox, type Session, type ToolConfig } from '@breakerbox/core';
import { restore, snapshot } from '@breakerbox/core/snapshot';
import { guard } from '@breakerbox/instrumentation';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runChild } from './child-process.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const YEAR = 365 * DAY;

/** Jumps of the system clock, as an operator, NTP or a restored virtual machine makes them. */
const STEPS: readonly (readonly [string, number])[] = [
  ['an hour back', -60 * MINUTE],
  ['a year back', -YEAR],
  ['an hour on', 60 * MINUTE],
  ['a year on', YEAR],
];

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 5, 1) });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Changes the system clock. Monotonic time does not move. */
const stepBy = (ms: number): void => {
  const before = performance.now();
  vi.setSystemTime(Date.now() + ms);
  expect(performance.now()).toBe(before);
};

const box = (tool: ToolConfig = {}) =>
  createBreakerbox({ agent: 'clock', tools: { search: tool, fetch: {} }, budget: { failures: 50 } });

const fail = (session: Session, tool: string): void =>
  session.acquire(tool).settle({ outcome: 'failure', category: 'network' });

const open = (session: Session, tool = 'search'): void => {
  for (let failures = 0; failures < 3; failures += 1) fail(session, tool);
};

describe.each(STEPS)('the system clock jumps %s', (_, ms) => {
  it('while a circuit is open: its probe is due after exactly 60 s', () => {
    const session = box().session();
    open(session);
    stepBy(ms);
    expect(session.acquire('search').decision).toBe('skip');
    vi.advanceTimersByTime(30_000);
    stepBy(-2 * ms);
    vi.advanceTimersByTime(29_999);
    expect(session.acquire('search').decision).toBe('skip');
    vi.advanceTimersByTime(1);
    expect(session.acquire('search').decision).toBe('probe');
  });

  it('while a probe is under way: its lease holds, and its success closes the circuit', () => {
    const session = box().session();
    open(session);
    vi.advanceTimersByTime(MINUTE);
    const probe = session.acquire('search');
    stepBy(ms);
    expect(session.acquire('search')).toMatchObject({ decision: 'skip', reason: 'probe_in_flight' });
    probe.settle({ outcome: 'success' });
    expect(session.peek('search')?.state).toBe('closed');
  });

  it('while a probe hangs: its lease still expires after 60 s (C9)', () => {
    const session = box().session();
    open(session);
    vi.advanceTimersByTime(MINUTE);
    expect(session.acquire('search').decision).toBe('probe');
    stepBy(ms);
    vi.advanceTimersByTime(MINUTE - 1);
    expect(session.acquire('search').reason).toBe('probe_in_flight');
    vi.advanceTimersByTime(1);
    expect(session.acquire('search').reason).toBe('open');
  });

  it('between snapshot and restore: a jump forward counts as elapsed time, and a jump back as none (C11)', () => {
    const session = box().session();
    open(session);
    vi.advanceTimersByTime(20_000);
    const kept = JSON.stringify(snapshot(session));
    stepBy(ms);
    const restored = restore(box(), JSON.parse(kept));
    const measured = restore(box(), JSON.parse(kept), { elapsedMs: 0 });
    expect(restored.acquire('search').decision).toBe(ms > 0 ? 'probe' : 'skip');
    vi.advanceTimersByTime(39_999);
    expect(measured.acquire('search').decision).toBe('skip');
    vi.advanceTimersByTime(1);
    expect(measured.acquire('search').decision).toBe('probe');
    if (ms < 0) expect(restored.acquire('search').decision).toBe('probe');
  });

  it('between two openings: they are still one event (S1)', () => {
    const session = box().session();
    open(session);
    stepBy(ms);
    open(session, 'fetch');
    expect(session.acquire('another')).toMatchObject({ decision: 'pause', reason: 'systemic' });
  });

  it('while a call is under way: its time-out does not change', async () => {
    const tool = guard(box().session(), 'search', () => new Promise<never>(() => {}), { timeoutMs: 10_000 });
    let ended = '';
    const call = tool(undefined).catch((error: Error) => {
      ended = error.name;
    });
    stepBy(ms);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(ended).toBe('');
    await vi.advanceTimersByTimeAsync(1);
    await call;
    expect(ended).toBe('TimeoutError');
  });

  it('a new result is not stale, because it is not older than the task (F1)', () => {
    const session = box({ labelFreshness: true }).session();
    stepBy(ms);
    const permit = session.acquire('search', { input: 1 });
    permit.settle({ result: 'new' });
    expect(permit.freshness).toBeUndefined();
  });

  it('a result that says it was retrieved just now is not stale', () => {
    const session = box({ labelFreshness: true }).session();
    vi.advanceTimersByTime(MINUTE);
    stepBy(ms);
    const retrieved = (unixMs: number) => {
      const permit = session.acquire('search');
      permit.settle({ outcome: 'success', freshness: { retrievedUnixMs: unixMs } });
      return permit.freshness?.kind;
    };
    expect(retrieved(Date.now())).toBeUndefined();
    expect(retrieved(Date.now() - 2 * MINUTE)).toBe('stale'); // Before the session started.
  });

  it('a last good result is served for its full time, and no longer (F2)', () => {
    const session = box({ serveStaleMs: 10 * MINUTE }).session();
    session.acquire('search', { input: 1 }).settle({ result: 'good' });
    open(session);
    stepBy(ms);
    vi.advanceTimersByTime(9 * MINUTE);
    session.control('search', 'forced_open');
    expect(session.acquire('search', { input: 1 }).route).toMatchObject({ kind: 'stale', result: 'good' });
    vi.advanceTimersByTime(MINUTE + 1);
    expect(session.acquire('search', { input: 1 }).route?.kind).not.toBe('stale');
  });

  it('a Retry-After date holds the next probe no longer than `maxRetryAfterMs` (O3)', () => {
    const session = box({ maxRetryAfterMs: 10 * MINUTE }).session();
    const date = new Date(Date.now() + 5 * MINUTE).toUTCString();
    stepBy(ms);
    const error = Object.assign(new Error('x'), { status: 429, headers: { 'retry-after': date } });
    for (let failures = 0; failures < 3; failures += 1) session.acquire('search').settle({ error });
    vi.advanceTimersByTime(10 * MINUTE);
    expect(session.acquire('search').decision).toBe('probe');
  });
});

it('a whole process whose system clock keeps jumping has correct probes, sessions, scrapes and counters, and ends', async () => {
  vi.useRealTimers();
  const ended = await runChild('system-clock.child.ts');
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  const { leaps, opened, probed, made, counted, outcomes, sessions } = JSON.parse(ended.stdout);
  expect(leaps).toBeGreaterThan(20);
  expect(opened).toBeGreaterThan(0);
  expect(probed).toBeGreaterThan(0);
  expect({ counted, outcomes }).toEqual({ counted: made, outcomes: made });
  expect(sessions).toEqual({ during: 5, after: 0 });
});
