import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import type { Budget } from './budget.ts';

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
