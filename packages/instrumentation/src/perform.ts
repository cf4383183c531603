import { isThenable } from './otherwise.ts';
import type { Run } from './run.ts';

/** Runs a part of the tool that may throw synchronously. */
export const attempt = <Value>(run: Run, part: () => Value): Value => {
  try {
    return run.enter(part);
  } catch (error) {
    run.threw(error);
    throw error;
  }
};

/** Turns the tool's result into the caller's. */
export type Conclude<Output> = (run: Run, arrived: Output) => Output;

/**
 * Runs the whole tool, and follows it to its end. Results and rejections that arrive after a stop are dropped.
 *
 * @param conclude Default: the result is the tool's answer.
 */
export const perform = <Output>(
  run: Run,
  part: () => Output | PromiseLike<Output>,
  conclude?: Conclude<Output>,
): Promise<Output> => stoppable(run, performed(run, part, conclude));

/** The same for a promise of a result. */
export const follow = <Output>(run: Run, result: PromiseLike<Output>): Promise<Output> =>
  stoppable(
    run,
    performed(run, () => result),
  );

const performed = async <Output>(
  run: Run,
  part: () => Output | PromiseLike<Output>,
  conclude: Conclude<Output> = answered,
): Promise<Output> => {
  try {
    const given = run.enter(part);
    return conclude(run, await (isLazy(given) ? run.enter(async () => given) : given));
  } catch (error) {
    run.threw(error);
    throw error;
  }
};

const answered = <Output>(run: Run, result: Output): Output => run.returned(result);

/** Other promise types may be lazy, such as a query that is sent when it is first awaited. It has to be awaited in the permit's context. */
const isLazy = (given: unknown): boolean => isThenable(given) && !isNative(given);

const isNative = (result: PromiseLike<unknown>): boolean =>
  result.then === Promise.prototype.then && result instanceof Promise;

/** A run that cannot be stopped from outside needs no race. */
const stoppable = <Output>(run: Run, end: Promise<Output>): Promise<Output> =>
  run.bounded ? unlessStopped(run, end) : end;

const unlessStopped = <Output>(run: Run, end: Promise<Output>): Promise<Output> =>
  new Promise((resolve, reject) => {
    run.onStopped(reject);
    end.then(resolve, reject);
  });
