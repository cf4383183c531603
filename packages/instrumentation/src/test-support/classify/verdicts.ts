import type { Classification } from '@breakerbox/core';
import { type ReadContext, readReturned, readThrown, type Verdict } from '../../classify/classify.ts';

/** What is compared: why is for people, and `tool` is who is blamed as a rule. */
const plain = ({ category, retryAfterMs, blames }: Verdict): Classification => ({
  category,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
  ...(blames === 'key' && { blames }),
});

export const classifyError = (error: unknown, context?: ReadContext): Classification =>
  plain(readThrown(error, context));

export const classifyResult = (result: unknown, context?: ReadContext): Classification | undefined => {
  const found = readReturned(result, context);
  return found && plain(found);
};
