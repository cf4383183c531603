/** Objects that never end, or that run code when they are read. Each is made new, because reading may change it. */

const endless = function* (): Generator<unknown> {
  for (;;) yield [1, 1];
};

const own = (value: object): object => Object.assign(value, { [Symbol.iterator]: endless });

const described = { configurable: true, enumerable: true, value: 1 };

const selfPrototype = (): object => {
  const proxy: object = new Proxy({}, { getPrototypeOf: () => proxy });
  return proxy;
};

const selfProperties = (): object => {
  const proxy: object = new Proxy(
    {},
    {
      getPrototypeOf: () => proxy,
      get: (_, key) => (typeof key === 'symbol' ? undefined : proxy),
      ownKeys: () => ['error', 'cause', 'content'],
      getOwnPropertyDescriptor: () => ({ ...described, value: proxy }),
    },
  );
  return proxy;
};

const lazy = (): object =>
  Object.defineProperties(
    {},
    Object.fromEntries(
      ['error', 'cause', 'content', 'result', 'tools'].map((key) => [
        key,
        { enumerable: true, configurable: true, get: lazy },
      ]),
    ),
  );

const selfCause = (): Error => {
  const error = new Error('x'.repeat(1_000_000));
  return Object.assign(error, { cause: error, errors: Array.from({ length: 100_000 }, () => error) });
};

const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = { error: value, cause: value, content: [value] };
  return value;
};

const answersItself = (): object => {
  const value = { toJSON: (): unknown => ({ one: value, other: value }), toString: (): string => String(value) };
  return value;
};

/** By what they are. */
export const HOSTILE: Readonly<Record<string, () => unknown>> = {
  'a proxy that is its own prototype': selfPrototype,
  'a proxy of which each property is itself': selfProperties,
  'getters without end': lazy,
  'a set with an endless iterator': () => own(new Set()),
  'a map with an endless iterator': () => own(new Map()),
  'an array with an endless iterator': () => own([1]),
  'an array whose map function never ends': () => Object.assign([1], { map: () => [...endless()] }),
  'a generator': endless,
  'an array of four billion holes': () => new Array(2 ** 32 - 1),
  'an array that says it has more': () => new Proxy([], { get: (_, key) => (key === 'length' ? 2 ** 53 - 1 : 1) }),
  'a proxy with many keys': () =>
    new Proxy(
      {},
      {
        ownKeys: () => Array.from({ length: 100_000 }, (_, key) => `k${key}`),
        getOwnPropertyDescriptor: () => described,
      },
    ),
  'a false array buffer': () => ({ [Symbol.toStringTag]: 'ArrayBuffer', byteLength: 2 ** 40 }),
  'a number of a million digits': () => 16n ** 4_000_000n,
  'text of 64 million characters': () => 'x'.repeat(64_000_000),
  'an object that answers with itself': answersItself,
  'an error that is its own cause': selfCause,
  'nesting that doubles at each level': () => nested(64),
  'deep nesting': () => JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`),
};
