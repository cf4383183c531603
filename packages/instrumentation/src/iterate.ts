import { enter } from './enter.ts';
import { hasMethod } from './has-method.ts';
import type { Run } from './run.ts';

/** Whether a tool answers piece by piece; as the AI SDK asks it. */
export const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  hasMethod(value, Symbol.asyncIterator);

/** A generator's members, which come together. */
export type Pieces<Piece> = Required<AsyncIterableIterator<Piece>>;

/**
 * Follows a stream of pieces to its end. Each piece is made in the permit's context, as it was at the call: a generator
 * would lose it between them. A stop ends the wait for the next piece at once.
 *
 * @param conclude told at the end of the last piece; gives it, or what takes its place. Default: it is the tool's answer.
 */
export const iterate = <Piece>(
  run: Run,
  source: AsyncIterable<Piece>,
  conclude: (last: Piece | undefined) => Piece | undefined = (last) => run.returned(last),
): Pieces<Piece> => {
  const { context } = run; // Who reads a piece may have another.
  const within = <Value>(part: () => Value): Value => enter({ context }, part);
  const iterator: AsyncIterator<Piece> = within(() => source[Symbol.asyncIterator]());
  let last: Piece | undefined;
  let pieces = false;
  let over = false;
  let stopped: { readonly reason: unknown } | undefined;
  /** Those who wait for a piece. A race with a promise that lasts would keep all pieces until the end. */
  const waiting = new Set<(reason: unknown) => void>();

  run.onStopped((reason) => {
    stopped = { reason };
    for (const giveUp of waiting) giveUp(reason);
    // A generator cleans up when it next gets to it; nobody waits for that.
    within(async () => iterator.return?.()).catch(() => {});
  });

  const step = async (given: [] | [unknown]): Promise<IteratorResult<Piece>> => {
    try {
      const found = await within(async () => iterator.next(...(given as [])));
      if (!found.done) {
        last = found.value;
        pieces = true;
        return found;
      }
      if (over) return found; // It was asked again, or by several at once.
      over = true;
      const answer = conclude(last);
      // The last piece is gone; with its label it is one more (F1).
      return pieces && !Object.is(answer, last) ? { done: false, value: answer as Piece } : found;
    } catch (error) {
      over = true;
      run.threw(error);
      throw error;
    }
  };

  const abandon = (): void => {
    if (!over) run.abandoned();
    over = true;
  };

  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: (...given) =>
      new Promise((resolve, reject) => {
        if (stopped !== undefined) return reject(stopped.reason);
        waiting.add(reject);
        step(given)
          .then(resolve, reject)
          .finally(() => waiting.delete(reject));
      }),
    return: async (value) => {
      abandon();
      return (await within(async () => iterator.return?.(value))) ?? { done: true, value };
    },
    throw: async (error) => {
      abandon();
      const found = await within(async () => iterator.throw?.(error));
      if (found === undefined) throw error;
      return found;
    },
  };
};

/** The answer of a tool that gives pieces: the last one. */
export const lastOf = async (pieces: AsyncIterable<unknown>): Promise<unknown> => {
  let last: unknown;
  for await (const piece of pieces) last = piece;
  return last;
};

/** An answer as the one piece of a tool that gives pieces. */
export const once = <Piece>(answer: Promise<Piece>): AsyncGenerator<Piece> => {
  answer.catch(() => {}); // Whoever never asks for the piece is not told of its error either.
  return (async function* () {
    yield await answer;
  })();
};
