import { BreakerboxConfigError } from '@breakerbox/core';

/** Describes what is wrong with a value, as a sentence that continues from its path; undefined if the value is valid. */
export type OptionCheck = (value: unknown) => string | undefined;

/** The longest delay that Node's timers accept, in milliseconds. With a longer one they fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

export const milliseconds: OptionCheck = (value) =>
  typeof value === 'number' && value > 0 && value <= LONGEST_MS
    ? undefined
    : `is ${show(value)}. Set a number of milliseconds above 0 and up to ${LONGEST_MS}, the longest delay of a timer, or leave it out for no timeout.`;

export const text: OptionCheck = (value) =>
  typeof value === 'string' ? undefined : `is ${show(value)}. Set a string, or leave it out.`;

export const functionGiven: OptionCheck = (value) =>
  typeof value === 'function' ? undefined : `is ${show(value)}. Set a function, or leave it out.`;

export const flag: OptionCheck = (value) =>
  typeof value === 'boolean' ? undefined : `is ${show(value)}. Set true or false, or leave it out.`;

export const names: OptionCheck = (value) =>
  Array.isArray(value) && value.every((name) => typeof name === 'string' && name.trim() !== '')
    ? undefined
    : `is ${show(value)}. Set an array of tool names that aren't empty, or leave it out.`;

/**
 * Refuses options that can't work. A misspelt option would otherwise be silently ignored.
 *
 * @throws BreakerboxConfigError listing everything that is wrong.
 */
export const checkOptions = (where: string, options: unknown, checks: Readonly<Record<string, OptionCheck>>): void => {
  const issues = Object.entries(isObject(options) ? options : {}).flatMap(([key, value]) => {
    const check = Object.hasOwn(checks, key)
      ? checks[key]
      : () => `is not an option. Correct its name or remove it. The options are ${Object.keys(checks).join(', ')}.`;
    const message = value === undefined ? undefined : check?.(value);
    return message === undefined ? [] : [{ path: `${where} options.${key}`, message }];
  });
  if (!isObject(options))
    issues.push({ path: `${where} options`, message: `is ${show(options)}. Give an object, or leave it out.` });
  if (issues.length > 0) throw new BreakerboxConfigError(issues);
};

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value in words. Strings are left out, because they may be secrets. */
export const show = (value: unknown): string => {
  if (typeof value === 'number' || value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : `of type ${typeof value}`;
};

/** The result of {@link show}, for use within a sentence. */
export const aValue = (value: unknown): string => {
  const shown = show(value);
  return shown.startsWith('of type') ? `a value ${shown}` : shown;
};
