import { expect, test } from 'vitest';
import { createBreakerbox } from './breakerbox.ts';
import { extendLease } from './permit.ts';

const opened = () => {
  let ms = 0;
  const box = createBreakerbox({
    agent: 'test',
    clock: { now: () => ms, unixNow: () => ms },
    tools: { a: { failureThreshold: 1, cooldownMs: 1_000, group: 'g' } },
    groups: { g: { failureThreshold: 1, groupThreshold: 1, cooldownMs: 1_000 } },
  });
  const session = box.session();
  session.acquire('a').settle({ outcome: 'failure', category: 'network', blames: 'group' });
  const pass = (by: number): void => {
    ms += by;
  };
  pass(1_000);
  const probe = session.acquire('a');
  expect(probe.decision).toBe('probe');
  return { session, probe, pass };
};

test('C9: a probe whose lease is extended can still succeed', () => {
  const { session, probe, pass } = opened();
  extendLease(probe, 500_000);
  extendLease(probe, 10_000);
  pass(400_000);
  expect(session.acquire('a').decision).toBe('skip');
  probe.settle({ outcome: 'success' });
  expect(session.acquire('a').decision).toBe('call');
});

test('C9: it fails when the longer lease ends', () => {
  const { session, probe, pass } = opened();
  extendLease(probe, 500_000);
  pass(499_000);
  session.acquire('a');
  probe.settle({ outcome: 'success' });
  expect(session.acquire('a').decision).toBe('skip');
});
