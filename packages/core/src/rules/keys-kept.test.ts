import { describe, expect, test } from 'vitest';
import { BreakerboxConfigError } from '../checks/checks.ts';
import { byHost } from '../circuit/key-circuits.ts';
import { restore } from '../snapshot/restore.ts';
import { snapshot as snapshotOf } from '../snapshot/snapshot.ts';
import { bench, steps } from '../test-support.ts';
import { at, DEAD, DOWN, inAnotherProcess, keyed, openKey, two, visit } from './test-support.rules.ts';

const tools = { a: { key: byHost() }, b: {} };

describe('C11: keys in snapshots', () => {
  test('C11: keys continue in another process, with the time that has passed', () => {
    const { session, clock } = keyed();
    openKey(session, 'x.example');
    visit(session, 'a', 'y.example', DEAD);
    clock.advance(10_000);
    const other = keyed();
    const restored = inAnotherProcess(session, other.box, { elapsedMs: 20_000 });
    expect(restored.peek('a', at('x.example'))).toMatchObject({
      openKeys: 1,
      key: { state: 'open', category: 'network', generation: 1, nextProbe: { ms: 30_000 } },
    });
    expect(restored.peek('a', at('y.example'))?.key).toMatchObject({ state: 'closed', failures: 1 });
    expect(visit(restored, 'a', 'x.example')).toBe('key_open');
    other.clock.advance(30_000);
    expect(visit(restored, 'a', 'x.example')).toBe('key_probe_due');
  });

  test('C11: a probe under way, the keys on which the tool failed, and the keys of a tool that is not declared yet continue too', () => {
    const { session } = keyed({ tools: { a: { key: byHost(), failureThreshold: 5 } } });
    for (let i = 0; i < 5; i += 1) visit(session, 'a', 'x.example', DEAD);
    visit(session, 'a', 'y.example', DOWN);
    visit(session, 'a', 'z.example', DOWN);
    steps(session, 3);
    session.acquire('a', { input: at('x.example') });
    const { box } = bench({ tools: {}, loopGuard: false });
    const restored = inAnotherProcess(session, box);
    box.declare('a', { key: byHost(), failureThreshold: 5 });
    expect(visit(restored, 'a', 'x.example', { outcome: 'ignored' })).toBe('key_probe_due');
    visit(restored, 'a', 'w.example', DOWN);
    expect(restored.peek('a')).toMatchObject({ state: 'open', trip: 'keys' });
  });

  test('C11: under another policy they wait no longer than it allows', () => {
    const { session } = keyed({ tools: { a: { key: byHost(), cooldownMs: 900_000 } } });
    openKey(session, 'x.example');
    const { box } = keyed({ tools: { a: { key: byHost(), cooldownMs: 1_000, maxCooldownMs: 2_000 } } });
    const restored = inAnotherProcess(session, box);
    expect(restored.peek('a', at('x.example'))?.key?.nextProbe).toMatchObject({ ms: 2_000 });
  });

  test('C11: a snapshot holds hashes, different for each tool and agent, and no hash if no key was blamed', () => {
    const { session } = keyed();
    visit(session, 'a', 'x.example');
    expect(snapshotOf(session).circuits[0]).not.toHaveProperty('keys');
    visit(session, 'a', 'x.example', DEAD);
    visit(session, 'b', 'x.example', DEAD);
    const other = bench({ agent: 'other', tools }).session;
    visit(other, 'a', 'x.example', DEAD);
    const keysOf = (one: typeof session) =>
      snapshotOf(one).circuits.flatMap(({ keys = [] }) => keys.map(({ key }) => key));
    const hashes = [...keysOf(session), ...keysOf(other)];
    expect(new Set(hashes).size).toBe(3);
    for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{32}$/);
    expect(keysOf(keyedAgain())).toEqual(hashes.slice(0, 1)); // The same in each process, and each version.
    expect(hashes[0]).toBe('682e41338ff38aad924cc1b22f65773d');
    session.control('a', 'disabled');
    expect(snapshotOf(session).circuits[0]).not.toHaveProperty('keys');
  });

  const keyedAgain = () => {
    const { session } = keyed();
    visit(session, 'a', 'x.example', DEAD);
    return session;
  };

  const refused = (change: (keys: Record<string, unknown>[]) => unknown): readonly string[] => {
    const { session, box } = keyed();
    openKey(session, 'x.example');
    visit(session, 'a', 'y.example', DEAD);
    const snapshot = JSON.parse(JSON.stringify(snapshotOf(session)));
    const changed = change(snapshot.circuits[0].keys);
    if (changed !== undefined) snapshot.circuits[0].keys = changed;
    try {
      restore(box, snapshot);
    } catch (error) {
      if (error instanceof BreakerboxConfigError) return error.issues.map(({ path, message }) => `${path}: ${message}`);
      throw error;
    }
    return [];
  };

  test.each<[string, (keys: Record<string, unknown>[]) => unknown, string]>([
    ['no list', () => 7, 'snapshot.circuits[0].keys: is 7. Give a list.'],
    [
      'no hash',
      ([one]) => void Object.assign(one ?? {}, { key: 'x.example' }),
      "keys[0].key: is 'x.example'. Set 32 hexadecimal digits",
    ],
    [
      'a hash in upper case',
      ([one]) => void Object.assign(one ?? {}, { key: 'A'.repeat(32) }),
      'Set 32 hexadecimal digits',
    ],
    [
      'a key for a second time',
      (keys) => [...keys, keys[0]],
      'which is in the list twice. Keep one circuit for each key.',
    ],
    [
      'an open circuit without an outage',
      ([one]) => void Object.assign(one ?? {}, { outage: null }),
      'keys[0].outage: is null, but state is open.',
    ],
    [
      'an invalid generation',
      ([one]) => void Object.assign(one ?? {}, { generation: -1 }),
      'keys[0].generation: is -1',
    ],
    [
      'something else in it',
      ([one]) => void Object.assign(one ?? {}, { host: 'x' }),
      'keys[0].host: is not allowed here',
    ],
    [
      'more keys than a tool has',
      ([one]) => Array.from({ length: 101 }, (_, index) => ({ ...one, key: String(index).padStart(32, '0') })),
      'snapshot.circuits[0].keys: has 101 keys. A tool has at most 100',
    ],
  ])('C11: rejected: %s', (_, change, message) => {
    expect(refused(change).join('\n')).toContain(message);
  });

  test('C11: the maximum number of keys of a tool is accepted', () => {
    expect(
      refused(([one]) => Array.from({ length: 100 }, (_, index) => ({ ...one, key: String(index).padStart(32, '0') }))),
    ).toEqual([]);
    expect(refused(() => undefined)).toEqual([]);
  });
});

describe('C11: reading keys', () => {
  test('C11: it finds that a hung probe of a key has failed, even if the key is read first', () => {
    const { session, clock } = keyed();
    openKey(session, 'x.example');
    steps(session, 3);
    session.acquire('a', { input: at('x.example') });
    clock.advance(60_000);
    for (let i = 0; i < 2; i += 1) {
      expect(session.peek('a', at('x.example'))?.key).toMatchObject({ state: 'open', generation: 3, openForMs: 0 });
      expect(session.explain('a', at('x.example')).reason).toBe('key_open');
    }
    expect(visit(session, 'a', 'x.example')).toBe('key_open');
    expect(session.peek('a')?.failures).toBe(0);
  });

  test('C11: it is not a use of a key, and explaining a due probe takes no slot', () => {
    const { session } = keyed();
    openKey(session, 'x.example');
    steps(session, 3);
    for (let i = 0; i < 3; i += 1) expect(session.explain('a', at('x.example')).reason).toBe('key_probe_due');
    expect(snapshotOf(session)).toEqual(snapshotOf(session));
    expect(visit(session, 'a', 'x.example')).toBe('key_probe_due');
  });
});

describe('C12: sessions that share their circuits', () => {
  test('C12, C14: they share the circuits of keys, each at its own cost', () => {
    const { session, other, clock } = two({ tools, loopGuard: false });
    visit(session, 'a', 'x.example', DEAD);
    visit(other, 'a', 'x.example', DEAD);
    visit(session, 'a', 'x.example', DEAD);
    expect(visit(other, 'a', 'x.example')).toBe('key_open');
    expect(other.peek('a', at('x.example'))).toMatchObject({ openKeys: 1, key: { nextProbe: { ms: 60_000 } } });
    steps(session, 9);
    expect(visit(other, 'a', 'x.example')).toBe('key_open'); // Steps of many sessions are no time.
    clock.advance(60_000);
    const probe = session.acquire('a', { input: at('x.example') });
    expect(visit(other, 'a', 'x.example')).toBe('probe_in_flight');
    session.end();
    clock.advance(60_000);
    expect(visit(other, 'a', 'x.example')).toBe('key_open'); // C9: the probe of the other session hung.
    expect(other.view().budget.remaining).toBe(5);
    probe.settle({ outcome: 'success' });
    expect(other.peek('a', at('x.example'))?.key?.state).toBe('open');
    expect(snapshotOf(other).circuits).toEqual([]);
  });
});
