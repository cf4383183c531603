import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import type { StrictBudget } from './strict.ts';
import * as strict from './strict.ts';
import type { WindowBudget } from './window.ts';
import * as sliding from './window.ts';

/**
 * The number of failures that a session may still have, by one of the two published rules: `window` or `strict`.
 * Pure.
 */
export type Budget = WindowBudget | StrictBudget;

export type BudgetRule = 'window' | 'strict';

/** Options of a failure budget. */
export interface BudgetOptions {
  /**
   * The rule of the budget. `window`: a failure stops counting when it leaves the window. `strict`: failures count until
   * `resume()` (B6). Default `window`.
   */
  readonly rule?: BudgetRule;
  /** Number of failures. Whole number ≥ 1. Default 5. */
  readonly failures?: number;
  /** Number of tokens that failed calls may cost (B4). Whole number ≥ 1. Default: any number. */
  readonly tokens?: number;
  /** Number of steps that a failure counts, in a session that calls `step()`. Whole number ≥ 1. Default 20. Rule `window` only. */
  readonly windowSteps?: number;
  /** Time that a failure counts, in a session that never calls `step()`. Milliseconds > 0. Default 600,000. Rule `window` only. */
  readonly windowMs?: number;
  /**
   * Number of later settled calls that a failure counts for, in a session that never calls `step()`. It leaves the budget after
   * `windowMs` or `windowCalls`, whichever comes first. Whole number ≥ 1. Default 20. Rule `window` only.
   */
  readonly windowCalls?: number;
}

const DEFAULT_FAILURES = 5;

/** `budget: false`: more failures than a window can hold (B7). A number, so that snapshots keep it. */
export const NO_LIMIT = 1_000_000_000;

export const createBudget = ({ rule, failures = DEFAULT_FAILURES, tokens, ...window }: BudgetOptions): Budget =>
  rule === 'strict'
    ? strict.createStrictBudget(failures, tokens)
    : sliding.createWindowBudget({ limit: failures, tokenLimit: tokens, ...window });

/** Failures that may still be charged before the session pauses (B1). */
export const remaining = (budget: Budget): number =>
  budget.rule === 'strict' ? strict.strictRemaining(budget) : budget.remaining;

/** B4: tokens that failures may still waste; undefined without a token budget. */
export const tokensRemaining = (budget: Budget): number | undefined =>
  budget.rule === 'strict' ? strict.strictTokensRemaining(budget) : sliding.windowTokensRemaining(budget);

/** B2: one more failure may be the last. */
export const isCautious = (budget: Budget): boolean =>
  budget.rule === 'strict' ? strict.isStrictCautious(budget) : sliding.isWindowCautious(budget);

/** B1: no failure is left, or no token. */
export const isSpent = (budget: Budget): boolean =>
  budget.rule === 'strict' ? strict.isStrictSpent(budget) : sliding.isWindowSpent(budget);

/** Failures that may turn out to be part of a systemic event (S3). */
export const provisionalCount = (budget: Budget): number =>
  budget.rule === 'strict' ? budget.provisional.length : sliding.windowProvisional(budget);

/** Whether time, or the success of a call, may change the budget. */
export const mayChange = (budget: Budget): boolean =>
  budget.rule === 'strict' ? budget.provisional.length > 0 : budget.charges.length > 0 || budget.spent.length > 0;

/** B1: a full budget again. Rule `strict`: provisional charges belong to the old cycle and count there. */
export const renew = (budget: Budget): Budget =>
  budget.rule === 'strict' ? strict.nextCycle(budget) : sliding.renewWindow(budget);

/** A charge that still counts, by either rule, in a form for people. */
export interface ChargeFacts {
  /** The tool, or `group:NAME` if a group has absorbed its members' charges (C15). */
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: Moment;
  /** The cost of the failed call. Rule `window` counts tokens separately, so there it is 0. */
  readonly tokens: number;
  /** Number of failures in this charge. More than 1 only if old ones were folded into one. */
  readonly count: number;
  /** `provisional`: it may turn out to be part of a systemic event. `systemic`: the one charge of such an event (S3). */
  readonly standing: 'charged' | 'provisional' | 'systemic';
}

/** Charges that count, first to last. */
export const chargesOf = (budget: Budget): readonly ChargeFacts[] => {
  if (budget.rule === 'window') {
    return budget.charges.map(({ tool, category, at, provisional, event, count = 1 }) => {
      const standing = event ? 'systemic' : provisional ? 'provisional' : 'charged';
      return { tool, category, at, tokens: 0, count, standing };
    });
  }
  const { charges, provisional } = budget;
  return [
    ...charges.map(({ tool, category, at, tokens, event }): ChargeFacts => {
      return { tool, category, at, tokens, count: 1, standing: event ? 'systemic' : 'charged' };
    }),
    ...provisional.map(({ tool, category, at, tokens }): ChargeFacts => {
      return { tool, category, at, tokens, count: 1, standing: 'provisional' };
    }),
  ];
};
