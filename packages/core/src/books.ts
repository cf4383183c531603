import { mayChange } from './budget/budget.ts';
import type { Ledger } from './ledger.ts';

/**
 * The ledger that pauses the session, and the ledger of a dry run. Once a tool is only observed, the dry-run ledger gets the
 * failures of all tools, observed ones too. It shows when the session would have been paused (C1). Pure.
 */
export interface Books {
  readonly real: Ledger;
  /** The ledger of the dry run; undefined if no tool was ever observed. */
  readonly shadow: Ledger | undefined;
}

/** Enters an event of a tool. An event of an observed tool goes only into the dry run, which costs nothing. */
export const enter = (
  books: Books,
  observed: boolean,
  change: (ledger: Ledger, isShadow: boolean) => Ledger,
): Books => {
  const real = observed ? books.real : change(books.real, false);
  const shadow = books.shadow && change(books.shadow, true);
  return real === books.real && shadow === books.shadow ? books : { real, shadow };
};

/** Opens the dry run with everything that has happened so far. */
export const withShadow = (books: Books): Books =>
  books.shadow === undefined ? { ...books, shadow: books.real } : books;

/** Whether time, or a success, may change a budget. */
export const hasPending = ({ real, shadow }: Books): boolean =>
  mayChange(real.budget) || (shadow !== undefined && mayChange(shadow.budget));
