import { metrics } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { report } from '../report/report.ts';
import { planScope } from '../scope/scope.ts';
import type { Session } from '../session-api.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { registerMetrics } from '../telemetry/test-support.telemetry.ts';
import { bench, failOnce, steps, trip } from '../test-support.ts';
import { bringDown, FIVE_STRAY, grouped, hearAll, openGroup, two } from './test-support.rules.ts';

afterEach(() => metrics.disable());

/** Every way to read, once each. */
const readAll = (session: Session) => {
  session.view();
  report(session);
  session.note();
  session.unavailable();
  snapshot(session);
  for (const tool of ['a', 'b', 'c', 'd', 'group:g', 'made_up']) session.peek(tool);
  for (const tool of ['a', 'b', 'c', 'd', 'made_up']) session.explain(tool, { q: 1 });
};

describe('C11: readers change nothing', () => {
  const situations = () => {
    const probing = bench();
    trip(probing.session, 'a');
    steps(probing.session, 3);
    probing.session.acquire('a');
    probing.clock.advance(600_000);
    const limited = bench({ limits: { tokens: 100 } });
    const child = limited.session.child({ id: 'child', portion: 0.5 });
    child.acquire('a').settle({ outcome: 'success', tokens: 20 });
    trip(child, 'a');
    steps(child, 3);
    child.acquire('a', { input: { q: 1 } });
    limited.clock.advance(600_000);
    const charged = bench();
    for (const [tool, category] of FIVE_STRAY) failOnce(charged.session, tool, category);
    charged.clock.advance(600_000);
    const group = grouped();
    openGroup(group.session);
    group.clock.advance(60_000);
    const process = two();
    trip(process.session, 'a');
    process.clock.advance(60_000);
    process.other.acquire('a');
    trip(process.session, 'b');
    process.clock.advance(600_000);
    return [probing, limited, charged, group, process];
  };

  test('C11: a reader changes no count, state or event, even if time has changed something', () => {
    for (const { session, box } of situations()) {
      const events = hearAll(box);
      const before = JSON.stringify([snapshot(session), session.view(), report(session)]);
      for (let i = 0; i < 3; i += 1) readAll(session);
      expect(JSON.stringify([snapshot(session), session.view(), report(session)])).toBe(before);
      expect(events).toEqual([]);
    }
  });

  test('C11: a reader changes no metric', async () => {
    const { scrape } = registerMetrics();
    for (const { session } of situations()) {
      const before = await scrape();
      readAll(session);
      expect(await scrape()).toEqual(before);
    }
  });

  test('C11, C12: readers of one session do not change the others', () => {
    const { session, other, clock } = two();
    trip(session, 'a');
    clock.advance(60_000);
    const probe = other.acquire('a');
    clock.advance(59_999);
    readAll(session);
    probe.settle({ outcome: 'success' });
    expect(other.acquire('a').decision).toBe('call');
    trip(session, 'a');
    clock.advance(60_000);
    other.acquire('a');
    clock.advance(60_000);
    const before = JSON.stringify(snapshot(other));
    readAll(session); // It sees that the probe of the other session has failed.
    expect(JSON.stringify(snapshot(other))).toBe(before);
  });

  test.each(['session', 'process'] as const)('C11, S5: a reader starts no health check, in scope %s', (scope) => {
    const healthCheck = vi.fn(() => true);
    const { session } = bench({ scope, systemic: { recovery: { healthCheck } } });
    bringDown(session);
    readAll(session);
    expect(healthCheck).not.toHaveBeenCalled();
    expect(session.view().systemic).toBeDefined();
    session.acquire('c');
    expect(healthCheck).toHaveBeenCalledTimes(1);
    expect(session.view().systemic).toBeUndefined();
  });

  test('C11, S5: a reader takes no probe of an event', () => {
    const { session, clock } = two();
    bringDown(session);
    clock.advance(300_000);
    for (let i = 0; i < 3; i += 1) {
      readAll(session);
      expect(session.explain('a')).toMatchObject({ decision: 'probe', reason: 'probe_due', text: '' });
    }
    expect(session.acquire('b').decision).toBe('probe');
  });

  test('C11, W1: a plan looks ahead too, and takes no slot', () => {
    const { session } = grouped();
    openGroup(session);
    steps(session, 3);
    expect(planScope(session, [{ name: 'x', tools: ['a', 'b'] }]).decision).toBe('proceed');
    expect(session.peek('group:g')?.state).toBe('open');
    expect(session.acquire('c').decision).toBe('probe');
  });

  test('C11, O5: explain() with arguments reports that they are repeated, and is not a call', () => {
    const { session } = bench({ loopGuard: { repeats: 2 } });
    const refused = { outcome: 'ignored', category: 'invalid_input' } as const;
    for (let i = 0; i < 2; i += 1) session.acquire('a', { input: { q: 1 } }).settle(refused);
    session.explain('b', { q: 1 });
    expect(session.explain('a', { q: 1 })).toMatchObject({
      decision: 'skip',
      reason: 'repeat',
      rejectedBy: 'loopGuard',
    });
    expect(session.explain('a', { q: 2 }).decision).toBe('call');
    expect(session.acquire('a', { input: { q: 1 } }).reason).toBe('repeat');
  });
});
