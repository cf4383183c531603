/**
 * Digests of arguments and results, so that the engine can recognise equal ones without keeping them (O5, F1, F2, Q2). The hash is
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
 * Source: cyrb128 by bryc (public domain), with a seed.
 */
export const hashOfText = (text: string, seed: number): string => {
  const high = Math.floor(seed / 2 ** 32);
  let a = 1_779_033_703 ^ seed;
  let b = 3_144_134_277 ^ high;
  let c = 1_013_904_242 ^ seed;
  let d = 2_773_480_762 ^ high;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    a = b ^ Math.imul(a ^ code, 597_399_067);
    b = c ^ Math.imul(b ^ code, 2_869_860_233);
    c = d ^ Math.imul(c ^ code, 951_274_213);
    d = a ^ Math.imul(d ^ code, 2_716_044_179);
  }
  a = Math.imul(c ^ (a >>> 18), 597_399_067);
  b = Math.imul(d ^ (b >>> 22), 2_869_860_233);
  c = Math.imul(a ^ (c >>> 17), 951_274_213);
  d = Math.imul(b ^ (d >>> 19), 2_716_044_179);
  const all = a ^ b ^ c ^ d;
  return hex(all) + hex(b ^ all) + hex(c ^ all) + hex(d ^ all);
};

const hex = (lane: number): string => (lane >>> 0).toString(16).padStart(8, '0');

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
export const digest = (value: unknown, seed: number, room = LARGE): string | undefined => {
  let left = room;
  const take = (size: number): void => {
    left -= Math.max(size, 0); // A proxy may give any length.
    if (!(left >= 0)) throw TOO_LARGE;
  };
  try {
    return hashOfText(textOf(value, take), seed);
  } catch {
    return undefined;
  }
};

/** Made once, because stacks are expensive. */
const TOO_LARGE = new RangeError('The value is too large to be read now.');
const HIDDEN = new TypeError('The value hides its content.');

/** A value as JSON with sorted keys, and with more kinds of values than JSON has. `take` stops the reading of a large one. */
const textOf = (value: unknown, take: (size: number) => void): string => {
  take(1);
  if (typeof value === 'string') {
    take(value.length);
    return JSON.stringify(value);
  }
  if (typeof value === 'bigint') return textOfBigInt(value, take);
  if (value === 0) return '0'; // -0, too.
  if (typeof value === 'function' || typeof value === 'symbol') return typeof value; // All of them count the same.
  if (typeof value !== 'object' || value === null) return String(value);
  if (!Array.isArray(value)) return textOfObject(value, take);
  const { length } = value;
  take(length);
  // By index: an array may have an iterator or a `map` of its own, which never ends.
  return `[${Array.from({ length }, (_, index) => textOf(value[index], take)).join()}]`;
};

/** Most bits of a BigInt that are read. The time to write digits grows faster than their number. */
const MOST_BITS = 65_536;

const textOfBigInt = (value: bigint, take: (size: number) => void): string => {
  if (BigInt.asIntN(MOST_BITS, value) !== value) throw TOO_LARGE;
  const text = `${value}n`;
  take(text.length);
  return text;
};

const isEnumerable = Object.prototype.propertyIsEnumerable;

const textOfObject = (value: object, take: (size: number) => void): string => {
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === null;
  const other = isPlain ? undefined : textOfOther(value, take);
  if (other !== undefined) return other;
  // Listed once, and counted before each is looked at: a proxy runs the caller's code for all of it.
  const own = Reflect.ownKeys(value);
  take(KEY * own.length);
  const keys = own.filter((key): key is string => typeof key === 'string' && isEnumerable.call(value, key)).sort();
  if (keys.length === 0 && !isPlain) throw HIDDEN;
  let text = '{';
  for (const key of keys) {
    const one = (value as Record<string, unknown>)[key];
    if (one === undefined) continue;
    take(key.length);
    text += `${JSON.stringify(key)}:${textOf(one, take)},`;
  }
  return `${text}}`;
};

/** Objects whose content is not in their properties; undefined for any other. */
const textOfOther = (value: object, take: (size: number) => void): string | undefined => {
  const items = itemsOf(value);
  if (items !== undefined) {
    take(items.size);
    return items.name + textOf(Array.from(items.all()), take);
  }
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    take(value.byteLength);
    // One character for each byte.
    const tag = Object.prototype.toString.call(value);
    take(tag.length);
    return tag + new TextDecoder('latin1').decode(value as ArrayBuffer);
  }
  if (value instanceof Error) return `Error${textOf([value.name, value.message], take)}`;
  const { toJSON } = value as { readonly toJSON?: unknown };
  return typeof toJSON === 'function' ? textOf(toJSON.call(value), take) : undefined;
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
 * The arguments of one call, for as long as their digest may be needed (O5, F1, F2). Small ones are hashed at once. Large ones are
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
    this.#digest = digest(value, seed, SMALL);
    this.#value = this.#digest === undefined ? value : undefined;
  }

  /** The digest, computed once. Arguments that can't be read, or were released before, match no others. */
  digest(): string {
    if (this.#digest === undefined) {
      const found = this.#value === undefined ? undefined : digest(this.#value, this.#seed);
      this.release();
      unequalled += 1;
      this.#digest = found ?? `like no other ${unequalled}`;
    }
    return this.#digest;
  }

  /** The call is over, or was not made: drops the arguments. */
  release(): void {
    this.#value = undefined;
  }
}
