/** Bytes that a reference to a part costs, at least. So the number of parts is bounded too. */
const PART = 16;

/** Deepest nesting. `structuredClone` calls itself for each level, and how many fit depends on who calls. */
const DEEPEST = 200;

/** Most prototypes that data have. */
const MOST_PROTOTYPES = 3;

/**
 * Number of prototypes that data have, by their tags; an instance of a user's class has one more. `structuredClone` turns such an
 * instance into an object without methods, and a response into an empty object, without an error.
 */
const PROTOTYPES: ReadonlyMap<string, number> = new Map([
  ['Object', 1],
  ...['Array', 'Date', 'Map', 'Set', 'RegExp', 'ArrayBuffer', 'DataView'].map((tag) => [tag, 2] as const),
  ...['Int8', 'Uint8', 'Uint8Clamped', 'Int16', 'Uint16', 'Int32', 'Uint32', 'Float32', 'Float64', 'BigInt64'].map(
    (kind) => [`${kind}Array`, MOST_PROTOTYPES] as const,
  ),
  ['BigUint64Array', MOST_PROTOTYPES],
]);

/**
 * Bytes of a copy of a value by `structuredClone`, roughly: an object counts once, and a text each time, as they are copied. Undefined
 * if it is larger than `limit`, nested deeper than 200 levels, or not only data: an instance of a class, or a property with a getter, which may give something else
 * each time. `structuredClone` checks what is not an object. Throws where a part does.
 */
export const dataSize = (value: unknown, limit: number): number | undefined => {
  const objects = new Set<object>(); // Iterating a set also visits entries that are added meanwhile.
  let bytes = 0;
  const count = (part: unknown): void => {
    if (typeof part === 'string') bytes += 2 * part.length;
    else if (typeof part === 'bigint') bytes += bytesOfBigInt(part);
    else if (typeof part === 'object' && part !== null) objects.add(part);
  };
  count(value);
  let seen = 0;
  let level = 0;
  let endOfLevel = 0;
  for (const one of objects) {
    if (seen === endOfLevel) {
      level += 1;
      endOfLevel = objects.size;
    }
    if (level > DEEPEST) return undefined;
    seen += 1;
    if (Object.hasOwn(one, Symbol.toStringTag) || one instanceof Error) return undefined; // It may say that it is something else.
    const tag = Object.prototype.toString.call(one).slice(8, -1);
    if (prototypesOf(one) > (PROTOTYPES.get(tag) ?? -1)) return undefined;
    bytes += PART + ownBytes(one);
    if (bytes > limit) return undefined; // Before the parts are listed: an array may say that it has millions.
    if (!ArrayBuffer.isView(one)) for (const part of partsOf(one, tag, limit / PART)) count(part);
    if (bytes + objects.size * PART > limit) return undefined;
  }
  return bytes > limit ? undefined : bytes;
};

/** A few sizes suffice: the time to write digits grows faster than their number. */
const bytesOfBigInt = (value: bigint): number => {
  if (BigInt.asIntN(64, value) === value) return PART;
  return BigInt.asIntN(65_536, value) === value ? 8_192 : Number.POSITIVE_INFINITY;
};

/** Stops early: a proxy may be its own prototype. */
const prototypesOf = (value: object): number => {
  let count = 0;
  for (let one = Object.getPrototypeOf(value); one !== null && count <= MOST_PROTOTYPES; count += 1) {
    one = Object.getPrototypeOf(one);
  }
  return count;
};

const ownBytes = (value: object): number => {
  if (ArrayBuffer.isView(value)) return bytesOf(bufferOf(value)); // A copy of a view has its whole buffer.
  if (value instanceof ArrayBuffer) return bytesOf(value);
  if (value instanceof RegExp) return 2 * sourceOf(value).length;
  if (Array.isArray(value)) return PART * value.length;
  const sized = [Map, Set].find((one) => value instanceof one);
  return sized === undefined ? 0 : PART * (getter(sized.prototype, 'size')(value) as number);
};

/** The language's own getter: an object may have a property of that name. */
const getter = (prototype: object, name: string): ((of: object) => unknown) => {
  const get = Object.getOwnPropertyDescriptor(prototype, name)?.get;
  return (of) => get?.call(of);
};
const bytesOf = getter(ArrayBuffer.prototype, 'byteLength') as (buffer: object) => number;
const sourceOf = getter(RegExp.prototype, 'source') as (regex: object) => string;
const bufferOfArray = getter(Object.getPrototypeOf(Uint8Array.prototype), 'buffer');
const bufferOfView = getter(DataView.prototype, 'buffer');
const bufferOf = (view: object): object =>
  (view instanceof DataView ? bufferOfView(view) : bufferOfArray(view)) as object;

/** Read by the language's own functions: an object may have an iterator of its own, which never ends. */
const partsOf = (value: object, tag: string, most: number): Iterable<unknown> => {
  if (tag === 'Map') return [...Map.prototype.entries.call(value)].flat();
  if (tag === 'Set') return Set.prototype.values.call(value);
  const keys = Object.keys(value);
  if (keys.length > most) throw NOT_DATA; // Before each is looked at.
  const parts = keys.map((key) => partOf(value, key));
  // An array's own names come after its indexes.
  const names = Array.isArray(value) ? keys.slice(keys.findLastIndex((key) => /^\d+$/.test(key)) + 1) : keys;
  return [...names, ...parts];
};

const partOf = (value: object, key: string): unknown => {
  const { value: part, get } = Object.getOwnPropertyDescriptor(value, key) ?? {};
  if (get !== undefined) throw NOT_DATA;
  return part;
};

/** Made once, because stacks are expensive. */
const NOT_DATA = new TypeError('It has a getter, or too many properties.');
