import { mayChange } from './budget/budget.ts';
import type { Ledger } from './ledger.ts';

/**
 * The ledger that pauses the session, and beside it that of a dry run: once a tool is only observed, a shadow ledger hears of the
 * failures of all tools, the observed ones too, and says when the session would have been paused (C1). Pure.
 */
export interface Books {
  readonly real: Ledger;
  /** Undefined while no tool was ever observed. */
  readonly shadow: Ledger | undefined;
}

/** Enters what happened to a tool; of an observed one in the shadow only, so that a dry run costs nothing. */
export const enter = (
  books: Books,
  observed: boolean,
  change: (ledger: Ledger, isShadow: boolean) => Ledger,
): Books => {
  const real = observed ? books.real : change(books.real, false);
  const shadow = books.shadow && change(books.shadow, true);
  return real === books.real && shadow === books.shadow ? books : { real, shadow };
};

/** Opens the shadow, with all that has happened so far. */
export const withShadow = (books: Books): Books =>
  books.shadow === undefined ? { ...books, shadow: books.real } : books;

/** Whether time, or a success, may change a budget. */
export const hasPending = ({ real, shadow }: Books): boolean =>
  mayChange(real.budget) || (shadow !== undefined && mayChange(shadow.budget));
