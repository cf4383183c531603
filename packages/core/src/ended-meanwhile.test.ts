import { expect, test } from 'vitest';
import { createBreakerbox } from './breakerbox.ts';
import type { BreakerboxConfig } from './config.ts';

const MINUTE = 60_000;

const shared = (config: Partial<BreakerboxConfig> = {}) => {
  const time = { ms: 1_000 };
  const clock = { now: () => time.ms, unixNow: () => 1_700_000_000_000 + time.ms };
  const tools = { a: {}, b: {} };
  const box = createBreakerbox({ agent: 'x', scope: 'process', systemic: false, clock, tools, ...config });
  return { time, box };
};

const opened = (box: ReturnType<typeof createBreakerbox>, tools: readonly string[]) => {
  for (const tool of tools) {
    const session = box.session();
    for (let left = 3; left > 0; left -= 1) session.acquire(tool).settle({ outcome: 'failure', category: 'network' });
    session.end();
  }
};

test('C8, C9: a session that a listener ends while it decides takes no probe with it', () => {
  const { time, box } = shared();
  opened(box, ['a', 'b']);
  time.ms += MINUTE;
  expect(box.session().acquire('b').decision).toBe('probe'); // Never settled.
  time.ms += MINUTE;
  const ends = box.session();
  box.on('outcome', () => ends.end());
  expect(ends.acquire('a').reason).toBe('session_ended');
  expect(box.session().acquire('a').decision).toBe('probe');
});

test('C8, K1: nor does one that a pre-call check ends', () => {
  const ends = { now: () => {} };
  const precheck = () => {
    ends.now();
    return 'available' as const;
  };
  const { time, box } = shared({ tools: { a: { precheck } }, precheckMaxAgeMs: 1 });
  opened(box, ['a']);
  time.ms += MINUTE;
  const session = box.session();
  ends.now = () => session.end();
  expect(session.acquire('a').reason).toBe('session_ended');
  expect(box.session().acquire('a').decision).toBe('probe');
});
