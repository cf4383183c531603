/** Milliseconds of work before other work of the process has its turn. */
const TURN_MS = 5;

/** Work in parts: each `yield` is a place where it may wait. */
export type Parts<Result> = Generator<undefined, Result>;

/** What work gave, and how many milliseconds it took. */
export interface Worked<Result> {
  readonly result: Result;
  readonly spentMs: number;
}

const waiting: (() => void)[] = [];

const runNext = (): void => {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(runNext);
};

const queue = (turn: () => void): void => {
  waiting.push(turn);
  if (waiting.length === 1) setImmediate(runNext);
};

/**
 * Does work in turns of 5 ms. All work takes turns one after the other, with I/O between them: neither one long answer nor many of them
 * stop the process, and a short answer waits for one turn of each.
 */
export const inTurns = <Result>(parts: Parts<Result>): Promise<Worked<Result>> =>
  new Promise((resolve, reject) => {
    let spentMs = 0;
    const turn = (): void => {
      const began = performance.now();
      try {
        let now = began;
        do {
          const { done, value } = parts.next();
          now = performance.now();
          if (done) {
            resolve({ result: value, spentMs: spentMs + now - began });
            return;
          }
        } while (now - began < TURN_MS);
        spentMs += now - began;
        queue(turn);
      } catch (error) {
        reject(error);
      }
    };
    queue(turn);
  });

/**
 * Resolves when other work has had its turn since the last one of these. Requests that have waited for the same thing, such as the file of
 * tokens, would otherwise be answered all at once.
 */
export const ownTurn = (): Promise<void> => new Promise((resolve) => queue(resolve));

/** Does all of it at once. */
export const atOnce = <Result>(parts: Parts<Result>): Result => {
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
  }
};
