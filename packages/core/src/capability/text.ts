import { type Check, show } from '../checks.ts';

/** A text with something in it. `why` ends the message: what it is for. */
export const text =
  (why: string): Check =>
  (path, value) =>
    typeof value === 'string' && value.trim() !== ''
      ? []
      : [{ path, message: `is ${show(value)}. Set a text that isn't empty: ${why}` }];
