/** Milliseconds of work before other work of the process has its turn. */
const TURN_MS = 5;

/** Work in parts: each `yield` is a place where it may wait. */
export type Parts<Result> = Generator<undefined, Result>;

/** What work gave, and how many milliseconds it took. */
export interface Worked<Result> {
  readonly result: Result;
  readonly spentMs: number;
}

interface Waiting {
  take(): void;
  /** Whether nothing waits for the work any more. */
  isGone(): boolean;
}

const waiting: Waiting[] = [];
let isPlanned = false;

const plan = (): void => {
  if (isPlanned || waiting.length === 0) return;
  isPlanned = true;
  setImmediate(runNext);
};

/** What is gone takes no turn of its own: thousands of requests whose clients have left would keep others waiting. */
const runNext = (): void => {
  isPlanned = false;
  for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
    const isGone = one.isGone();
    one.take();
    if (!isGone) break;
  }
  plan();
};

const queue = (take: () => void, isGone: () => boolean = () => false): void => {
  waiting.push({ take, isGone });
  plan();
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
export const ownTurn = (isGone: () => boolean): Promise<void> => new Promise((resolve) => queue(resolve, isGone));

/** Does all of it at once. */
export const atOnce = <Result>(parts: Parts<Result>): Result => {
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
  }
};
