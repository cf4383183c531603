import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { digest, digestOfSmall } from './digest.ts';

const SEED = 20_261_120;
const of = (value: unknown): string => digest(value, SEED);

function nested(depth: number, leaf: unknown): unknown {
  let value = leaf;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { value };
  return value;
}

/** The text of a JSON value with its keys in order: equal for equal values alone. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const entries = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`);
  return `{${entries.sort().join()}}`;
}

/** The same value with the keys of each object in reverse, all of it copied. */
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
  test('O5: equal arguments have equal digests whatever the order of their keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(of(reversed(value))).toBe(of(value));
        expect(of(JSON.parse(JSON.stringify(value)))).toBe(of(value));
      }),
      { numRuns: 1000 },
    );
  });

  test('O5: two JSON values have the same digest if and only if they are equal', () => {
    const sameAs = (a: unknown, b: unknown) => {
      expect(of(a) === of(b)).toBe(canonical(a) === canonical(b));
    };
    fc.assert(fc.property(fc.jsonValue(), fc.jsonValue(), sameAs), { numRuns: 1000 });
    fc.assert(fc.property(similar, similar, sameAs), { numRuns: 5000 });
  });

  test('O5: arguments that differ a little have different digests', () => {
    const values: readonly unknown[] = [
      undefined,
      null,
      false,
      true,
      0,
      1,
      -1,
      1.5,
      -1.5,
      2 ** 31,
      2 ** 53,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      Number.MIN_VALUE,
      0n,
      1n,
      -1n,
      2n ** 200n,
      '',
      '0',
      'a',
      'a\0',
      '\0a',
      'aa',
      '\ud800',
      '\ufffd',
      Symbol('a'),
      Symbol('b'),
      () => {},
      [],
      [[]],
      [undefined],
      [null],
      ['a'],
      ['a', ''],
      ['', 'a'],
      [1, 2],
      [2, 1],
      [1.5, -1.5],
      [-1.5, 1.5],
      [-1.5, -1.5],
      [1.5, 1.5],
      {},
      [{}],
      { a: undefined },
      { a: null },
      { a: {} },
      { a: [] },
      { a: 1, b: 2 },
      { a: 2, b: 1 },
      { a: { b: 1 }, c: 2 },
      { a: { b: 1, c: 2 } },
      new Date(0),
      new Date(1),
      new Date(Number.NaN),
      new Map(),
      new Map([['a', 1]]),
      new Map([['a', 2]]),
      new Map([
        ['a', 1],
        ['b', 2],
      ]),
      new Set(),
      new Set(['a']),
      new Set(['a', 1]),
      new Uint8Array(0),
      new Uint8Array([1]),
      new Uint8Array([1, 0]),
      new Uint8Array([0, 0, 0, 128]),
      new Uint8Array([0, 0, 0, 0, 1]),
      new Int8Array([1]),
      new Uint16Array([1]),
      new Uint8Array([1]).buffer,
      new DataView(new Uint8Array([2]).buffer),
      /a/,
      /a/g,
      new Error('a'),
      new Error('b'),
      new TypeError('a'),
      new Error('a', { cause: 'b' }),
      Object.assign(new Error('a'), { code: 'ENOENT' }),
      new URL('https://example.com/a'),
      new URL('https://example.com/b'),
    ];
    expect(new Set(values.map(of)).size).toBe(values.length);
  });

  test.each([
    ['0 and -0, which are one number', 0, -0],
    ['NaN', Number.NaN, 0 / 0],
    ['a BigInt', 123n, BigInt('123')],
    ['dates', new Date(5), new Date(5)],
    ['maps', new Map([[{ a: 1 }, [2]]]), new Map([[{ a: 1 }, [2]]])],
    ['sets', new Set([1, 'x']), new Set([1, 'x'])],
    ['bytes', new Uint8Array([1, 2, 3, 4, 255]), Buffer.from([1, 2, 3, 4, 255])],
    ['bytes elsewhere in a buffer', new Uint8Array([9, 7, 8]).subarray(1), new Uint8Array([7, 8])],
    ['URLs', new URL('https://example.com'), new URL('https://example.com/')],
    ['errors', new RangeError('far'), new RangeError('far')],
    ['an object with no prototype', { a: 1 }, Object.assign(Object.create(null), { a: 1 })],
    ['an object of another realm', { a: {} }, runInNewContext('({ a: {} })')],
    ['a date of another realm', new Date(7), runInNewContext('new Date(7)')],
    ['a hole', [undefined, 1], new Array(2).fill(1, 1)],
    ['functions, whatever they do', { run: () => 1 }, { run: () => 2 }],
    ['a getter', { a: 1 }, Object.defineProperty({}, 'a', { get: () => 1, enumerable: true })],
  ])('O5: equal: %s', (_, a, b) => {
    expect(of(b)).toBe(of(a));
  });

  test('O5: one object in two places counts as two equal ones', () => {
    const shared = { x: [1] };
    expect(of([shared, shared])).toBe(of([{ x: [1] }, { x: [1] }]));
  });

  test('O5: a cycle ends, equal ones are equal, and it matters where it leads', () => {
    const ring = (name: string) => {
      const one: Record<string, unknown> = { name };
      one.me = one;
      return one;
    };
    const outer: unknown[] = [];
    outer.push([outer]);
    const inner: unknown[] = [[]];
    (inner[0] as unknown[]).push(inner[0]);
    expect(of(ring('a'))).toBe(of(ring('a')));
    expect(of(ring('a'))).not.toBe(of(ring('b')));
    expect(of(outer)).not.toBe(of(inner));
  });

  test('O5: 64 levels count, deeper ones make no difference, and no depth is too deep', () => {
    expect(of(nested(63, 'a'))).not.toBe(of(nested(63, 'b')));
    expect(of(nested(64, 'a'))).not.toBe(of(nested(64, 'b')));
    expect(of(nested(65, 'a'))).toBe(of(nested(65, 'b')));
    expect(of(nested(200_000, 'a'))).toBe(of(nested(200_000, 'b')));
  });

  test('O5: levels are counted from the outside, after a part that has ended too', () => {
    expect(of([[], nested(63, 'a')])).not.toBe(of([[], nested(63, 'b')]));
    expect(of([[], nested(64, 'a')])).toBe(of([[], nested(64, 'b')]));
  });

  test('O5: each character and each byte counts in its place', () => {
    const texts = Array.from({ length: 5 * 16 }, (_, bit) =>
      String.fromCharCode(...Array.from({ length: 5 }, (__, index) => (index === bit >> 4 ? 1 << (bit & 15) : 0))),
    );
    const bytes = Array.from({ length: 9 * 8 }, (_, bit) =>
      new Uint8Array(9).fill(1 << (bit & 7), bit >> 3, (bit >> 3) + 1),
    );
    expect(new Set(texts.map(of)).size).toBe(texts.length);
    expect(new Set(bytes.map(of)).size).toBe(bytes.length);
  });

  test('O5: the whole of a long text counts', () => {
    const megabyte = 'x'.repeat(2 ** 20);
    const texts = [megabyte, `${megabyte}x`, `y${megabyte.slice(1)}`, `${megabyte.slice(1)}y`];
    expect(new Set(texts.map(of)).size).toBe(4);
    expect(of(`${megabyte}`)).toBe(of(megabyte));
  });

  test('O5: a million parts count, so that what has no end is cut', () => {
    const endless = new Proxy([], { get: (_, key) => (key === 'length' ? Number.MAX_SAFE_INTEGER : 1) });
    let bomb: unknown = 'leaf';
    for (let level = 0; level < 60; level += 1) bomb = { a: bomb, b: bomb };
    const with1At = (index: number) => new Array(1_000_100).fill(0).fill(1, index, index + 1);
    const setTo = (last: number) =>
      new Set(Array.from({ length: 1_000_100 }, (_, one) => (one < 1_000_050 ? one : -last - one)));
    expect(of(endless)).toBe(of(endless));
    expect(of(bomb)).toBe(of(bomb));
    expect(of(with1At(999_000))).not.toBe(of(with1At(999_001)));
    expect(of(with1At(1_000_050))).toBe(of(with1At(1_000_051)));
    expect(of(setTo(1))).toBe(of(setTo(2)));
  });
});

describe('O5: digests of small values', () => {
  const ofSmall = (value: unknown, room = 20): string | undefined => digestOfSmall(value, SEED, room);

  test('O5: a small value has the digest that it has otherwise, and a large one has none', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.jsonValue(), fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true })),
        (value) => {
          const found = ofSmall(value);
          if (found !== undefined) expect(found).toBe(of(value));
          expect(ofSmall(value, 1_000_000)).toBe(of(value));
        },
      ),
      { numRuns: 1000 },
    );
  });

  /** Each entry is three elements: the pair and what is in it. */
  const mapOf = (size: number) => new Map(Array.from({ length: size }, (_, one) => [one, one]));

  test.each<readonly [string, unknown, unknown]>([
    ['characters', 'x'.repeat(20), 'x'.repeat(21)],
    ['digits', 2n ** 79n, 2n ** 80n],
    ['elements', new Array(20).fill(1), new Array(21).fill(1)],
    ['keys and their characters', { abcd: 1, efghi: 2, jklmno: 3 }, { abcd: 1, efghi: 2, jklmnop: 3, q: 4 }],
    ['bytes, and the name of their kind', new Uint8Array(10), new Uint8Array(11)],
    ['elements of a set', new Set(new Array(17).keys()), new Set(new Array(18).keys())],
    ['entries of a map', mapOf(5), mapOf(6)],
    [
      'what nested ones have together',
      [['x'.repeat(5)], { a: 'x'.repeat(10) }],
      [['x'.repeat(6)], { a: 'x'.repeat(10) }],
    ],
  ])('O5: %s count', (_, small, large) => {
    expect(ofSmall(small)).toBe(of(small));
    expect(ofSmall(large)).toBeUndefined();
  });

  test('O5: what follows too large a part is not read', () => {
    let reads = 0;
    const counting = Object.defineProperty({}, 'late', { enumerable: true, get: () => (reads += 1) });
    for (const value of [
      ['x'.repeat(30), counting],
      new Array(30).fill(counting),
      { a: 'x'.repeat(30), b: counting },
    ]) {
      expect(ofSmall(value)).toBeUndefined();
    }
    expect(reads).toBe(0);
  });

  test('E5: no value is too strange', () => {
    const fail = (): never => {
      throw new Error('may not be read');
    };
    const traps = { get: fail, has: fail, ownKeys: fail, getPrototypeOf: fail, getOwnPropertyDescriptor: fail };
    const tagged = { [Symbol.toStringTag]: 'x'.repeat(30) };
    expect(ofSmall(new Proxy({}, traps))).toHaveLength(8);
    expect(ofSmall(Object.create(tagged))).toBeUndefined();
    expect(ofSmall(nested(200_000, 'a'), 1_000)).toBe(of(nested(200_000, 'a')));
  });
});
