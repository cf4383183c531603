import { hasMethod } from './has-method.ts';
import { isAsyncIterable, iterate, type Pieces } from './iterate.ts';
import type { Run } from './run.ts';
import { standIn } from './stand-in.ts';

/**
 * Follows what a tool returned, where it is read piece by piece: its end or its error settles the call. Anything else is the
 * answer itself. So are web streams and Node's, which can be read in ways that nobody sees from here.
 */
export const concluded = <Output>(run: Run, result: Output): Output => {
  if (!isAsyncIterable(result) || hasMethod(result, 'getReader') || hasMethod(result, 'pipe'))
    return run.returned(result);
  const pieces = iterate(run, result, (last) => {
    run.ended(result);
    return last;
  });
  return standIn(result, hasMethod(result, 'next') ? iteratorMembers(result, pieces) : iterableMembers(result, pieces));
};

type Members = ReadonlyMap<PropertyKey, unknown>;

/** A generator, or what is made like one: all that it has of an iterator's members goes through ours. */
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

/** What can be read again is followed the first time: the next one is no new call. */
const iterableMembers = (source: AsyncIterable<unknown>, pieces: Pieces<unknown>): Members => {
  let begun = false;
  const read = (): AsyncIterator<unknown> => {
    if (begun) return source[Symbol.asyncIterator]();
    begun = true;
    return pieces;
  };
  return new Map([[Symbol.asyncIterator, read]]);
};
