import { type Breakerbox, type BreakerboxConfig, createBreakerbox } from '@breakerbox/core';
import { report } from '@breakerbox/core/report';
import { planScope } from '@breakerbox/core/scope';
import { snapshot } from '@breakerbox/core/snapshot';
import { describe, expect, it } from 'vitest';
import { heapOf } from './heap.ts';
import { newAgent } from './observed.ts';

const MEGABYTE = 1_000_000;
const IDLE_MS = 60_000;
const SESSIONS = 5_000;

const failure = { outcome: 'failure', category: 'network' } as const;

type Run = (box: Breakerbox, index: number) => unknown;

/** What sessions do before the test drops them. */
const RUNS: Readonly<Record<string, Run>> = {
  'calls that succeed': (box, index) =>
    box.session().acquire('search', { input: { index } }).settle({ outcome: 'success' }),
  'calls that never settle': (box, index) => box.session().acquire('search', { input: { index } }),
  'steps, failures and charges': (box, index) => {
    const session = box.session();
    for (let call = index % 4; call >= 0; call -= 1) session.acquire('fetch').settle(failure);
    session.step();
  },
  'a task, a plan, a report and a view': (box) => {
    const session = box.session();
    session.beginTask();
    planScope(session, [{ name: 'read', tools: ['search', 'fetch'] }]);
    return [report(session), session.view(), session.note(), snapshot(session)];
  },
  'a pause on the budget': (box) => {
    const session = box.session();
    for (let call = 0; call < 6; call += 1) session.acquire(`made_up_${call}`).settle(failure);
  },
};

const boxOf = (scope: NonNullable<BreakerboxConfig['scope']>, more: Partial<BreakerboxConfig> = {}) => {
  let ms = 0;
  const clock = { now: () => ms, unixNow: () => 1_700_000_000_000 + ms };
  const tools = { search: { serveStaleMs: 60_000 }, fetch: {}, browse: { group: 'web' }, click: { group: 'web' } };
  const box = createBreakerbox({ agent: newAgent(), tools, clock, scope, sessionIdleMs: IDLE_MS, ...more });
  const pass = (by: number): void => {
    ms += by;
  };
  return { box, pass };
};

/** Bytes that remain of so many sessions that were never ended, once they idle and new sessions exist. */
const leftOf = async (run: Run, { box, pass }: ReturnType<typeof boxOf>): Promise<number> => {
  const drop = (sessions: number): void => {
    for (let index = 0; index < sessions; index += 1) {
      run(box, index);
      pass(10);
    }
  };
  const forget = (): void => {
    for (let rounds = 0; rounds < 2; rounds += 1) {
      pass(2 * IDLE_MS); // If the last use of a session was not timed, its idle time starts at the first look at it.
      for (let come = 0; come < SESSIONS / 50; come += 1) box.session().end();
    }
  };
  drop(100); // Warm-up: some memory grows only once.
  forget();
  const before = heapOf(box);
  drop(SESSIONS);
  forget();
  await new Promise((resolve) => setImmediate(resolve)); // What a WeakRef was made of is kept until the task ends.
  return heapOf(box) - before;
};

describe.each(['session', 'process', 'none'] as const)('sessions in scope %s that were never ended', (scope) => {
  it.each(Object.entries(RUNS))('are forgotten after the idle time: %s', async (_, run) => {
    // At most 200 bytes for each of 5,000 sessions. A session that is kept takes ten times as much.
    expect(await leftOf(run, boxOf(scope))).toBeLessThan(MEGABYTE);
  });
});

describe('sessions in scope process', () => {
  it('are forgotten if one of them found a systemic failure, and the others were never used again', async () => {
    const shared = boxOf('process');
    const run: Run = (box, index) => {
      const session = box.session();
      for (const tool of ['search', 'fetch', 'browse', 'click']) session.acquire(tool).settle(failure);
      if (index % 100 === 99) session.confirmRecovered();
    };
    expect(await leftOf(run, shared)).toBeLessThan(MEGABYTE);
  });

  it('are forgotten with their probes, which never settle', async () => {
    const shared = boxOf('process', { systemic: false });
    const run: Run = (box) => {
      const session = box.session();
      for (let call = 0; call < 3; call += 1) session.acquire('fetch').settle(failure);
      shared.pass(300_000); // The next session's call is a probe, and its lease expires too.
    };
    expect(await leftOf(run, shared)).toBeLessThan(MEGABYTE);
  });
});
