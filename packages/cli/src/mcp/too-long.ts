import { MOST_TEXT } from './line-splitter.ts';

/** A message of the server is too long to be kept in memory. */
export class TooLongError extends Error {
  constructor() {
    super(`The answer is longer than ${MOST_TEXT}, so breakerbox mcp did not forward it.`);
  }
}
