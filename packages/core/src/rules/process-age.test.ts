import { describe, expect, test } from 'vitest';
import { restore } from '../snapshot/restore.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { bench, failOnce, steps, succeedOnce, trip } from '../test-support.ts';
import { inAnotherProcess } from './test-support.rules.ts';

const shared = { scope: 'process', tools: { a: {}, b: {}, c: {} } } as const;

describe('C12: failures of other sessions keep their age', () => {
  test('C12, S1: an opening an hour ago is not part of an event, however few steps a session has made', () => {
    const { box, session, clock } = bench(shared);
    trip(session, 'a');
    clock.advance(3_600_000);
    const other = box.session({ budget: { failures: 10 } });
    succeedOnce(other, 'c');
    other.step();
    trip(other, 'b');
    expect(other.view().systemic).toBeUndefined();
    expect(box.session().acquire('a').reason).toBe('probe_due');
  });

  test('C12, S3: a charge is provisional until the window has passed by time, however many steps a session has made', () => {
    const { session, clock } = bench(shared);
    failOnce(session, 'b');
    steps(session, 15);
    clock.advance(120_000);
    session.step();
    expect(session.view().budget).toMatchObject({ remaining: 4, provisional: 1, consumed: 0 });
    clock.advance(1);
    session.step();
    expect(session.view().budget).toMatchObject({ remaining: 4, provisional: 0, consumed: 1 });
  });

  test('B6, C12, S3: by the rule strict no failure waits beside an opening an hour ago', () => {
    const { box, session, clock } = bench({ ...shared, budget: 'strict' });
    trip(session, 'a');
    clock.advance(3_600_000);
    const other = box.session();
    succeedOnce(other, 'c');
    other.step();
    failOnce(other, 'b');
    expect(other.view().budget).toMatchObject({ remaining: 4, provisional: 0 });
  });

  test('C12, S1: an opening a minute ago is part of an event', () => {
    const { box, session, clock } = bench({ ...shared, systemic: { sameCategory: 2 } });
    trip(session, 'a');
    clock.advance(60_000);
    const other = box.session();
    succeedOnce(other, 'c');
    steps(other, 1);
    trip(other, 'b');
    expect(other.acquire('b').reason).toBe('systemic');
  });

  test('C11, C12: a restored session brings no outage from elsewhere into a box that shares circuits', () => {
    const elsewhere = bench({ tools: { a: {}, b: {}, c: {} } });
    trip(elsewhere.session, 'a');
    trip(elsewhere.session, 'b');
    expect(elsewhere.session.view().state).toBe('paused_systemic');
    const { box, session } = bench(shared);
    trip(session, 'c', 'permission');
    const restored = restore(box, JSON.parse(JSON.stringify(snapshot(elsewhere.session))));
    expect(restored.acquire('a').reason).toBe('closed');
    expect(session.acquire('a').reason).toBe('closed');
  });

  test('C11, C12: a snapshot takes no outage of its shared box with it', () => {
    const { box, session } = bench(shared);
    trip(session, 'a');
    trip(session, 'b');
    expect(snapshot(session).ledger).toMatchObject({ openings: [], event: null, paid: false });
    expect(inAnotherProcess(session, box).view().state).toBe('active');
  });

  test('C12, S5: one health check runs for all sessions, and no more often than configured', () => {
    let asked = 0;
    const recovery = {
      everyMs: 10_000,
      healthCheck: async () => {
        asked += 1;
        return false;
      },
    };
    const { box, session } = bench({ ...shared, systemic: { recovery } });
    trip(session, 'a');
    trip(session, 'b');
    for (let i = 0; i < 100; i += 1) expect(box.session().acquire('a').reason).toBe('systemic');
    expect(asked).toBe(1);
  });
});
