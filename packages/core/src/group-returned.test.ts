import { expect, test } from 'vitest';
import { createBreakerbox } from './breakerbox.ts';
import type { BreakerboxConfig } from './config/config.ts';
import { formatPauseReport } from './report/format.ts';
import { report } from './report/report.ts';
import { groupReturned } from './session-internals.ts';
import { snapshot } from './snapshot/snapshot.ts';

/** A session with two tools of the group `files`, whose server has just gone. */
const gone = (config: Partial<BreakerboxConfig> = {}, failure: { retryAfterMs?: number } = {}) => {
  let ms = 0;
  const clock = { now: () => ms, unixNow: () => ms };
  const group = 'files';
  const box = createBreakerbox({ agent: 'test', clock, tools: { a: { group }, b: { group } }, ...config });
  const session = box.session();
  const fail = () =>
    session.acquire('a').settle({ outcome: 'failure', category: 'network', blames: 'group', ...failure });
  fail();
  const pass = (by: number): void => {
    ms += by;
  };
  return { session, fail, pass };
};

test.each(['process', 'session'] as const)(
  'M7, C13: in scope %s a group whose server is back is due at once',
  (scope) => {
    const { session, pass } = gone({ scope });
    pass(1_000);
    expect(session.acquire('b').decision).toBe('skip');
    groupReturned(session, 'files');
    expect([session.acquire('a').decision, session.acquire('b').decision]).toEqual(['probe', 'skip']);
  },
);

test('M7, P2: a server that goes again at its probe waits longer, not shorter', () => {
  const { session, fail, pass } = gone({ scope: 'process' });
  groupReturned(session, ' files ');
  fail();
  pass(60_001);
  expect(session.acquire('b').decision).toBe('skip');
  pass(60_000);
  expect(session.acquire('b').decision).toBe('probe');
});

test('M7: nothing changes for a group that is closed, or that the session does not know', () => {
  const box = createBreakerbox({ agent: 'test', tools: { a: { group: 'files' } } });
  const session = box.session();
  session.acquire('a').settle({ outcome: 'success' });
  groupReturned(session, 'files');
  groupReturned(session, 'others');
  expect(session.acquire('a').decision).toBe('call');
});

test('M7, O3: a Retry-After still holds', () => {
  const { session } = gone({}, { retryAfterMs: 30_000 });
  groupReturned(session, 'files');
  expect(session.acquire('a').decision).toBe('skip');
});

test('B7: without a budget failures never pause a session, a snapshot keeps that, and the report says so', () => {
  const box = createBreakerbox({ agent: 'test', budget: false, systemic: false });
  const session = box.session();
  for (let n = 0; n < 100; n += 1) session.acquire(`tool ${n}`).settle({ outcome: 'failure', category: 'server' });
  expect(session.acquire('other').decision).toBe('call');
  expect(formatPauseReport(report(session))).toContain('Off: failures never pause');
  expect(JSON.stringify(snapshot(session))).toContain('"limit":1000000000');
});
