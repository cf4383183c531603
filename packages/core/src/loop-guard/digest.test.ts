import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CallInput, digest, randomSeed } from './digest.ts';

const SEED = 20_261_120;
const of = (value: unknown): string | undefined => digest(value, SEED);
const input = (value: unknown): CallInput => new CallInput(value, SEED);
const LARGE = 'x'.repeat(5_000);

/** The text of a JSON value with its keys in order: equal only for equal values. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const entries = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`);
  return `{${entries.sort().join()}}`;
}

/** A copy with the keys of each object in reverse. */
function reversed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed);
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, one]) => [key, reversed(one)]));
}

/** JSON values of so few kinds that two of them are often nearly equal, and sometimes equal. */
const similar = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'similar' },
    fc.constantFrom(null, true, false, 0, 1, -1, 0.5, -0.5, '', '0', 'a', 'ab'),
    fc.array(tie('value'), { maxLength: 2, depthIdentifier: 'similar' }),
    fc.dictionary(fc.constantFrom('', 'a', 'b'), tie('value'), { maxKeys: 2, depthIdentifier: 'similar' }),
  ),
})).value;

describe('O5: digests of arguments', () => {
  test('O5: two JSON values have the same digest exactly if they are equal, in any order of keys', () => {
    const sameAs = (a: unknown, b: unknown) => {
      expect(of(reversed(a))).toBe(of(a));
      expect(of(a) === of(b)).toBe(canonical(a) === canonical(b));
    };
    fc.assert(fc.property(fc.jsonValue(), fc.jsonValue(), sameAs), { numRuns: 500 });
    fc.assert(fc.property(similar, similar, sameAs), { numRuns: 5000 });
  });

  test('F1: values beyond JSON are compared by their content', () => {
    const pairs = [
      [Number.NaN, Number.POSITIVE_INFINITY],
      [1n, 2n],
      [new Date(0), new Date(1)],
      [new Map([['a', 1]]), new Map([['a', 2]])],
      [new Set(['a']), new Set(['b'])],
      [new Uint8Array([1]), new Uint8Array([2])],
      [new Error('a'), new Error('b')],
      [new URL('https://example.com/a'), new URL('https://example.com/b')],
      [Object.create(null), []],
    ];
    for (const [one, other] of pairs) {
      expect(of({ value: one })).toMatch(/^[0-9a-f]{32}$/);
      expect(of({ value: one })).not.toBe(of({ value: other }));
      expect(of(structuredClone(new Map([['a', one instanceof URL ? 0 : one]])))).toBeDefined();
    }
  });

  test('E5: a value that cannot be read has no digest', () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    const throws = Object.defineProperty({}, 'bad', {
      get: () => {
        throw new Error('may not be read');
      },
      enumerable: true,
    });
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    for (const value of [cycle, throws, proxy, Promise.resolve(1), new WeakMap()]) {
      expect([of(value), of({ value: [value] })]).toEqual([undefined, undefined]);
    }
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(of(value)).toBe(of(value));
      }),
    );
  });

  test('E5: a proxy with many keys has no digest, and is asked once for their names, not for each of them', () => {
    const keys = Array.from({ length: 200_000 }, (_, index) => `k${index}`);
    let asked = 0;
    const proxy = new Proxy(
      {},
      {
        ownKeys: () => keys,
        getOwnPropertyDescriptor: () => {
          asked += 1;
          return { configurable: true, enumerable: true, value: 1 };
        },
      },
    );
    expect(of(proxy)).toBeUndefined();
    expect(asked).toBe(0);
    expect(of(Object.fromEntries(keys.slice(0, 100_000).map((key) => [key, 1])))).toBeDefined();
  });

  test('E5: an iterator, a size or a map function of its own is not used, so that none runs without end', () => {
    const never = () => {
      throw new Error('runs without end');
    };
    const own = { [Symbol.iterator]: never, map: never, entries: never, values: never };
    for (const value of [new Map([['a', 1]]), new Set(['a']), ['a']]) {
      expect(of(Object.assign(structuredClone(value), own))).toBe(of(value));
      expect(of(value)).toBeDefined();
    }
    const liar = Object.defineProperty(new Set(Array.from({ length: 3_000_000 }, (_, index) => index)), 'size', {
      value: 0,
    });
    expect(of(liar)).toBeUndefined();
  });

  test('E5: the keys of a proxy are listed once', () => {
    let lists = 0;
    const ownKeys = (target: object) => {
      lists += 1;
      return Reflect.ownKeys(target);
    };
    expect(of(new Proxy({ a: 1, b: 2 }, { ownKeys }))).toBe(of({ b: 2, a: 1 }));
    expect(lists).toBe(1);
  });

  test.each([Number.NaN, -1e15])('E5: a proxy whose length is %d does not lift the limit', (length) => {
    const liar = new Proxy([], { get: (target, key) => (key === 'length' ? length : Reflect.get(target, key)) });
    expect(of([liar, 'x'.repeat(5_000_000)])).toBeUndefined();
  });

  test('E5: the tag of an array of bytes counts', () => {
    const tagged = Object.defineProperty(new Uint8Array(1), Symbol.toStringTag, { value: 'x'.repeat(5_000_000) });
    expect(of(tagged)).toBeUndefined();
  });

  test('E5: a BigInt of more than 65,536 bits has no digest', () => {
    expect([of(2n ** 65_535n - 1n), of(2n ** 65_535n)]).toEqual([expect.any(String), undefined]);
  });

  test('E5: the digest of a few objects that reference each other ends', () => {
    let shared: unknown = [];
    for (let level = 0; level < 64; level += 1) shared = [shared, shared];
    expect(of(shared)).toBeUndefined();
  });

  test('Q2: the digest differs under another seed, and a seed cannot be guessed', () => {
    const seeds = [0, 1, -1, 2 ** 31, 2 ** 32, 2 ** 52, 2 ** 53 - 1, ...Array.from({ length: 1000 }, randomSeed)];
    expect(new Set(seeds.map((seed) => digest('secret', seed))).size).toBe(seeds.length);
  });

  test('Q2: 50,000 similar values have different digests, in each quarter of their bits', () => {
    const quarters = [0, 1, 2, 3].map(() => new Set<string>());
    for (let index = 0; index < 50_000; index += 1) {
      const found = of(Array.from({ length: 16 }, (_, bit) => (index >> bit) & 1)) ?? '';
      for (const [at, quarter] of quarters.entries()) quarter.add(found.slice(8 * at, 8 * at + 8));
    }
    for (const quarter of quarters) expect(50_000 - quarter.size).toBeLessThan(10); // By chance 0.3 pairs are equal.
  });
});

describe('O5: the arguments of a call', () => {
  test('O5: small arguments are hashed before the tool can change them', () => {
    const value = { ids: [1, 2, 3] };
    const given = input(value);
    value.ids.length = 0;
    expect(given.digest()).toBe(input({ ids: [1, 2, 3] }).digest());
  });

  test('O5: large arguments are hashed once, when their digest is first needed', () => {
    const value = { page: LARGE, seen: 0 };
    const given = input(value);
    value.seen = 1;
    const first = given.digest();
    expect(first).toBe(input({ ...value }).digest());
    value.seen = 2;
    expect(given.digest()).toBe(first);
  });

  test('O5: arguments that were released before, or cannot be read, match no others', () => {
    const all = [input(LARGE), input(LARGE), input(new WeakMap()), input(new WeakMap())];
    for (const one of all.slice(0, 2)) one.forget();
    expect(new Set(all.map((one) => one.digest())).size).toBe(4);
    expect(all[0]?.digest()).toBe(all[0]?.digest());
  });

  test('Q2: neither arguments nor digest can be listed or serialized', () => {
    for (const value of ['secret', `secret ${LARGE}`]) {
      const given = input(value);
      given.digest();
      expect(JSON.stringify({ given, again: { ...given } })).toBe('{"given":{},"again":{}}');
      expect(inspect(given, { depth: 9, showHidden: true })).toBe('CallInput {}');
    }
  });
});
