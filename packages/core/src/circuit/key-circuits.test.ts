import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ERROR_CATEGORIES } from '../classify/taxonomy.ts';
import type { Judged } from '../outcome.ts';
import { watchDiag } from '../test-support.ts';
import type { CircuitSpec } from '../tool.ts';
import { closedCircuit, isLate } from './circuit.ts';
import {
  adoptKeys,
  answerKey,
  byHost,
  copyKeys,
  distinctKey,
  enterKey,
  forgetKeys,
  giveBackKey,
  type Keyed,
  keyCircuit,
  keyOf,
  keyPolicyOf,
  MOST_KEYS,
  openKeys,
} from './key-circuits.ts';
import { resolveKeyPolicy, resolvePolicy } from './policy.ts';

afterEach(() => diag.disable());

const at = (ms: number) => ({ ms, step: 0, stepMs: 0 });
const policy = resolvePolicy({ failureThreshold: 50 });
const keyPolicy = resolveKeyPolicy({ failureThreshold: 1, cooldownMs: 10 });
const keyed = (): Keyed => ({ tool: { name: 'a', policy, keyPolicy } as CircuitSpec, keys: undefined });

const DEAD: Judged = { outcome: 'ignored', category: 'network', blames: 'key' };
const DOWN: Judged = { outcome: 'failure', category: 'network' };
const SUCCESS: Judged = { outcome: 'success', category: undefined };
const IGNORED: Judged = { outcome: 'ignored', category: 'cancelled' };

/** One call of a key at a time. */
const call = (tracked: Keyed, key: string, judged: Judged, ms = 0): void =>
  answerKey(tracked, enterKey(tracked, key, at(ms)), judged, at(ms), false);

const namesOf = ({ keys }: Keyed): string[] => [...(keys?.circuits.keys() ?? [])];

describe('C14: a key has a circuit from its first failure on', () => {
  test('C14: a failure that blames the key creates it', () => {
    const tracked = keyed();
    for (const judged of [SUCCESS, IGNORED, DOWN]) call(tracked, 'k', judged);
    expect([tracked.keys, openKeys(tracked), keyCircuit(tracked, 'k')]).toEqual([undefined, 0, closedCircuit()]);
    call(tracked, 'k', DEAD);
    expect([namesOf(tracked), openKeys(tracked)]).toEqual([['k'], 1]);
    expect(keyCircuit(tracked, 'k')).toMatchObject({ state: 'open', outage: { category: 'network', openedAt: at(0) } });
    expect(keyCircuit(tracked, 'l')).toBe(closedCircuit());
  });

  test('C14: a group uses its own policy, and a failure without a category is unknown', () => {
    expect(keyPolicyOf({ tool: { policy } as CircuitSpec })).toBe(policy);
    const tracked = keyed();
    call(tracked, 'k', { ...DEAD, category: undefined });
    expect(keyCircuit(tracked, 'k')).toMatchObject({ outage: { category: 'unknown' } });
  });

  test('C15: a pass without a key changes no circuit', () => {
    const tracked = keyed();
    answerKey(tracked, { of: 'group', generation: 0, lease: undefined }, DEAD, at(0), false);
    giveBackKey(tracked, { of: 'group', generation: 0, lease: undefined });
    expect(tracked.keys).toBeUndefined();
  });

  test('C6, C8: a probe takes a slot and returns it', () => {
    const tracked = keyed();
    call(tracked, 'k', DEAD);
    expect(enterKey(tracked, 'k', at(9))).toMatchObject({ of: 'key', key: 'k', generation: 1, lease: undefined });
    const probe = enterKey(tracked, 'k', at(10));
    expect(probe).toMatchObject({ generation: 2, lease: { id: 0, untilMs: 60_010 } });
    expect(keyCircuit(tracked, 'k')).toMatchObject({ state: 'half_open', leases: [probe.lease] });
    giveBackKey(tracked, probe);
    expect(keyCircuit(tracked, 'k')).toMatchObject({ state: 'half_open', leases: [] });
    call(tracked, 'k', DOWN, 10);
    expect(keyCircuit(tracked, 'k')).toMatchObject({ state: 'open', outage: { trip: 'probe', waitMs: 20 } });
    call(tracked, 'k', SUCCESS, 30);
    expect([keyCircuit(tracked, 'k').state, openKeys(tracked)]).toEqual(['closed', 0]);
  });
});

describe('C14: at most 100 circuits of keys', () => {
  const full = (): Keyed => {
    const tracked = keyed();
    for (let index = 0; index < MOST_KEYS; index += 1) call(tracked, `k${index}`, DEAD);
    return tracked;
  };

  test('C14: the least recently used is dropped, and its late result changes no new circuit of the key (C7)', () => {
    const tracked = full();
    const late = enterKey(tracked, 'k0', at(10)); // Used.
    call(tracked, 'new', DEAD);
    expect(namesOf(tracked)).toHaveLength(MOST_KEYS);
    expect([namesOf(tracked).includes('k0'), namesOf(tracked).includes('k1')]).toEqual([true, false]);
    for (let index = 2; index < MOST_KEYS + 1; index += 1) call(tracked, `more${index}`, DEAD);
    expect(namesOf(tracked)).not.toContain('k0');
    expect(isLate(keyCircuit(tracked, 'k0'), late)).toBe(true);
    answerKey(tracked, late, DEAD, at(11), false);
    giveBackKey(tracked, late);
    expect(namesOf(tracked)).not.toContain('k0');
    call(tracked, 'k0', DEAD);
    answerKey(tracked, late, SUCCESS, at(11), false);
    expect(keyCircuit(tracked, 'k0').state).toBe('open');
  });

  test('C14: closed circuits are dropped first, the least recently used of them', () => {
    const tracked = full();
    for (const key of ['k70', 'k60']) call(tracked, key, SUCCESS, 10);
    call(tracked, 'new', DEAD);
    call(tracked, 'newer', DEAD);
    expect(['k70', 'k60', 'k0', 'new'].map((key) => namesOf(tracked).includes(key))).toEqual([
      false,
      false,
      true,
      true,
    ]);
    call(tracked, 'newest', DEAD);
    expect(namesOf(tracked)).not.toContain('k0');
  });

  test('C14: a circuit that already exists drops no other', () => {
    const tracked = full();
    call(tracked, 'k50', DEAD, 10);
    expect(namesOf(tracked)).toHaveLength(MOST_KEYS);
    expect(namesOf(tracked).at(-1)).toBe('k50');
  });
});

describe('C1, C11: forgotten, copied, adopted', () => {
  test('C1, C7: results of calls under way before the circuits were forgotten are late', () => {
    const tracked = keyed();
    call(tracked, 'k', DEAD);
    const passes = [enterKey(tracked, 'k', at(10)), enterKey(tracked, 'l', at(10))];
    tracked.keys = forgetKeys(tracked.keys);
    expect(tracked.keys).toEqual({ circuits: new Map(), generation: 3 });
    for (const pass of passes) expect(isLate(keyCircuit(tracked, pass.key ?? ''), pass)).toBe(true);
    expect(forgetKeys(tracked.keys)?.generation).toBe(4);
    expect(forgetKeys(undefined)).toBeUndefined();
  });

  test('C11: a copy is independent of the original', () => {
    const tracked = keyed();
    call(tracked, 'k', DEAD);
    const copy = copyKeys(tracked.keys);
    expect(copy).toEqual(tracked.keys);
    copy?.circuits.clear();
    expect(namesOf(tracked)).toEqual(['k']);
    expect(copyKeys(undefined)).toBeUndefined();
  });

  test('C11: adopted circuits wait no longer than the policy allows', () => {
    const tracked = keyed();
    call(tracked, 'k', { ...DEAD, retryAfterMs: 9_000_000 });
    const tool = { policy, keyPolicy: { ...keyPolicy, maxCooldownMs: 5, maxRetryAfterMs: 7 } } as CircuitSpec;
    const adopted = tracked.keys && adoptKeys(tracked.keys, { tool }, 100);
    expect(adopted?.circuits.get('k')).toMatchObject({ outage: { waitMs: 5, notBeforeMs: 107 } });
  });
});

test('C14: keys that cannot be reached, and keys that turn the tool away, count among failures on several keys', () => {
  const pass = { of: 'key', key: 'k', generation: 0, lease: undefined } as const;
  expect(ERROR_CATEGORIES.filter((one) => distinctKey(pass, one) === 'k')).toEqual([
    'network',
    'timeout',
    'rate_limit',
    'permission',
    'server',
  ]);
});

describe('C14: the key of a call', () => {
  const named = (key: Parameters<typeof keyOf>[0]['key'], input: unknown, hint?: unknown) =>
    keyOf({ name: 'a', key }, 'tester', input, hint);

  test('C14: a key is a stable hash that differs by agent, tool and key', () => {
    const all = [
      named(undefined, undefined, 'x'),
      named(undefined, undefined, 'y'),
      keyOf({ name: 'b', key: undefined }, 'tester', undefined, 'x'),
      keyOf({ name: 'a', key: undefined }, 'other', undefined, 'x'),
    ];
    expect(new Set(all).size).toBe(4);
    for (const one of all) expect(one).toMatch(/^[0-9a-f]{32}$/);
    expect(named((input) => String(input), 'x', 'y')).toBe(all[0]);
  });

  test('C14: the first 1,024 characters of a key count', () => {
    const start = 'x'.repeat(1_023);
    expect(named(undefined, undefined, `${start}ya`)).toBe(named(undefined, undefined, `${start}yb`));
    expect(named(undefined, undefined, `${start}y`)).not.toBe(named(undefined, undefined, `${start}z`));
    for (let n = 0; n < 5_000; n += 1) expect(named(undefined, undefined, `${n}`)).toHaveLength(32); // Some hold surrogates.
  });

  test('Q2, E5: a warning about an error of a key function has its name, not its text, which may quote the input', async () => {
    const error = watchDiag();
    const secret = 'secret.example?token=1';
    const misnamed = Object.assign(new Error('x'), { name: secret });
    const throwing = (thrown: unknown) => () => {
      throw thrown;
    };
    expect(named((input) => new URL(String(input)).host, secret)).toBeUndefined();
    for (const thrown of [misnamed, secret]) expect(named(throwing(thrown), secret)).toBeUndefined();
    expect(named((async () => new URL(secret).host) as never, secret)).toBeUndefined();
    await vi.waitFor(() => expect(error).toHaveBeenCalledTimes(5));
    const what = "Breakerbox: the key of tool 'a' failed. Breakerbox ignores this error, and the program continues.";
    const promise = 'TypeError: It returned a value of type promise. Return a string, or undefined for no key.';
    expect(error.mock.calls.map(([said, thrown]: unknown[]) => [said, String(thrown)])).toEqual(
      ['TypeError', 'object', 'string', promise, 'TypeError'].map((one) => [what, one]),
    );
  });

  test('C14, E5: a tool without a key has no key circuit; an invalid key is reported', () => {
    const error = watchDiag();
    expect(named(undefined, 'x')).toBeUndefined();
    expect(named(false, 'x', 'hint')).toBeUndefined();
    for (const none of [undefined, null, '']) expect(named(() => none as never, 'x', 'hint')).toBeUndefined();
    expect(named(() => 'k', undefined, 'hint')).toBeUndefined();
    expect(error).not.toHaveBeenCalled();
    expect(named(() => 7 as never, 'x', 'hint')).toBeUndefined();
    expect(error.mock.calls.map(([what, thrown]: unknown[]) => `${what} ${thrown}`)).toEqual([
      "Breakerbox: the key of tool 'a' failed. Breakerbox ignores this error, and the program continues. TypeError: It returned a value of type number. Return a string, or undefined for no key.",
    ]);
  });
});

describe('C14: byHost', () => {
  test.each([
    ['https://Example.COM/a?b', 'example.com'],
    ['http://example.com:8080/', 'example.com:8080'],
    ['https://example.com:443/', 'example.com'],
    ['http://[::1]:3000/x', '[::1]:3000'],
    ['postgres://db.internal:5432/x', 'db.internal:5432'],
    ['CUSTOM://Some.Host/x', 'some.host'],
    ['https://user:secret@example.com/', 'example.com'],
    ['Example.com', 'example.com'],
    ['example.com/a?b', 'example.com'],
    ['example.com:8080?b', 'example.com:8080'],
    ['localhost:3000/a', 'localhost:3000'],
  ])('C14: byHost finds the host of %s', (url, host) => {
    expect(byHost()({ url })).toBe(host);
    expect(byHost()(url)).toBe(host);
    expect(byHost('link')({ link: url, url: 'https://other.example' })).toBe(host);
  });

  test.each([
    '',
    '/a',
    'readme',
    'see example.com/a',
    'example.com:port/a',
    'http://',
    'data:text/plain,hi',
    'file:///etc/hosts',
    'mailto:a@example.com',
    7,
    null,
    ['https://example.com'],
  ])('C14: byHost finds no key for %j', (url) => {
    expect(byHost()({ url })).toBeUndefined();
  });

  test('C14, E5: byHost reads the start of a text, not all of it', () => {
    expect(byHost()(`https://example.com/${'a'.repeat(10_000)}`)).toBe('example.com');
    expect(byHost()(`${' '.repeat(10_000)}https://example.com`)).toBeUndefined();
  });

  test('C14, E5: missing arguments, and arguments that cannot be read, have no key', () => {
    const unreadable = {
      get url() {
        throw new Error('unreadable');
      },
    };
    for (const input of [undefined, null, 'news of fuses', 7, {}, unreadable]) {
      expect(byHost()(input)).toBeUndefined();
    }
  });
});
