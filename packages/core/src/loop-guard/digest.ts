/**
 * Digests of arguments and results, so that the engine can recognise equal ones without keeping them (O5). The hash is
 * not cryptographic. A digest reveals nothing because the seed is secret and the digest never leaves the process.
 */

/** Characters, keys and elements that are read at once. That takes a few microseconds. */
const SMALL = 2_048;

/** The same for any value. Beyond that, a value equals no other. */
const LARGE = 4_000_000;

/** What a key counts, beside its characters. So at most 125,000 keys are read. */
const KEY = 32;

/** A seed that can't be guessed: 53 bits of randomness. Some edge platforms allow randomness only inside a request. */
export const randomSeed = (): number => {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high & 0x1f_ffff) * 2 ** 32 + low;
};

let secret: number | undefined;

/** A seed that can't be guessed: the same for equal names in this process, so that a restored session has the digests that it had. */
export const seedFor = (name: string): number => {
  secret ??= randomSeed();
  return Number.parseInt(hashOfText(name, secret).slice(0, 13), 16);
};

/**
 * 128 bits of a text, as 32 hexadecimal digits.
 *
 * @param seed any number; hashes made with different seeds have nothing in common.
 */
export const hashOfText = (text: string, seed: number): string => {
  const into = begin(seed, Number.POSITIVE_INFINITY);
  addText(into, text);
  return hexOf(into);
};

/**
 * A hash under way. It takes a text piece by piece, wherever that is cut, so that the text of a value is never put together.
 * Source: cyrb128 by bryc (public domain), with a seed.
 */
interface Hash {
  a: number;
  b: number;
  c: number;
  d: number;
  /** How much more may be read. */
  room: number;
}

const begin = (seed: number, room: number): Hash => {
  const high = Math.floor(seed / 2 ** 32);
  return {
    a: 1_779_033_703 ^ seed,
    b: 3_144_134_277 ^ high,
    c: 1_013_904_242 ^ seed,
    d: 2_773_480_762 ^ high,
    room,
  };
};

/** @throws if more is read than there is room for. */
const take = (into: Hash, size: number): void => {
  into.room -= Math.max(size, 0); // A proxy may give any length.
  if (!(into.room >= 0)) throw TOO_LARGE;
};

const addText = (into: Hash, text: string): void => {
  let { a, b, c, d } = into;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    a = b ^ Math.imul(a ^ code, 597_399_067);
    b = c ^ Math.imul(b ^ code, 2_869_860_233);
    c = d ^ Math.imul(c ^ code, 951_274_213);
    d = a ^ Math.imul(d ^ code, 2_716_044_179);
  }
  into.a = a;
  into.b = b;
  into.c = c;
  into.d = d;
};

/** What JSON escapes in a string: quotation marks, backslashes, control characters, and halves of characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are meant.
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/** A string as JSON writes it. */
const addString = (into: Hash, text: string): void =>
  addText(into, ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`);

/** All bits, as 8 characters that nothing prints. */
const rawOf = (into: Hash): string => {
  let a = Math.imul(into.c ^ (into.a >>> 18), 597_399_067);
  let b = Math.imul(into.d ^ (into.b >>> 22), 2_869_860_233);
  let c = Math.imul(a ^ (into.c >>> 17), 951_274_213);
  let d = Math.imul(b ^ (into.d >>> 19), 2_716_044_179);
  a = a ^ b ^ c ^ d;
  b ^= a;
  c ^= a;
  d ^= a;
  return String.fromCharCode(a >>> 16, a & 0xffff, b >>> 16, b & 0xffff, c >>> 16, c & 0xffff, d >>> 16, d & 0xffff);
};

const hexOf = (into: Hash): string => {
  const raw = rawOf(into);
  let text = '';
  for (let index = 0; index < raw.length; index += 1) {
    const code = raw.charCodeAt(index);
    text += `${BYTES[code >>> 8]}${BYTES[code & 255]}`;
  }
  return text;
};
const BYTES = Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, '0'));

/**
 * A digest of any value: the same string for equal values, another one for different values. Synchronous, and never throws.
 *
 * Values are equal if their JSON is equal, in any order of keys. Beyond JSON, `NaN`, BigInt, Map, Set and errors count by their
 * content. `undefined` for a value that can't be read: cycles, objects that hide their content, a BigInt of more than
 * 65,536 bits, and values of more than four million characters, keys and elements.
 *
 * @example
 * ```ts
 * const seed = randomSeed();
 * digest({ city: 'Oslo', days: 3 }, seed) === digest({ days: 3, city: 'Oslo' }, seed); // true
 * ```
 */
export const digest = (value: unknown, seed: number): string | undefined => {
  const hash = hashOf(value, seed, LARGE);
  return hash && hexOf(hash);
};

const hashOf = (value: unknown, seed: number, room: number): Hash | undefined => {
  const into = begin(seed, room);
  try {
    addValue(into, value);
    return into;
  } catch {
    return undefined;
  }
};

/** Made once, because stacks are expensive. */
const TOO_LARGE = new RangeError('The value is too large to be read now.');
const HIDDEN = new TypeError('The value hides its content.');

/** Adds a value as JSON with sorted keys, and with more kinds of values than JSON has. */
const addValue = (into: Hash, value: unknown): void => {
  take(into, 1);
  if (typeof value === 'string') {
    take(into, value.length);
    addString(into, value);
  } else if (typeof value === 'bigint') addText(into, textOfBigInt(into, value));
  else if (value === 0)
    addText(into, '0'); // -0, too.
  else if (typeof value === 'function' || typeof value === 'symbol')
    addText(into, typeof value); // All of them count the same.
  else if (typeof value !== 'object' || value === null) addText(into, String(value));
  else if (Array.isArray(value)) addArray(into, value);
  else addObject(into, value);
};

const addArray = (into: Hash, value: readonly unknown[]): void => {
  const { length } = value;
  take(into, length);
  addText(into, '[');
  // By index: an array may have an iterator or a `map` of its own, which never ends.
  for (let index = 0; index < length; index += 1) {
    if (index > 0) addText(into, ',');
    addValue(into, value[index]);
  }
  addText(into, ']');
};

/** Most bits of a BigInt that are read. The time to write digits grows faster than their number. */
const MOST_BITS = 65_536;

const textOfBigInt = (into: Hash, value: bigint): string => {
  if (BigInt.asIntN(MOST_BITS, value) !== value) throw TOO_LARGE;
  const text = `${value}n`;
  take(into, text.length);
  return text;
};

const isEnumerable = Object.prototype.propertyIsEnumerable;

const addObject = (into: Hash, value: object): void => {
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === null;
  if (!isPlain && addOther(into, value)) return;
  const keys = keysOf(into, value);
  if (keys.length === 0 && !isPlain) throw HIDDEN;
  addText(into, '{');
  for (const key of keys) {
    const one = (value as Record<string, unknown>)[key];
    if (one === undefined) continue;
    take(into, key.length);
    addString(into, key);
    addText(into, ':');
    addValue(into, one);
    addText(into, ',');
  }
  addText(into, '}');
};

/** Listed once, and counted before each is looked at: a proxy runs the caller's code for all of it. */
const keysOf = (into: Hash, value: object): readonly string[] => {
  const own = Reflect.ownKeys(value);
  take(into, KEY * own.length);
  const keys: string[] = [];
  for (const key of own) if (typeof key === 'string' && isEnumerable.call(value, key)) keys.push(key);
  return keys.length <= FEW ? sortFew(keys) : keys.sort();
};

/** Nearly all objects. `sort()` takes longer for them than the hash does. */
const FEW = 8;

const sortFew = (keys: string[]): string[] => {
  for (let index = 1; index < keys.length; index += 1) {
    const key = keys[index] as string;
    let at = index;
    for (; at > 0 && (keys[at - 1] as string) > key; at -= 1) keys[at] = keys[at - 1] as string;
    keys[at] = key;
  }
  return keys;
};

/** Adds an object whose content is not in its properties. Returns whether it is one. */
const addOther = (into: Hash, value: object): boolean => {
  const items = itemsOf(value);
  if (items !== undefined) {
    take(into, items.size);
    addText(into, items.name);
    addValue(into, Array.from(items.all()));
    return true;
  }
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    take(into, value.byteLength);
    // One character for each byte.
    const tag = Object.prototype.toString.call(value);
    take(into, tag.length);
    addText(into, tag + new TextDecoder('latin1').decode(value as ArrayBuffer));
    return true;
  }
  if (value instanceof Error) {
    addText(into, 'Error');
    addValue(into, [value.name, value.message]);
    return true;
  }
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON !== 'function') return false;
  addValue(into, toJSON.call(value));
  return true;
};

/** Read by the language's own functions: an object may have an iterator of its own, which never ends. */
const itemsOf = (value: object) => {
  if (value instanceof Map) {
    return { name: 'Map', size: sizeOf(Map.prototype, value), all: () => Map.prototype.entries.call(value) };
  }
  return value instanceof Set
    ? { name: 'Set', size: sizeOf(Set.prototype, value), all: () => Set.prototype.values.call(value) }
    : undefined;
};

/** An object may have a `size` of its own as well. */
const sizeOf = (prototype: object, value: object): number => Reflect.get(prototype, 'size', value);

/** Counts the digests that match no other. */
let unequalled = 0;

/**
 * The arguments of one call, for as long as their digest may be needed. Small ones are hashed at once. Large ones are
 * kept until their digest is needed, because hashing a megabyte takes milliseconds and most calls succeed without a digest. If a
 * tool changes large arguments during its call, a digest that is taken later is of the changed ones.
 *
 * All of it is private, so that neither JSON nor `console.log` shows arguments (Q2).
 */
export class CallInput {
  readonly #seed: number;
  #digest: string | undefined;
  /** Undefined once the arguments are no longer kept. */
  #value: unknown;

  constructor(value: unknown, seed: number) {
    this.#seed = seed;
    const hash = hashOf(value, seed, SMALL);
    this.#digest = hash && rawOf(hash);
    this.#value = this.#digest === undefined ? value : undefined;
  }

  /** The digest, computed once. Arguments that can't be read, or were released before, match no others. */
  digest(): string {
    if (this.#digest === undefined) {
      const found = this.#value === undefined ? undefined : hashOf(this.#value, this.#seed, LARGE);
      this.forget();
      unequalled += 1;
      this.#digest = found ? rawOf(found) : `like no other ${unequalled}`;
    }
    return this.#digest;
  }

  /** The call is over, or was not made: drops the arguments. */
  forget(): void {
    this.#value = undefined;
  }
}
