import { isThenable } from './otherwise.ts';
import type { Run } from './run.ts';

/** Runs a part of the tool that may throw at once. */
export const attempt = <Value>(run: Run, part: () => Value): Value => {
  try {
    return run.enter(part);
  } catch (error) {
    run.threw(error);
    throw error;
  }
};

/** Makes of what a tool gave what the caller is to get. */
export type Conclude<Output> = (run: Run, arrived: Output) => Output;

/**
 * Runs the whole tool, and follows it to its end. What arrives after a stop is dropped, rejections too.
 *
 * @param conclude Default: what arrives is the tool's answer.
 */
export const perform = <Output>(
  run: Run,
  part: () => Output | PromiseLike<Output>,
  conclude?: Conclude<Output>,
): Promise<Output> => stoppable(run, performed(run, part, conclude));

/** The same for a result that is on its way. */
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

/** A promise of one's own making is lazy at times: a query that is sent when it is first waited for. That is to be in the permit's context too. */
const isLazy = (given: unknown): boolean => isThenable(given) && !isNative(given);

const isNative = (result: PromiseLike<unknown>): boolean =>
  result.then === Promise.prototype.then && result instanceof Promise;

/** A run that nobody can stop from outside needs no race. */
const stoppable = <Output>(run: Run, end: Promise<Output>): Promise<Output> =>
  run.bounded ? unlessStopped(run, end) : end;

const unlessStopped = <Output>(run: Run, end: Promise<Output>): Promise<Output> =>
  new Promise((resolve, reject) => {
    run.onStopped(reject);
    end.then(resolve, reject);
  });
