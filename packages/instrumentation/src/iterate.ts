import type { Run } from './run.ts';

/** A generator's members. An object has all of them or none. */
export type Pieces<Piece> = Required<AsyncIterableIterator<Piece>>;

/**
 * Follows a stream of pieces to its end. Each piece is made in the permit's context of the call, which a generator would lose
 * between pieces. A stop ends the wait for the next piece at once.
 *
 * @param settle Called after the last piece. Returns it, or what replaces it. Default: the last piece is the tool's answer.
 */
export const iterate = <Piece>(
  run: Run,
  source: AsyncIterable<Piece>,
  settle: (last: Piece | undefined) => Piece | undefined = (last) => run.returned(last),
): Pieces<Piece> => {
  const { context } = run; // The reader of a piece may have another context.
  const within = <Value>(part: () => Value): Value => run.enter(part, { context });
  const iterator: AsyncIterator<Piece> = within(() => source[Symbol.asyncIterator]());
  let last: Piece | undefined;
  let pieces = false;
  let over = false;
  let stopped: { readonly reason: unknown } | undefined;
  /** Waiting readers. A race with one long-lived promise would keep all pieces in memory until the end. */
  const waiting = new Set<(reason: unknown) => void>();

  run.onStopped((reason) => {
    stopped = { reason };
    for (const giveUp of waiting) giveUp(reason);
    // A generator cleans up when it runs again. There is no need to wait for that.
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
      if (over) return found; // A later or concurrent `next()`.
      over = true;
      const answer = settle(last);
      // The last piece has been given already, so the labelled one is an additional piece (F1).
      return pieces && !Object.is(answer, last) ? { done: false, value: answer as Piece } : found;
    } catch (error) {
      over = true;
      throw run.threw(error);
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

/** The answer of a tool that gives pieces: the last piece. */
export const lastOf = async (pieces: AsyncIterable<unknown>): Promise<unknown> => {
  let last: unknown;
  for await (const piece of pieces) last = piece;
  return last;
};

/** An answer as the one piece of a tool that gives pieces. */
export const once = <Piece>(answer: Promise<Piece>): AsyncGenerator<Piece> => {
  answer.catch(() => {}); // If the piece is never read, its error is not reported either.
  return (async function* () {
    yield await answer;
  })();
};
