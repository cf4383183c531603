import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BreakerboxConfigError } from '../checks/checks.ts';
import type { Session } from '../session-api.ts';
import { bench, failOnce, steps } from '../test-support.ts';
import { restore } from './restore.ts';
import type { SessionSnapshot } from './session-snapshot.ts';
import { snapshot as snapshotOf } from './snapshot.ts';

const throughJson = (snapshot: SessionSnapshot): SessionSnapshot => JSON.parse(JSON.stringify(snapshot));

/** A snapshot with something in each of its places. */
const rich = (rule: 'window' | 'strict' = 'window'): SessionSnapshot => {
  const tools = { a: { group: 'g' }, b: { group: 'g' }, c: { mode: 'observe_only' as const }, d: {} };
  const { session, clock } = bench({ tools, budget: { rule, failures: 9, tokens: 1_000 } });
  for (let call = 0; call < 3; call += 1) failOnce(session, 'a', 'rate_limit');
  failOnce(session, 'd', 'unknown');
  session.acquire('d').settle({ outcome: 'failure', category: 'server', tokens: 30 });
  clock.advance(1_000);
  failOnce(session, 'b', 'rate_limit');
  for (let i = 0; i < 4; i += 1) failOnce(session, 'c');
  session.control('d', 'disabled');
  failOnce(session, '');
  steps(session, 3);
  session.acquire('a');
  return throughJson(snapshotOf(session));
};

const issuesOf = (snapshot: unknown) => {
  try {
    restore(bench().box, snapshot);
  } catch (error) {
    if (error instanceof BreakerboxConfigError) return error.issues.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
  return [];
};

/** The snapshot with something else at a path. */
const changed = (path: readonly (string | number)[], value: unknown, from = rich()): unknown => {
  const snapshot: unknown = throughJson(from);
  let holder = snapshot as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) holder = holder[key] as typeof holder;
  const last = path.at(-1) ?? '';
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  return snapshot;
};

describe('C11: snapshots that are rejected', () => {
  test('C11: a rich snapshot is accepted', () => {
    expect([...issuesOf(rich()), ...issuesOf(rich('strict'))]).toEqual([]);
  });

  test.each([
    [
      ['version'],
      2,
      'snapshot.version: is 2, but this release of Breakerbox reads only version 1. Restore it with the version',
    ],
    [
      ['agent'],
      'other',
      "snapshot.agent: is 'other', but this box is of agent 'tester'. Restore the snapshot with the box of agent 'other'.",
    ],
    [['id'], '', "snapshot.id: is ''. Set a name that isn't empty"],
    [['step'], -1, 'snapshot.step: is -1. Set a whole number of at least 0, as snapshot(session) wrote it.'],
    [['extra'], 1, 'snapshot.extra: is not allowed here. Allowed here: version, agent, id'],
    [['circuits'], {}, 'snapshot.circuits: is an object. Give a list.'],
    [['circuits', 0, 'state'], 'ajar', "snapshot.circuits[0].state: is 'ajar'. Set one of closed, open, half_open"],
    [['circuits', 1, 'outage'], null, 'snapshot.circuits[1].outage: is null, but state is half_open. A closed circuit'],
    [['circuits', 0, 'openedBy'], { traceId: 'x', spanId: 'y', traceFlags: 1 }, 'openedBy.traceId: is '],
    [
      ['circuits', 2, 'tool'],
      'a',
      "snapshot.circuits[2].tool: is 'a', which is in the list twice. Keep one circuit for each tool.",
    ],
    [['circuits', 0, 'latest'], 'fire', "snapshot.circuits[0].latest: is 'fire'. Set one of network"],
    [['circuits', 0, 'counts'], { other: 1 }, 'snapshot.circuits[0].counts.other: is not allowed here.'],
    [['ledger', 'paid'], true, 'snapshot.ledger.paid: is true, but event is null.'],
    [['ledger', 'budget', 'rule'], 'lax', "snapshot.ledger.budget.rule: is 'lax'. Set window"],
    [['ledger', 'budget', 'granted'], 5, 'snapshot.ledger.budget.granted: is not allowed here.'],
    [['ledger', 'budget', 'charges', 0, 'since'], 'now', "since: is 'now'. Set one of success, closing"],
    [['ledger', 'budget', 'charges', 0, 'count'], 0, 'charges[0].count: is 0. Set a whole number of at least 1'],
    [['ledger', 'event'], [], 'snapshot.ledger.event: is empty. Give its openings, or null.'],
  ])('C11: %j = %j', (path, value, message) => {
    expect(issuesOf(changed(path, value)).some((issue) => issue.includes(message))).toBe(true);
  });

  test.each([
    [
      ['ledger', 'budget', 'granted'],
      99,
      'snapshot.ledger.budget.granted: is 99, so 93 failures would be left, more than the budget of 9.',
    ],
    [
      ['ledger', 'budget', 'provisional', 0, 'beside'],
      7,
      'beside: is 7, but there are 1 openings. Give the index of one',
    ],
    [['ledger', 'budget', 'rule'], 'window', 'snapshot.ledger.budget.granted: is not allowed here.'],
  ])('C11, B6: by the rule strict: %j = %j', (path, value, message) => {
    expect(issuesOf(changed(path, value, rich('strict'))).some((issue) => issue.includes(message))).toBe(true);
  });

  test.each([undefined, null, 3, 'snapshot', [], {}])('C11: %j instead of a snapshot', (value) => {
    expect(issuesOf(value).join('\n')).toContain('snapshot');
  });

  test('C11: the error lists the first ten faults, and the number of the others', () => {
    expect(() => restore(bench().box, null)).toThrow(
      /Breakerbox can't use this snapshot\. .*:\n {2}snapshot: is null\. Give the object that snapshot\(session\) returned\./,
    );
    const many = { ...rich(), circuits: Array.from({ length: 15 }, () => 7) };
    expect(() => restore(bench().box, many)).toThrow(
      /circuits\[9\]: is 7\. Give an object\.\n {2}… and 5 more\. Fix the ones above first\.$/,
    );
    expect(issuesOf(many)).toHaveLength(10);
    expect(() => restore({} as never, rich())).toThrow('restore(box, snapshot): an object is not a box.');
  });

  test.each(['window', 'strict'] as const)(
    'C11: a snapshot with any change is either rejected or works: %s',
    (rule) => {
      const paths: (string | number)[][] = [];
      const walk = (value: unknown, path: (string | number)[]): void => {
        if (path.length > 0) paths.push(path);
        if (typeof value !== 'object' || value === null) return;
        for (const [key, one] of Object.entries(value)) walk(one, [...path, Array.isArray(value) ? Number(key) : key]);
      };
      const base = rich(rule);
      walk(base, []);
      const value = fc.oneof(
        fc.constantFrom(undefined, null, 0, 1, -1, 0.5, 1e308, '', 'a', true, [], {}, '__proto__', 'open', 'closed'),
        fc.jsonValue({ maxDepth: 2 }),
      );
      const mutation = fc.tuple(fc.constantFrom(...paths), value);
      let accepted = 0;
      const property = fc.property(mutation, ([path, other]) => {
        const snapshot = changed(path, other, base);
        const { box, clock } = bench();
        let session: Session;
        try {
          session = restore(box, snapshot);
        } catch (error) {
          expect(error).toBeInstanceOf(BreakerboxConfigError);
          return;
        }
        accepted += 1;
        for (const tool of ['a', 'b', 'c', 'd', 'e', 'a', 'b']) {
          expect(typeof session.acquire(tool).message).toBe('string');
          failOnce(session, tool);
          clock.advance(50_000);
          session.step();
        }
        session.confirmRecovered();
        session.resume();
        session.view();
        restore(box, throughJson(snapshotOf(session))).acquire('a');
      });
      fc.assert(property, { numRuns: 1_500 });
      expect(accepted).toBeGreaterThan(50);
    },
  );
});
