import type { Ledger } from './ledger.ts';

/**
 * The ledger that pauses the session, and beside it that of a trial: once a tool is only observed, a shadow ledger gets the
 * failures and openings of all tools, the observed ones too, and says when the session would have been paused (C1). Pure.
 */
export interface Books {
  readonly real: Ledger;
  /** Undefined while no tool was ever observed. */
  readonly shadow: Ledger | undefined;
}

/** Enters what happened to a tool; of an observed one in the shadow alone, so that a trial costs nothing. */
export const enter = (books: Books, observed: boolean, change: (ledger: Ledger) => Ledger): Books => {
  const real = observed ? books.real : change(books.real);
  const shadow = books.shadow && change(books.shadow);
  return real === books.real && shadow === books.shadow ? books : { real, shadow };
};

/** Opens the shadow, with all that has happened so far. */
export const withShadow = (books: Books): Books =>
  books.shadow === undefined ? { ...books, shadow: books.real } : books;

/** The books without what circuits of others have to do with them: those that sessions share stay with their box (C12). */
export const withoutCircuits = ({ real, shadow }: Books): Books => ({
  real: withoutOpenings(real),
  shadow: shadow && withoutOpenings(shadow),
});

const withoutOpenings = (ledger: Ledger): Ledger => ({ ...ledger, openings: [], event: undefined, paid: false });

/** Whether some failures wait for their window to pass (S3). */
export const hasProvisional = ({ real, shadow }: Books): boolean =>
  real.budget.provisional.length > 0 || (shadow !== undefined && shadow.budget.provisional.length > 0);
