import { annotated } from '@breakerbox/core/internal';
import { iterate, type Pieces } from './iterate.ts';
import { overlay } from './overlay.ts';
import type { Run } from './run.ts';
import { hasMethod, isAsyncIterable } from './untrusted.ts';

/**
 * Follows a result that can be read piece by piece and in no other way: its end or its error settles the call. A stream, a cursor or an emitter comes back unchanged, without a label. Code mostly reads it by its own members, which
 * cannot be followed from here, so its call would never be settled.
 */
export const followStream = <Output>(run: Run, result: Output): Output => {
  if (!isPiecesAlone(result)) {
    run.returned(result);
    return result;
  }
  const pieces = iterate(run, result, (last) => {
    run.ended(result);
    return last;
  });
  return readThrough(result, pieces);
};

/**
 * An answer with a note about it. A result that `followStream` follows has the note in its first piece: it can still be read piece by
 * piece, and that settles its call. Without a piece there is no note.
 */
export const annotateResult: typeof annotated = (answer, key, words) => {
  if (!isPiecesAlone(answer)) return annotated(answer, key, words);
  const pieces = answer[Symbol.asyncIterator]() as Pieces<unknown>;
  let begun = false;
  const next: Pieces<unknown>['next'] = async (...given) => {
    const isFirst = !begun;
    begun = true;
    const found = await pieces.next(...given);
    return isFirst && !found.done ? { done: false, value: annotated(found.value, key, words) } : found;
  };
  const withNote: Pieces<unknown> = { ...pieces, next };
  return readThrough(answer, withNote);
};

const ITERATOR_MEMBERS: ReadonlySet<PropertyKey> = new Set([
  Symbol.asyncIterator,
  'next',
  'return',
  'throw',
  ...(Symbol.asyncDispose ? [Symbol.asyncDispose] : []),
]);

/** Whether a value is a generator's object, or a plain object whose only members are those of an iterator. */
const isPiecesAlone = (value: unknown): value is AsyncIterable<unknown> => {
  if (!isAsyncIterable(value)) return false;
  try {
    const isKnown = isPlainObject(value) || Object.prototype.toString.call(value) === '[object AsyncGenerator]';
    return isKnown && Reflect.ownKeys(value).every((key) => ITERATOR_MEMBERS.has(key));
  } catch {
    return false; // A proxy that throws on access.
  }
};

const isPlainObject = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

/** The same object for the caller, read through our iterator. */
const readThrough = <Source extends AsyncIterable<unknown>>(source: Source, pieces: Pieces<unknown>): Source =>
  overlay(source, hasMethod(source, 'next') ? iteratorMembers(source, pieces) : iterableMembers(source, pieces));

type Members = ReadonlyMap<PropertyKey, unknown>;

/** For a generator or a similar object: all of its iterator members go through ours. */
const iteratorMembers = (source: object, pieces: Pieces<unknown>): Members => {
  const own: Readonly<Record<PropertyKey, unknown>> = {
    next: pieces.next,
    return: pieces.return,
    throw: pieces.throw,
    [Symbol.asyncIterator]: () => pieces,
    ...(Symbol.asyncDispose && { [Symbol.asyncDispose]: async () => void (await pieces.return()) }),
  };
  return new Map(Reflect.ownKeys(own).flatMap((key) => (hasMethod(source, key) ? [[key, own[key]] as const] : [])));
};

/** For an object that can be read again: the first read is followed. Later reads are not new calls. */
const iterableMembers = (source: AsyncIterable<unknown>, pieces: Pieces<unknown>): Members => {
  let begun = false;
  const read = (): AsyncIterator<unknown> => {
    if (begun) return source[Symbol.asyncIterator]();
    begun = true;
    return pieces;
  };
  return new Map([[Symbol.asyncIterator, read]]);
};
