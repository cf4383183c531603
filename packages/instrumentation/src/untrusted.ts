import { read } from '@breakerbox/core/internal';

/**
 * Reads a value that a tool gave or threw; undefined if reading it throws. That error is not logged, because its text is the tool's own.
 */
export const orUndefined = <Value>(get: () => Value): Value | undefined => {
  try {
    return get();
  } catch {
    return undefined;
  }
};

/** Whether a value has a function under a key. Tools may return any value, even a proxy that throws on access. */
export const hasMethod = (value: unknown, key: PropertyKey): boolean =>
  typeof read(value, key as string) === 'function';

export const isThenable = (value: unknown): value is PromiseLike<unknown> => hasMethod(value, 'then');

/** Whether a tool answers piece by piece, by the AI SDK's own test. */
export const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  hasMethod(value, Symbol.asyncIterator);
