/** Bytes that a reference to a part costs, at least. So the number of parts is bounded too. */
const PART = 16;

/** Deepest nesting. `structuredClone` calls itself for each level, and how many fit depends on who calls. */
const DEEPEST = 200;

/** Number of prototypes that data have, by their tags; an instance of a user's class has one more. */
const PROTOTYPES: Readonly<Record<string, number>> = { Object: 1, Array: 2, Date: 2 };

/**
 * Bytes of a copy of a value by `structuredClone`, roughly: an object counts once, and a text each time, as they are copied. Undefined
 * if it is larger than `limit`, nested deeper than 200 levels, or other than plain objects, lists, dates and primitives. An instance of
 * a class would lose its methods, a response its content, and a property with a getter may give something else each time. Throws where
 * a part does.
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
    if (level > DEEPEST || !isData(one)) return undefined;
    seen += 1;
    bytes += PART + (Array.isArray(one) ? PART * one.length : 0);
    if (bytes > limit) return undefined; // Before the parts are listed: an array may say that it has millions.
    for (const part of partsOf(one, limit / PART)) count(part);
    if (bytes + objects.size * PART > limit) return undefined;
  }
  return bytes > limit ? undefined : bytes;
};

/** A few sizes suffice: the time to write digits grows faster than their number. */
const bytesOfBigInt = (value: bigint): number => {
  if (BigInt.asIntN(64, value) === value) return PART;
  return BigInt.asIntN(65_536, value) === value ? 8_192 : Number.POSITIVE_INFINITY;
};

const isData = (value: object): boolean => {
  if (Object.hasOwn(value, Symbol.toStringTag) || value instanceof Error) return false; // It may say that it is something else.
  let left = PROTOTYPES[Object.prototype.toString.call(value).slice(8, -1)] ?? -1;
  // Stops early: a proxy may be its own prototype.
  for (let one = Object.getPrototypeOf(value); one !== null && left >= 0; left -= 1) one = Object.getPrototypeOf(one);
  return left >= 0;
};

const partsOf = (value: object, most: number): readonly unknown[] => {
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
