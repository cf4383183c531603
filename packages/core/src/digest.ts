import { finish, type Lanes, lanesOf, sized, text, word } from './digest-lanes.ts';

/**
 * Digests of arguments and results, so that the engine can recognise equal ones without keeping them (O5, F1, F2, Q2). The value is
 * walked, and each part is fed into the lanes of a hash; no string of the whole value is built. The hash is not cryptographic. A
 * digest reveals nothing because the seed is secret and the digest never leaves the process.
 */

/** Levels of nesting that count. Deeper levels make no difference. */
const DEPTH_LIMIT = 64;

/** Parts of one value that count. A handful of objects that share one another can otherwise make 2^64 of them. */
const PART_LIMIT = 1_000_000;

/** Elements, keys, characters and bytes that count; more than a string can have. A small integer, because those are fast. */
const ROOM_LIMIT = 2 ** 30 - 1;

/**
 * The kind of the part that follows. Each part starts with its kind and size, so that no two values make the same sequence of
 * words.
 */
const KIND = {
  undefined: 0,
  null: 1,
  false: 2,
  true: 3,
  whole: 4,
  double: 5,
  nan: 6,
  text: 7,
  bigint: 8,
  symbol: 9,
  array: 10,
  object: 11,
  instance: 12,
  itself: 13,
  cycle: 14,
  opaque: 15,
} as const;

interface Walk extends Lanes {
  /** Parts that may still be walked. */
  left: number;
  /** Elements, keys, characters and bytes that may still be read. Below 0: there were more, and the walk has stopped. */
  room: number;
  /** The objects that the walk is inside of. */
  readonly path: object[];
}

/**
 * A digest of any value: the same string for equal values, another one for different values (128 bits). Synchronous, and never
 * throws.
 *
 * Values are equal if their JSON is equal, in any order of keys (0 and -0 are equal too). Beyond JSON, the digest also covers
 * `undefined`, `NaN`, BigInt, Date, Map and Set (in their order), typed arrays, errors, URLs and own enumerable properties. Cycles
 * are handled. All functions count the same, and so do properties that can't be read. An object that hides its content (private
 * fields, a proxy that throws) equals only itself. `toJSON` isn't called.
 *
 * @param seed any number; digests made with different seeds have nothing in common. See {@link randomSeed}.
 * @example
 * ```ts
 * const seed = randomSeed();
 * digest({ city: 'Oslo', days: 3 }, seed) === digest({ days: 3, city: 'Oslo' }, seed); // true
 * ```
 */
export const digest = (value: unknown, seed: number): string => finish(walked(value, seed, ROOM_LIMIT));

/**
 * The same digest if the value has at most `room` elements, keys, characters and bytes in total. Otherwise undefined, without
 * reading further.
 */
export const digestOfSmall = (value: unknown, seed: number, room: number): string | undefined => {
  const lanes = walked(value, seed, room);
  return lanes.room < 0 ? undefined : finish(lanes);
};

const walked = (value: unknown, seed: number, room: number): Walk => {
  const low = seed | 0;
  const high = Math.floor(seed / 2 ** 32) | 0;
  const lanes: Walk = { ...lanesOf(low, high), left: PART_LIMIT, room, path: [] };
  word(lanes, high);
  word(lanes, low);
  try {
    walk(lanes, value);
  } catch {
    word(lanes, KIND.opaque); // The stack was nearly full before.
  }
  return lanes;
};

/** A seed that can't be guessed: 53 bits of randomness. Some edge platforms allow randomness only inside a request. */
export const randomSeed = (): number => {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high & 0x1f_ffff) * 2 ** 32 + low;
};

const double = new Float64Array(1);
const halves = new Int32Array(double.buffer);

const number = (lanes: Walk, value: number): void => {
  if (value === (value | 0)) {
    word(lanes, KIND.whole);
    word(lanes, value | 0); // -0 becomes 0.
  } else if (Number.isNaN(value)) {
    word(lanes, KIND.nan);
  } else {
    double[0] = value;
    word(lanes, KIND.double);
    word(lanes, halves[0] ?? 0);
    word(lanes, halves[1] ?? 0);
  }
};

/** Characters, unless there are more than there is room for. */
const spell = (lanes: Walk, kind: number, value: string): void => {
  if (hasRoom(lanes, value.length)) text(lanes, kind, value);
};

/** Takes room. Where there is too little, the walk stops. */
const hasRoom = (lanes: Walk, size: number): boolean => {
  lanes.room -= size;
  if (lanes.room >= 0) return true;
  lanes.left = 0;
  return false;
};

const walk = (lanes: Walk, value: unknown): void => {
  lanes.left -= 1;
  if (typeof value === 'string') spell(lanes, KIND.text, value);
  else if (typeof value === 'number') number(lanes, value);
  else if (typeof value === 'boolean') word(lanes, value ? KIND.true : KIND.false);
  else if (value === null) word(lanes, KIND.null);
  else if (typeof value === 'object') inside(lanes, value);
  else if (value === undefined) word(lanes, KIND.undefined);
  else if (typeof value === 'bigint') spell(lanes, KIND.bigint, value.toString(16));
  else if (typeof value === 'symbol') spell(lanes, KIND.symbol, value.description ?? '');
  else word(lanes, KIND.opaque);
};

const inside = (lanes: Walk, value: object): void => {
  const { path } = lanes;
  const depth = path.length;
  const above = path.lastIndexOf(value);
  if (above >= 0) {
    sized(lanes, KIND.cycle, depth - above);
  } else if (depth >= DEPTH_LIMIT || lanes.left <= 0) {
    word(lanes, KIND.opaque);
  } else {
    path.push(value);
    try {
      if (Array.isArray(value)) items(lanes, value);
      else if (isPlain(value)) properties(lanes, value);
      else instance(lanes, value);
    } catch {
      itself(lanes, value);
    }
    path.length = depth;
  }
};

const items = (lanes: Walk, values: readonly unknown[]): void => {
  const { length } = values;
  sized(lanes, KIND.array, length);
  if (!hasRoom(lanes, length)) return;
  for (let index = 0; index < length && lanes.left > 0; index += 1) property(lanes, values, index);
};

const properties = (lanes: Walk, value: object): void => {
  const keys = Object.keys(value);
  if (!hasRoom(lanes, keys.length)) return;
  if (!isSorted(keys)) keys.sort();
  sized(lanes, KIND.object, keys.length);
  for (const key of keys) {
    if (lanes.left <= 0) break;
    spell(lanes, KIND.text, key);
    property(lanes, value, key);
  }
};

const property = (lanes: Walk, value: object, key: string | number): void => {
  let one: unknown;
  try {
    one = (value as Record<string | number, unknown>)[key];
  } catch {
    one = unreadable;
  }
  walk(lanes, one);
};

/** Functions all count the same. */
const unreadable = (): void => {};

/** An object that is not made of own properties alone. Uses tags, not `instanceof`, because tags work across realms. */
const instance = (lanes: Walk, value: object): void => {
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  spell(lanes, KIND.instance, tag);
  if (ArrayBuffer.isView(value)) bytes(lanes, new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  else if (tag === 'ArrayBuffer') bytes(lanes, new Uint8Array(value as ArrayBuffer));
  else if (tag === 'Date') number(lanes, Date.prototype.getTime.call(value));
  else if (tag === 'RegExp') spell(lanes, KIND.text, RegExp.prototype.toString.call(value));
  else if (tag === 'Map') entries(lanes, Map.prototype.entries.call(value));
  else if (tag === 'Set') entries(lanes, Set.prototype.values.call(value));
  else if (tag === 'URL') property(lanes, value, 'href');
  else ownProperties(lanes, value, tag);
};

const ownProperties = (lanes: Walk, value: object, tag: string): void => {
  if (tag === 'Error') for (const key of ['name', 'message', 'cause']) property(lanes, value, key);
  else if (Object.keys(value).length === 0) itself(lanes, value);
  properties(lanes, value);
};

const entries = (lanes: Walk, values: Iterable<unknown>): void => {
  let count = 0;
  for (const one of values) {
    if (lanes.left <= 0 || !hasRoom(lanes, 1)) break;
    walk(lanes, one);
    count += 1;
  }
  sized(lanes, KIND.instance, count); // An end mark that can't be taken for another element.
};

const bytes = (lanes: Walk, values: Uint8Array): void => {
  const { length } = values;
  if (!hasRoom(lanes, length)) return;
  sized(lanes, KIND.text, length);
  for (let index = 0; index < length; index += 4) {
    const [a = 0, b = 0, c = 0, d = 0] = [values[index], values[index + 1], values[index + 2], values[index + 3]];
    word(lanes, a | (b << 8) | (c << 16) | (d << 24));
  }
};

/** Numbers of the objects whose content can't be read. */
const numbers = new WeakMap<object, number>();
let latest = 0;

const itself = (lanes: Walk, value: object): void => {
  const known = numbers.get(value) ?? ++latest;
  numbers.set(value, known);
  word(lanes, KIND.itself);
  number(lanes, known);
};

/** Objects as JSON makes them. In another realm their prototype is another object, which has no prototype itself. */
const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
};

const isSorted = (keys: readonly string[]): boolean => {
  for (let index = 1; index < keys.length; index += 1) {
    if ((keys[index - 1] ?? '') > (keys[index] ?? '')) return false;
  }
  return true;
};
