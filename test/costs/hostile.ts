/** Texts that made regular expressions slow, or could. */
const UNITS = [
  "MCP tool 'x' on server '",
  "Tool 'x' is unavailable ",
  'connect ECONNREFUSED 127.0.0.1:',
  'https://a.b/ returned status code ',
  'Error: the connection of the server ',
  'spawn a',
  '"x" [y] ',
  '(',
  'a',
  '0',
  ' ',
  '\n',
];

export const hostileTexts: readonly ((size: number) => string)[] = UNITS.map(
  (unit) => (size) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size),
);

const textAt = (index: number, size: number): string => hostileTexts[index % hostileTexts.length]?.(size) ?? '';

const chained = (count: number): Error => {
  let error = new Error('first');
  for (let link = 0; link < count; link += 1) error = new Error('next', { cause: error });
  return error;
};

const many = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Shapes of errors and results, by size in characters: of libraries, HTTP, JSON-RPC and MCP. */
export const SHAPES: readonly ((text: (size: number) => string, size: number) => unknown)[] = [
  (text, size) => text(size),
  (text, size) => new Error(text(size)),
  (text, size) => Object.assign(new Error(text(size)), { name: 'ToolException' }),
  (text, size) => Object.assign(new Error('x'), { name: text(size), code: text(size), stack: text(size) }),
  (text, size) => ({ isError: true, content: [{ type: 'text', text: text(size) }] }),
  (text, size) => ({ content: [{ type: 'text', text: text(size) }], structuredContent: { error: text(size) } }),
  (text, size) => ({ jsonrpc: '2.0', error: { code: -32_000, message: text(size), data: text(size) } }),
  (text, size) => ({
    message: text(size),
    status: 503,
    response: { status: 503, headers: { 'retry-after': text(size) }, data: { error: { message: text(size) } } },
  }),
];

/** Shapes whose size is their number of parts. */
export const LARGE: readonly ((size: number) => unknown)[] = [
  (size) => chained(size / 256),
  (size) => new AggregateError(many(size / 256, () => new Error('ECONNRESET'))),
  (size) => ({ isError: true, content: many(size / 32, () => ({ type: 'text', text: 'HTTP 503 ' })) }),
  (size) => ({ error: Object.fromEntries(many(size / 32, (index) => [`key${index}`, 'timeout'])) }),
];

/** Errors with each of the texts. */
export const hostileValues: readonly ((size: number) => unknown)[] = [
  ...UNITS.flatMap((_, index) =>
    SHAPES.slice(1, 3).map((shape) => (size: number) => shape((one) => textAt(index, one), size)),
  ),
];

/** One for each shape. */
export const fewValues: readonly ((size: number) => unknown)[] = [
  ...SHAPES.map((shape, index) => (size: number) => shape((one) => textAt(index, one), size)),
  ...LARGE,
];

/** Objects without an end. A reader that does not count its steps hangs. */
export const endless = (): Readonly<Record<string, unknown>> => {
  const lazy: object = new Proxy(Object.create(null), {
    get: (_, key) => (key === 'then' || typeof key === 'symbol' ? undefined : lazy),
    has: () => true,
  });
  const prototype: object = new Proxy({}, { getPrototypeOf: () => prototype });
  const list = new Proxy([], { get: (_, key) => (key === 'length' ? 2 ** 32 - 1 : key === 'then' ? undefined : 'x') });
  const keys = new Proxy(
    {},
    {
      ownKeys: () => Array.from({ length: 20_000 }, (_, index) => `key${index}`),
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
      get: (_, key) => (key === 'then' || typeof key === 'symbol' ? undefined : keys),
    },
  ) as object;
  const cause: object = {
    get cause() {
      return Object.create(cause);
    },
  };
  const itself: Record<string, unknown> = { isError: true };
  itself.error = itself;
  itself.content = [itself];
  return { lazy, prototype, list, keys, cause, itself, content: { isError: true, content: list } };
};
