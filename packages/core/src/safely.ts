import { diag } from '@opentelemetry/api';
import { visible } from './checks/names.ts';

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

/**
 * Every read of a thrown or returned value goes through here, because it may throw or never end. A value that can't be read counts
 * as missing.
 */
export const guarded = <T>(run: () => T, otherwise: T): T => {
  try {
    return run();
  } catch {
    return otherwise;
  }
};

/** Characters of a message that are read. Beyond that is usually the body of a page or a stack of data, not the error. */
export const TEXT_LIMIT = 4096;
/** Whether a value can have properties. */
export const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';
/** `value[key]`, or undefined if it does not exist or can't be read. */
export const read = (value: unknown, key: string | symbol): unknown => {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return undefined;
  try {
    return (value as Record<string | symbol, unknown>)[key];
  } catch {
    return undefined;
  }
};
/** `value[key]` if it is a string, cut to `limit` characters. */
export const readText = (value: unknown, key: string, limit = TEXT_LIMIT): string | undefined => {
  const text = read(value, key);
  return typeof text === 'string' ? text.slice(0, limit) : undefined;
};
/** The first `limit` elements of an array; none if it is not one. */
export const readItems = (value: unknown, limit: number): unknown[] => {
  if (!isObject(value)) return [];
  const length = guarded(() => (Array.isArray(value) ? Math.min(value.length, limit) : 0), 0);
  return Array.from({ length }, (_, index) => read(value, String(index)));
};
/** Own enumerable keys; none if they can't be read. */
export const readKeys = (value: unknown): string[] => {
  try {
    return isObject(value) ? Object.keys(value) : [];
  } catch {
    return [];
  }
};
/** The `name` of an error, and of its class: OpenAI's and MCP's errors leave `name` at 'Error'. */
export const readNames = (error: unknown): string[] =>
  [error, read(error, 'constructor')].map((one) => readText(one, 'name', 100)).filter((name) => name !== undefined);
