import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { digest, randomSeed } from './digest.ts';

const SEED = 20_261_120;
const of = (value: unknown): string => digest(value, SEED);

const fail = (): never => {
  throw new Error('may not be read');
};
const traps = { get: fail, has: fail, ownKeys: fail, getPrototypeOf: fail, getOwnPropertyDescriptor: fail };

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

class Hidden {
  readonly #inside: number;
  constructor(inside: number) {
    this.#inside = inside;
  }
  reveal(): number {
    return this.#inside;
  }
}

describe('E5: a digest never fails', () => {
  test.each([
    ['a proxy that throws', new Proxy({}, traps)],
    ['an array whose proxy throws', new Proxy([], traps)],
    ['a revoked proxy', revoked({})],
    ['a revoked array', revoked([])],
    ['a map behind a proxy', new Proxy(new Map(), {})],
    [
      'what only says that it is a map',
      new (class {
        readonly [Symbol.toStringTag] = 'Map';
      })(),
    ],
    [
      'what only says that it is a date',
      new (class {
        readonly [Symbol.toStringTag] = 'Date';
      })(),
    ],
    [
      'a tag that throws',
      new (class {
        get [Symbol.toStringTag]() {
          return fail();
        }
      })(),
    ],
    ['a promise', Promise.resolve(1)],
    ['a weak map', new WeakMap()],
    ['an abort signal', new AbortController().signal],
    ['private fields', new Hidden(1)],
  ])('E5: %s is equal to itself alone', (_, value) => {
    expect(of(value)).toBe(of(value));
    expect(of(value)).not.toBe(of(new Hidden(1)));
    expect(of({ value })).not.toBe(of({ value: {} }));
  });

  test('E5: a property that throws is opaque, and the others count', () => {
    const partly = (rest: number) => Object.defineProperty({ rest }, 'bad', { get: fail, enumerable: true });
    expect(of(partly(1))).toBe(of(partly(1)));
    expect(of(partly(1))).not.toBe(of(partly(2)));
    expect(of(partly(1))).not.toBe(of({ rest: 1 }));
    expect(of(revoked(() => 1))).toBe(of(fail));
  });

  test('E5: no code of the value is called where its data will do', () => {
    const value = { toJSON: fail, toString: fail, valueOf: fail, [Symbol.toPrimitive]: fail };
    expect(of({ a: value })).toBe(of({ a: { ...value } }));
    const date = Object.assign(new Date(3), { getTime: fail, toJSON: fail });
    expect(of(date)).toBe(of(new Date(3)));
  });

  test('E5: a getter may ask for a digest itself', () => {
    const value = Object.defineProperty({ z: 1 }, 'a', { get: () => of('inner').length > 0, enumerable: true });
    expect(of(value)).toBe(of({ a: true, z: 1 }));
  });

  test('E5: anything at all', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withSparseArray: true,
      withNullPrototype: true,
      withObjectString: true,
      withBoxedValues: true,
    });
    fc.assert(
      fc.property(anything, fc.double(), (value, seed) => {
        expect(digest(value, seed)).toBe(digest(value, seed));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('Q2: a digest gives nothing away', () => {
  test('Q2: it is 128 bits, however much it stands for', () => {
    const shape = /^[\s\S]{8}$/;
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(of(value)).toMatch(shape);
      }),
    );
    expect(of({ password: 'hunter2'.repeat(1000) })).toMatch(shape);
  });

  test('Q2: it is another one under another seed', () => {
    const seeds = [0, 1, -1, 2 ** 31, 2 ** 32, 2 ** 52, 2 ** 53 - 1, 0.5 + 2 ** 33];
    expect(new Set(seeds.map((seed) => digest('secret', seed))).size).toBe(seeds.length);
    expect(digest('secret', Number.NaN)).toBe(digest('secret', 0)); // No seed is refused.
  });

  test('Q2: a seed is a whole number of 53 bits, another one each time', () => {
    const seeds = Array.from({ length: 1000 }, randomSeed);
    expect(new Set(seeds).size).toBe(1000);
    expect(seeds.every((seed) => Number.isSafeInteger(seed) && seed >= 0)).toBe(true);
    expect(seeds.some((seed) => seed > 2 ** 51)).toBe(true);
  });

  test('Q2: its four lanes are as good as drawn by chance', () => {
    const lanes = [0, 1, 2, 3].map(() => new Set<string>());
    const count = 50_000;
    for (let index = 0; index < count; index += 1) {
      const signs = Array.from({ length: 16 }, (_, bit) => (((index >> bit) & 1) === 0 ? 1.5 : -1.5));
      const digest = of(signs);
      for (const [lane, found] of lanes.entries()) found.add(digest.slice(2 * lane, 2 * lane + 2));
    }
    // By chance each lane has 0.3 pairs that are equal.
    for (const lane of lanes) expect(count - lane.size).toBeLessThan(10);
  });
});
