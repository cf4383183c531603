import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { CallInput } from './call-input.ts';
import { digest } from './digest.ts';

const SEED = 20_261_120;
const input = (value: unknown): CallInput => new CallInput(value, SEED);
const LARGE = 'x'.repeat(5_000);

describe('O5: the arguments of a call', () => {
  test.each([['a string'], [{ city: 'Oslo' }], [0], [null], [LARGE], [{ page: LARGE }], [[LARGE, LARGE]]])(
    'O5: equal arguments have equal digests',
    (value) => {
      const given = input(value);
      expect(given.digest()).toBe(digest(value, SEED));
      expect(given.digest()).toBe(input(structuredClone(value)).digest());
      given.release();
      expect(given.digest()).toBe(digest(value, SEED)); // Made in time.
    },
  );

  test('O5: small ones are hashed before the tool can change them', () => {
    const value = { ids: [1, 2, 3] };
    const before = digest(value, SEED);
    const given = input(value);
    value.ids.length = 0;
    expect(given.digest()).toBe(before);
  });

  test('O5: large ones are hashed when their digest is first needed, and then no more', () => {
    const value = { page: LARGE, seen: 0 };
    const given = input(value);
    value.seen = 1;
    const first = given.digest();
    expect(first).toBe(digest(value, SEED));
    value.seen = 2;
    expect(given.digest()).toBe(first);
  });

  test('O5: large ones that were let go before match nothing, not even themselves', () => {
    const one = input(LARGE);
    const other = input(LARGE);
    one.release();
    other.release();
    expect(
      new Set([one.digest(), one.digest(), other.digest(), digest(LARGE, SEED), digest(undefined, SEED)]).size,
    ).toBe(5);
  });

  test('Q2: neither arguments nor digest can be listed or written down', () => {
    for (const value of ['secret', `secret ${LARGE}`]) {
      const given = input(value);
      given.digest();
      expect(JSON.stringify({ given, again: { ...given } })).toBe('{"given":{},"again":{}}');
      expect(inspect(given, { depth: 9, showHidden: true })).toBe('CallInput {}');
    }
  });
});
