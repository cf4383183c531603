import type { Classification } from './classify/classify.ts';
import type { ErrorCategory } from './classify/taxonomy.ts';

/**
 * Classifies an error that a tool threw, and each result (`returned: true`). `undefined` leaves it to the built-in classifier (O2).
 * Must answer synchronously.
 */
export type Classifier = (
  value: unknown,
  context: { readonly returned: boolean },
) => ErrorCategory | Classification | undefined;

/**
 * Decides whether a result is a failure (O7). `true` means a failure of category `server`, a category means a failure of that
 * category, `false` means a success. `undefined` leaves the result to the classifier. Must answer synchronously.
 */
export type ResultJudge = (result: unknown) => boolean | ErrorCategory | undefined;

/** Names the one host, account or file that a call is about (C14). `undefined`: the call has no key. Must answer synchronously. */
export type KeyOf = (input: unknown) => string | undefined;
