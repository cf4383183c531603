import { type Check, show } from '../checks.ts';

/** A non-empty string. `why` ends the message: what the string is for. */
export const text =
  (why: string): Check =>
  (path, value) =>
    typeof value === 'string' && value.trim() !== ''
      ? []
      : [{ path, message: `is ${show(value)}. Set a text that isn't empty: ${why}` }];
