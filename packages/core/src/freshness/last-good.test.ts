import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { createLastGood, createResultPool } from './last-good.ts';

const UNIX = Date.UTC(2026, 10, 20, 21, 14, 3);

describe('F2: last good results', () => {
  test('F2: the last one for these arguments is returned, with its retrieval time', () => {
    const lastGood = createLastGood();
    lastGood.keep('weather', '1:2', 'rain', UNIX, 1000);
    lastGood.keep('weather', '1:2', 'sun', UNIX + 500, 1500);
    expect(lastGood.find('weather', '1:2', 60_000, 2000)).toEqual({ result: 'sun', retrievedUnixMs: UNIX + 500 });
  });

  test('F2: another tool, or other arguments, has no last good result', () => {
    const lastGood = createLastGood();
    lastGood.keep('weather', '1:2', 'rain', UNIX, 0);
    expect(lastGood.find('weather', '1:3', 60_000, 0)).toBeUndefined();
    expect(lastGood.find('news', '1:2', 60_000, 0)).toBeUndefined();
    expect(lastGood.find('2 weather', '1:', 60_000, 0)).toBeUndefined();
  });

  test('F2: a result is served up to its maximum age by the monotonic clock, and no longer', () => {
    const lastGood = createLastGood();
    lastGood.keep('weather', '1', 'rain', UNIX, 5000);
    const isThere = (maxAgeMs: number, ms: number) => lastGood.find('weather', '1', maxAgeMs, ms) !== undefined;
    expect([isThere(600, 5600), isThere(600, 5601), isThere(0, 5000), isThere(0, 5001)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(isThere(601, 5601)).toBe(true); // Being too old for one does not throw it away.
  });

  test.each([undefined, null, false, 0, ''])('F2: %s is a result too', (result) => {
    const lastGood = createLastGood();
    lastGood.keep('weather', '1', result, UNIX, 0);
    expect(lastGood.find('weather', '1', 1000, 0)).toEqual({ result, retrievedUnixMs: UNIX });
  });

  test('F2: a result is kept up to 200 levels deep: a deeper one may not fit on the stack when it is needed', () => {
    const lastGood = createLastGood();
    const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
    lastGood.keep('weather', '1', nested(200), UNIX, 0);
    lastGood.keep('weather', '2', nested(201), UNIX, 0);
    expect(lastGood.find('weather', '1', 1000, 0)).toEqual({ result: nested(200), retrievedUnixMs: UNIX });
    expect(lastGood.find('weather', '2', 1000, 0)).toBeUndefined();
  });

  test('F2: changes that a receiver makes to a result do not change the stored one', () => {
    const lastGood = createLastGood();
    const result = { celsius: 4, hours: [1] };
    lastGood.keep('weather', '1', result, UNIX, 0);
    const kept = () => lastGood.find('weather', '1', 1000, 0)?.result as typeof result;
    result.celsius = 40;
    kept().hours.push(2);
    expect(kept()).toEqual({ celsius: 4, hours: [1] });
  });

  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;

  test.each<[string, unknown]>([
    ['a BigInt', 1n],
    ['nested data', { a: [new Date(0), null, undefined, Number.NaN] }],
    ['an object without prototype', Object.assign(Object.create(null), { a: 1 })],
    ['a cycle', cyclic],
  ])('F2: data is stored: %s', (_, result) => {
    const lastGood = createLastGood();
    lastGood.keep('weather', '1', result, UNIX, 0);
    expect(lastGood.find('weather', '1', 1000, 0)?.result).toStrictEqual(structuredClone(result));
  });

  class Page {
    text = 'good';
  }
  const deep: unknown[] = [];
  for (let level = 0, at = deep; level < 100_000; level += 1) {
    const next: unknown[] = [];
    at.push(next);
    at = next;
  }

  test.each<[string, unknown]>([
    ['a response', new Response('good')],
    ['a response within', { page: new Response('good') }],
    ['a stream', new ReadableStream()],
    ['a generator', (async function* () {})()],
    ['a function', () => 1],
    ['a function within', { read: () => 1 }],
    ['a symbol', Symbol('a')],
    ['an instance', new Page()],
    ['an instance in a list', [new Page()]],
    ['a map', new Map([['a', 1]])],
    ['a set within', { found: new Set([1]) }],
    ['a regular expression', /x/g],
    ['bytes', Uint8Array.of(1, 2)],
    ['a list of bytes', [new ArrayBuffer(2)]],
    ['a list of a class', new (class extends Array {})()],
    ['a buffer', Buffer.from('good')],
    ['a promise', Promise.resolve(1)],
    ['an object that calls itself something else', { [Symbol.toStringTag]: 'Page' }],
    ['a weak map', new WeakMap()],
    ['more levels than the stack has', deep],
    [
      'what throws when it is read',
      {
        get a() {
          throw new Error('no');
        },
      },
    ],
  ])('F2, E5: a value that is not plain data is not stored: %s', (_, result) => {
    const lastGood = createLastGood();
    lastGood.keep('weather', '1', result, UNIX, 0);
    expect(lastGood.find('weather', '1', 1000, 0)).toBeUndefined();
  });

  test('F2: at most 200 results are stored, and the oldest is dropped first', () => {
    const lastGood = createLastGood();
    const isThere = (index: number) => lastGood.find('weather', `${index}`, 1000, 0) !== undefined;
    for (let index = 0; index < 200; index += 1) lastGood.keep('weather', `${index}`, index, UNIX, 0);
    lastGood.keep('weather', '0', 'again', UNIX, 0);
    expect(isThere(1)).toBe(true); // Being found keeps nothing.
    lastGood.keep('news', 'x', 'one more', UNIX, 0);
    expect([isThere(0), isThere(1), isThere(2), isThere(199)]).toEqual([true, false, true, true]);
  });
});

describe('F1: identical to the last answer', () => {
  test('F1: the same result for the same arguments in consecutive calls is identical', () => {
    const { identical } = createLastGood();
    const answers = ['r', 'r', 's', 'r', 'r'].map((result) => identical('weather', '1', result));
    expect(answers).toEqual([false, true, false, false, true]);
  });

  test('F1: other arguments and other tools have their own answers', () => {
    const { identical } = createLastGood();
    identical('weather', '1', 'r');
    expect([identical('weather', '2', 'r'), identical('news', '1', 'r')]).toEqual([false, false]);
    expect(identical('weather', '1', 'r')).toBe(true);
  });

  test('F1: the latest 200 answers are remembered', () => {
    const { identical } = createLastGood();
    for (let index = 0; index < 200; index += 1) identical('weather', `${index}`, 'r');
    expect(identical('weather', '0', 'r')).toBe(true);
    identical('weather', 'one more', 'r');
    expect([identical('weather', '0', 'r'), identical('weather', '1', 'r')]).toEqual([true, false]);
  });

  test('F1: the comparison does not change results stored for open circuits', () => {
    const lastGood = createLastGood();
    lastGood.identical('weather', '1', 'r');
    expect(lastGood.find('weather', '1', 1000, 0)).toBeUndefined();
  });
});

test('Q2: stored results can be neither listed nor serialized', () => {
  const lastGood = createLastGood();
  lastGood.keep('weather', '1', 'secret', UNIX, 0);
  expect(JSON.stringify(lastGood)).toBe('{}');
});

describe('the cost of last good results', () => {
  test('F2, E5: endless and lazy values are not stored, and nothing hangs', () => {
    const lazy = (): object => ({
      get next() {
        return lazy();
      },
    });
    const self: object = new Proxy({}, { getPrototypeOf: () => self });
    const endless = Object.assign([1], {
      *[Symbol.iterator]() {
        for (let index = 0; ; index += 1) yield { index };
      },
    });
    const lastGood = createLastGood();
    for (const [index, result] of [lazy(), self, { self }, new Array(4_000_000_000)].entries()) {
      lastGood.keep('weather', `${index}`, result, UNIX, 0);
      expect(lastGood.find('weather', `${index}`, 1000, 0), `${index}`).toBeUndefined();
    }
    lastGood.keep('weather', 'endless', endless, UNIX, 0); // Its elements are read, and not its iterator.
  });

  test('F2: a result of more than 1 MiB is not stored, however it is made', () => {
    const lastGood = createLastGood();
    const isStored = (result: unknown): boolean => {
      lastGood.keep('weather', '1', 'before', UNIX, 0);
      lastGood.keep('weather', '2', result, UNIX, 0);
      return lastGood.find('weather', '2', 1000, 0) !== undefined;
    };
    expect(isStored('x'.repeat(500_000))).toBe(true);
    const large = [
      'x'.repeat(600_000),
      // A copy has each text again, also where the original has one text many times.
      Array(1000).fill('x'.repeat(10_000)),
      Array.from({ length: 1000 }, () => ({ text: 'x'.repeat(10_000) })),
      Array.from({ length: 1000 }, () => ({ ['k'.repeat(10_000)]: 1 })),
      Array.from({ length: 100_000 }, () => ({})),
    ];
    const other = createLastGood();
    for (const result of large) {
      other.keep('weather', '1', result, UNIX, 0);
      expect(other.find('weather', '1', 1000, 0)).toBeUndefined();
    }
  });

  test('F2: all sessions of a box store at most 32 MiB together, and the oldest result is dropped first', () => {
    const pool = createResultPool();
    const sessions = Array.from({ length: 100 }, () => createLastGood(pool));
    for (const one of sessions) one.keep('weather', '1', 'x'.repeat(250_000), UNIX, 0);
    const stored = sessions.map((one) => one.find('weather', '1', 1000, 0) !== undefined);
    expect(stored.filter(Boolean)).toHaveLength(67);
    expect([stored[0], stored.at(-1)]).toEqual([false, true]);
    expect(pool.bytes()).toBeLessThanOrEqual(32 * 2 ** 20);
    for (const one of sessions) one.keep('weather', '1', 'small', UNIX, 0);
    expect(pool.bytes()).toBe(100 * 10);
  });

  test('F2: the results of sessions that the program has dropped do not stay in memory', async () => {
    const pool = createResultPool();
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    for (let round = 0; round < 10; round += 1) {
      for (let index = 0; index < 100; index += 1) {
        createLastGood(pool).keep('weather', '1', 'x'.repeat(10_000), UNIX, 0);
      }
      await new Promise((resolve) => setImmediate(resolve)); // What a WeakRef was made of is kept until the task ends.
      collect();
    }
    expect(pool.bytes()).toBeLessThan(400 * 20_000); // Of 1,000 that were kept.
  });
});

describe('F2, E5: what counts as data', () => {
  const kept = (result: unknown): boolean => {
    const lastGood = createLastGood();
    lastGood.keep('weather', '1', result, UNIX, 0);
    return lastGood.find('weather', '1', 60_000, 0) !== undefined;
  };
  const LONG = 'x'.repeat(10_000_000);

  test('what hides its size is not kept: huge BigInts, errors with a tag of their own, names of arrays', () => {
    expect(kept(1n << 80_000_000n)).toBe(false);
    expect(kept({ count: 1n << 80_000_000n })).toBe(false);
    expect(kept(Object.assign(new Error(LONG), { [Symbol.toStringTag]: 'Date' }))).toBe(false);
    expect(kept(Object.assign([1], { [LONG]: 1 }))).toBe(false);
    const shared = Object.defineProperty(new SharedArrayBuffer(8), Symbol.toStringTag, { value: 'Date' });
    expect(kept(shared)).toBe(false);
  });

  test('small ones are kept: numbers of any kind, dates, arrays with a name', () => {
    for (const one of [1n << 100n, { at: new Date(0) }, Object.assign([1, 2], { total: 2 })])
      expect(kept(one)).toBe(true);
  });

  test('the properties of an object with very many are not looked at', () => {
    let asked = 0;
    const keys = Array.from({ length: 200_000 }, (_, index) => `k${index}`);
    const getOwnPropertyDescriptor = () => {
      asked += 1;
      return { configurable: true, enumerable: true, value: 1 };
    };
    expect(kept(new Proxy({}, { ownKeys: () => keys, getOwnPropertyDescriptor }))).toBe(false);
    expect(asked).toBeLessThanOrEqual(keys.length); // Of Object.keys alone.
  });
});
