import { diag } from '@opentelemetry/api';
import { visible } from './config/names.ts';

/** Reports an error that must not affect the outcome of a tool call (E5). Names in `what` can't add lines to a log. */
export const reportThrown = (what: string, error: unknown): void => {
  try {
    diag.error(`Breakerbox: ${visible(what)} failed. Breakerbox ignores this error, and the program continues.`, error);
  } catch {
    // The application's own logger threw, so there is nothing left to report to.
  }
};

/** Reports something that a person should fix, and stops nothing. Names in it can't add lines to a log. */
export const warn = (text: string): void => safely('the logger', () => diag.warn(`Breakerbox: ${visible(text)}`));

/** Runs code that must not change the outcome of a tool call. Its exception goes to OpenTelemetry's `diag` (E5). */
export const safely = <T>(what: string, run: () => T): T | undefined => {
  try {
    return run();
  } catch (error) {
    reportThrown(what, error);
    return undefined;
  }
};

/**
 * Handles a promise's rejection, which would otherwise end the process. Works for promises of any realm or library.
 *
 * @returns whether it is a promise.
 */
export const watchEnd = (what: string, returned: unknown): boolean => {
  if (typeof (returned as PromiseLike<unknown> | null | undefined)?.then !== 'function') return false;
  Promise.resolve(returned).then(undefined, (error) => reportThrown(what, error));
  return true;
};

/**
 * The result of a callback that must answer synchronously. Types forbid promises, but not every caller has types.
 *
 * @throws TypeError for a promise. Its rejection is reported.
 */
export const atOnce = <T>(what: string, answer: T): T => {
  if (watchEnd(what, answer))
    throw new TypeError('It returned a promise, but it must return its answer synchronously. Return the value itself');
  return answer;
};
