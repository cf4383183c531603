import type { Parts } from './turns.ts';

/** Bytes that `JSON.parse` gets at a time. */
const PART_BYTES = 32 * 1024;
/** Lists and objects within one another. The control API has at most 9. */
const MOST_DEPTH = 32;
/** Values. The control API writes 66,000 for each MB. */
const MOST_VALUES = 400_000;
/** Objects that differ in their keys or in the order of them, and what they begin with. The control API has about 100. Each costs V8 time. */
const MOST_SHAPES = 1_000;

/** Of this process alone, so that others cannot choose keys of which the numbers are equal. */
const [SEED = 1, FACTOR = 1] = crypto.getRandomValues(new Uint32Array(2)).map((one) => one | 1);

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const LIST = 0x5b;
const LIST_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;

/** JSON that has more than an answer can have. */
export class LimitError extends Error {
  override readonly name = 'LimitError';
}

/** A list or an object whose end was not read yet. */
interface Open {
  readonly isList: boolean;
  /** Where its bracket is. */
  readonly at: number;
  /** The first byte that `JSON.parse` has not had. */
  from: number;
  /** Where its current element begins. */
  element: number;
  /** Its elements so far; undefined while it is small enough to be read with what is around it. */
  read?: unknown[] | Record<string, unknown>;
  /** Its current element was read on its own. */
  isElementRead: boolean;
  /** A hash of its keys so far. */
  shape: number;
}

/**
 * What `JSON.parse` gives, in parts: it would read a hostile answer of 4 MB for half a second.
 *
 * @throws LimitError if it is nested too deep, or has too many values or kinds of objects.
 * @throws SyntaxError if it is not JSON.
 */
export function* parsedJson(bytes: Buffer): Parts<unknown> {
  const reader = createReader(bytes);
  while (!reader.run()) yield;
  return reader.result();
}

const createReader = (bytes: Buffer) => {
  const opened: Open[] = [];
  const shapes = new Set<number>();
  const text: TextOf = (from, to) => bytes.toString('utf8', from, to);
  let values = 0;
  let index = 0;
  let found: { readonly value: unknown; readonly end: number } | undefined;
  let key = 0;

  const open = (isList: boolean): void => {
    if (found !== undefined) throw new SyntaxError('more than one value');
    const from = index + 1;
    opened.push({ isList, at: index, from, element: from, isElementRead: false, shape: SEED });
    if (opened.length > MOST_DEPTH) throw new LimitError(`has lists or objects nested more than ${MOST_DEPTH} deep`);
    count();
  };

  const count = (): void => {
    values += 1;
    if (values > MOST_VALUES) throw new LimitError(`has more than ${MOST_VALUES} values`);
  };

  const named = (inner: Open): void => {
    inner.shape = hashOf(bytes, key, index, inner.shape);
    shapes.add(inner.shape);
    if (shapes.size > MOST_SHAPES) throw new LimitError(`has more than ${MOST_SHAPES} kinds of objects`);
  };

  const next = (inner: Open): void => {
    count();
    if (inner.isElementRead || index - inner.from >= PART_BYTES) readUpTo(opened, index, text);
    inner.element = index + 1;
  };

  const close = (inner: Open, isList: boolean): void => {
    if (inner.isList !== isList) throw new SyntaxError('a bracket of the other kind');
    if (inner.read !== undefined) readUpTo(opened, index, text);
    opened.pop();
    const outer = opened.at(-1);
    if (outer === undefined) found = { value: inner.read ?? JSON.parse(text(0, index + 1)), end: index + 1 };
    else if (inner.read !== undefined) {
      add(outer, inner, text);
      outer.from = index + 1;
      outer.isElementRead = true;
    }
  };

  /** Reads the next part. True at the end. */
  const run = (): boolean => {
    const to = Math.min(bytes.length, index + PART_BYTES);
    for (; index < to; index += 1) {
      const byte = bytes[index];
      const inner = opened.at(-1);
      if (byte === QUOTE) {
        key = index;
        index = stringEnd(bytes, index);
      } else if (byte === LIST || byte === OBJECT) open(byte === LIST);
      else if (inner === undefined) continue;
      else if (byte === COMMA) next(inner);
      else if (byte === COLON) named(inner);
      else if (byte === LIST_END || byte === OBJECT_END) close(inner, byte === LIST_END);
    }
    return index >= bytes.length;
  };

  return {
    run,
    result: (): unknown => {
      if (found === undefined) return JSON.parse(text(0, bytes.length));
      if (text(found.end, bytes.length).trim() !== '') throw new SyntaxError('more than one value');
      return found.value;
    },
  };
};

/** Where the string ends that begins here. */
const stringEnd = (bytes: Buffer, from: number): number => {
  for (let index = from + 1; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === BACKSLASH) index += 1;
    else if (byte === QUOTE) return index;
  }
  return bytes.length;
};

const hashOf = (bytes: Buffer, from: number, to: number, start: number): number => {
  let hash = start;
  for (let index = from; index < to; index += 1) {
    hash = Math.imul(hash ^ (bytes[index] ?? 0), FACTOR);
    hash ^= hash >>> 15;
  }
  return hash;
};

type TextOf = (from: number, to: number) => string;

/** Reads what is left of the innermost list or object up to here. What is around it is then read on its own too. */
const readUpTo = (opened: readonly Open[], to: number, text: TextOf): void => {
  for (const [depth, one] of opened.entries()) {
    const inner = opened[depth + 1];
    if (inner === undefined) readPart(one, to, text);
    else if (one.element > one.from) readPart(one, one.element - 1, text); // Without the comma.
    one.read ??= one.isList ? [] : {};
    if (inner === undefined) one.from = to + 1;
    else one.from = one.element;
  }
};

const readPart = (one: Open, to: number, text: TextOf): void => {
  const part = text(one.from, to);
  if (one.isElementRead) {
    if (part.trim() !== '') throw new SyntaxError('no comma');
    one.isElementRead = false;
    return;
  }
  if (part.trim() === '') throw new SyntaxError('no value');
  const more: unknown = JSON.parse(one.isList ? `[${part}]` : `{${part}}`);
  if (one.read === undefined) one.read = more as NonNullable<Open['read']>;
  else if (Array.isArray(one.read)) for (const value of more as readonly unknown[]) one.read.push(value);
  else for (const [key, value] of Object.entries(more as object)) define(one.read, key, value);
};

/** An element that was read on its own. */
const add = (outer: Open, inner: Open, text: TextOf): void => {
  const key = text(outer.element, inner.at).trim();
  if (Array.isArray(outer.read) && key === '') outer.read.push(inner.read);
  else if (outer.read !== undefined && !outer.isList && key.endsWith(':'))
    define(outer.read as Record<string, unknown>, String(JSON.parse(key.slice(0, -1))), inner.read);
  else throw new SyntaxError('no value');
};

/** As `JSON.parse` does it: `__proto__` is a key like any other. */
const define = (into: object, key: string, value: unknown): void => {
  Object.defineProperty(into, key, { value, enumerable: true, writable: true, configurable: true });
};
