import { expect, test } from 'vitest';
import type { BreakerboxConfig } from './config/config.ts';
import { bench, trip } from './test-support.ts';

/** Circuits that all sessions of a box share, open and due for a probe. */
const due = (config: Partial<BreakerboxConfig> = {}) => {
  const made = bench({ scope: 'process', systemic: false, tools: { a: {}, b: {} }, ...config });
  for (const tool of made.box.tools) trip(made.session, tool);
  made.clock.advance(60_000);
  return made;
};

test('C8, E7: a session that a listener ends during its decision has its probe, which closes the circuit for all', () => {
  const { box, session, clock } = due();
  expect(session.acquire('b').decision).toBe('probe'); // Never settled: its lease ends with the next decision.
  clock.advance(60_000);
  const ends = box.session();
  box.on('outcome', () => ends.end());
  const probe = ends.acquire('a');
  expect(probe.reason).toBe('probe_due');
  expect(box.session().acquire('a').reason).toBe('probe_in_flight');
  probe.settle({ outcome: 'success' });
  expect(box.session().acquire('a').reason).toBe('closed');
});

test('C8, C9, K1: a session that a pre-call check ends has its probe too; the slot is free when its lease ends', () => {
  const ends = { now: () => {} };
  const precheck = () => {
    ends.now();
    return 'available' as const;
  };
  const { box, clock } = due({ tools: { a: { precheck } }, precheckMaxAgeMs: 1 });
  const session = box.session();
  ends.now = () => session.end();
  expect(session.acquire('a').reason).toBe('probe_due');
  expect(box.session().acquire('a').reason).toBe('probe_in_flight');
  clock.advance(60_000);
  expect(box.session().acquire('a').reason).toBe('open');
});
