import { diag } from '@opentelemetry/api';
import { visible } from '../report/width.ts';

/** Says that something threw which has no say in the outcome of a tool call (E5). Names in `what` write no lines of a log. */
export const reportThrown = (what: string, error: unknown): void => {
  try {
    diag.error(`Breakerbox: ${visible(what)} threw; the tool call goes on as if it hadn't.`, error);
  } catch {
    // The application's own logger threw, and there is nobody left to tell.
  }
};

/** Says what somebody should mend, and stops nothing. Names in it write no lines of a log. */
export const warn = (text: string): void => safely('the logger', () => diag.warn(`Breakerbox: ${visible(text)}`));

/** Runs what must not change the outcome of a tool call: its exception goes to OpenTelemetry's `diag` (E5). */
export const safely = <T>(what: string, run: () => T): T | undefined => {
  try {
    return run();
  } catch (error) {
    reportThrown(what, error);
    return undefined;
  }
};

/**
 * Hears of a promise's rejection, which would otherwise end the process, whichever realm or library the promise is of.
 *
 * @returns whether it is one.
 */
export const watchEnd = (what: string, returned: unknown): boolean => {
  if (typeof (returned as PromiseLike<unknown> | null | undefined)?.then !== 'function') return false;
  Promise.resolve(returned).then(undefined, (error) => reportThrown(what, error));
  return true;
};

/**
 * What a callback gave that has to answer at once. Types forbid promises, and not everybody has types.
 *
 * @throws TypeError for a promise, whose rejection is told.
 */
export const atOnce = <T>(what: string, answer: T): T => {
  if (watchEnd(what, answer)) throw new TypeError('It gave a promise, and has to answer at once');
  return answer;
};
