import { describe, expect, test } from 'vitest';
import { byHost } from '../circuit/key-circuits.ts';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import { shareCircuits } from '../fleet/share-circuits.ts';
import type { Settlement } from '../outcome.ts';
import { formatReport } from '../report/format.ts';
import { report } from '../report/report.ts';
import type { Session } from '../session-api.ts';
import { restore } from '../snapshot/restore.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { bench, steps, trip } from '../test-support.ts';
import { DEAD, hear, keyed, visit } from './test-support.rules.ts';

const blamed = (category: ErrorCategory): Settlement => ({ outcome: 'failure', category, blames: 'key' });
const answered: Settlement = { error: new Error('x'), verdict: { category: 'tool_error', answered: true } };

/** Calls of so many hosts, one after the other, that fail. */
const failHosts = (session: Session, count: number, how: Settlement = DEAD, from = 0) => {
  for (let n = from; n < from + count; n += 1) visit(session, 'a', `${n}.example`, how);
};

/** A session whose tool has succeeded once. */
const proven = (...given: Parameters<typeof keyed>) => {
  const made = keyed(...given);
  visit(made.session, 'a', 'ok.example');
  return made;
};

describe('C14: keys that fail in a row', () => {
  test('C14: eight open the tool; before its first success, five do', () => {
    const { session } = proven();
    failHosts(session, 7);
    expect(session.peek('a')).toMatchObject({ state: 'closed', failedKeys: 7, failures: 0 });
    failHosts(session, 1, DEAD, 7);
    expect(session.peek('a')).toMatchObject({ state: 'open', trip: 'keys', category: 'network', failedKeys: 0 });
    const first = keyed();
    failHosts(first.session, 4);
    expect(first.session.peek('a')?.state).toBe('closed');
    failHosts(first.session, 1, DEAD, 4);
    expect(first.session.peek('a')).toMatchObject({ state: 'open', trip: 'keys' });
  });

  test('C14: a success in another session of the box counts as the first success', () => {
    const { box } = proven();
    const session = box.session();
    failHosts(session, 7);
    expect(session.peek('a')?.state).toBe('closed');
  });

  test('C14: keysThreshold sets the number, and false turns it off', () => {
    const three = keyed({ tools: { a: { key: byHost(), keysThreshold: 3 } } });
    failHosts(three.session, 3);
    expect(three.session.peek('a')?.state).toBe('open');
    const none = keyed({ tools: { a: { key: byHost(), keysThreshold: false } } });
    failHosts(none.session, 50);
    expect(none.session.peek('a')?.state).toBe('closed');
  });

  test('C14: each key counts once, and other categories do not count', () => {
    const { session } = proven({ tools: { a: { key: byHost(), failureThreshold: 50 } } });
    for (let n = 0; n < 20; n += 1) visit(session, 'a', 'one.example', DEAD);
    for (const category of ['resource', 'tool_error', 'unknown', 'filesystem'] as const) {
      failHosts(session, 9, blamed(category));
    }
    expect(session.peek('a')).toMatchObject({ state: 'closed', failedKeys: 1 });
  });

  test('C14: keys that all turn the tool away open it: its own address is blocked, or its account', () => {
    const { session } = proven();
    failHosts(session, 8, blamed('permission'));
    failHosts(session, 7, blamed('rate_limit'), 8);
    expect(session.peek('a')).toMatchObject({ state: 'closed', failedKeys: 15 });
    failHosts(session, 1, blamed('permission'), 15);
    expect(session.peek('a')).toMatchObject({ state: 'open', trip: 'keys', category: 'permission' });
    steps(session, 3);
    expect(visit(session, 'a', 'another.example', blamed('rate_limit'))).toBe('probe_due');
    expect(session.peek('a')).toMatchObject({ state: 'open', trip: 'keys', nextProbe: { steps: 3 } });
  });

  test('C14: sites with a paywall do not block a tool that has not succeeded yet', () => {
    const { session } = bench({ tools: { a: { key: byHost() } } });
    failHosts(session, 15, blamed('permission'));
    expect(session.peek('a')?.state).toBe('closed');
  });

  test('C14: keys that are down and keys that turn the tool away are counted apart', () => {
    const { session } = proven();
    failHosts(session, 7);
    failHosts(session, 7, blamed('permission'), 7);
    expect(session.peek('a')).toMatchObject({ state: 'closed', failedKeys: 14 });
    failHosts(session, 1, blamed('timeout'), 14);
    expect(session.peek('a')).toMatchObject({ state: 'open', category: 'network' });
  });

  test('C14: a success of any key ends the row; so does an answer 404, 409, 410 or 422', () => {
    const ends: readonly Settlement[] = [
      { outcome: 'success' },
      answered,
      ...[404, 409, 410, 422].map((status) => ({ error: Object.assign(new Error('x'), { status }) })),
      { result: new Response(null, { status: 410 }) },
    ];
    for (const how of ends) {
      const { session } = proven();
      failHosts(session, 7);
      visit(session, 'a', 'other.example', how);
      expect([how, session.peek('a')?.failedKeys]).toEqual([how, 0]);
      failHosts(session, 7, DEAD, 20);
      expect(session.peek('a')?.state).toBe('closed');
    }
    for (const status of [400, 402, 451]) {
      const { session } = proven();
      failHosts(session, 7);
      visit(session, 'a', 'other.example', { error: Object.assign(new Error('x'), { status }) });
      expect([status, session.peek('a')?.failedKeys]).toEqual([status, 7]);
    }
  });

  test('C14: the commonest category is that of the opening', () => {
    const opened = (...categories: ErrorCategory[]) => {
      const { session } = proven();
      for (const [n, category] of categories.entries()) visit(session, 'a', `${n}.example`, blamed(category));
      return session.peek('a')?.category;
    };
    const [server, timeout] = [['server', 'server'] as const, Array<ErrorCategory>(5).fill('timeout')];
    expect(opened(...server, ...timeout, 'server')).toBe('timeout');
    expect(opened(...server, ...timeout.slice(1), ...server)).toBe('server'); // Of two, the first.
  });

  test('C14, S1: the opening costs one, and is compared with those of other tools; the failures before it are not', () => {
    const { session, box } = proven({ systemic: { sameCategory: 2, sharedFailures: 2, sharedTools: 2 } });
    const detected = hear(box, 'systemic.detected');
    visit(session, 'b', 'x.example', DEAD);
    failHosts(session, 7);
    expect([session.view().budget.remaining, detected.length]).toEqual([5, 0]);
    failHosts(session, 1, DEAD, 7);
    expect([session.view().budget.remaining, detected.length]).toEqual([4, 0]);
    trip(session, 'c');
    expect(detected).toHaveLength(1);
  });

  test('C14: a call of any key is the probe: its failure keeps the tool open, its success closes it', () => {
    const { session } = proven();
    failHosts(session, 8);
    steps(session, 3);
    expect(visit(session, 'a', 'another.example', DEAD)).toBe('probe_due');
    expect(session.peek('a')).toMatchObject({ state: 'open', trip: 'keys', nextProbe: { steps: 3 } });
    expect(visit(session, 'a', 'third.example')).toBe('open');
    steps(session, 3);
    expect(visit(session, 'a', 'third.example')).toBe('probe_due');
    expect(session.peek('a')?.state).toBe('closed');
  });

  test('C14, G2: a fleet hears of the opening', async () => {
    const { session, box } = bench({
      scope: 'process',
      fleet: { join: () => {} },
      tools: { a: { key: byHost(), share: 'fleet' } },
      loopGuard: false,
    });
    const changes: object[] = [];
    shareCircuits(box).onChange((change) => changes.push(change));
    failHosts(session, 5);
    await Promise.resolve();
    expect(changes).toEqual([{ change: 'opened', name: 'a' }]);
  });

  test('C14, C11: the row is in snapshots; older snapshots have the keys that blamed the tool', () => {
    const { session, box } = proven();
    failHosts(session, 7);
    const kept = JSON.parse(JSON.stringify(snapshot(session)));
    const again = restore(box, kept);
    failHosts(again, 1, DEAD, 7);
    expect(again.peek('a')).toMatchObject({ state: 'open', trip: 'keys' });
    kept.circuits[0].counts = { keys: ['0'.repeat(32), '1'.repeat(32)] };
    const older = restore(box, kept);
    expect(older.peek('a')).toMatchObject({ state: 'closed', failedKeys: 0 });
    visit(older, 'a', 'x.example', { outcome: 'failure', category: 'network' });
    expect(older.peek('a')).toMatchObject({ state: 'open', trip: 'keys' });
  });

  test('C14: thirty dead hosts in a row are seen: the report counts them, and says that no call has succeeded', () => {
    const { session } = keyed({ tools: { a: { key: byHost(), keysThreshold: false } } });
    failHosts(session, 2);
    const { headline, tools } = report(session);
    expect(headline).toBe('No call of a has succeeded.');
    expect(tools[0]).toMatchObject({ failedKeys: 0, calls: { made: 2, ignored: 2, keyFailures: 2 } });
    expect(formatReport(report(session))).toMatch(/Failures of single targets.*a 2/s);
    const dead = keyed();
    let made = 0;
    for (let n = 0; n < 30; n += 1) if (visit(dead.session, 'a', `${n}.example`, DEAD) === 'closed') made += 1;
    expect(made).toBe(5);
  });
});
