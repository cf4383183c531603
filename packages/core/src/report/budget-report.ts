import { type Budget, isCautious, remaining, tokensRemaining } from '../budget/budget.ts';
import { type ChargeFacts, chargesOf } from '../budget/charges.ts';
import type { WindowBudget } from '../budget/window.ts';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import { millis } from './tool-report.ts';

/** The failure budget, and the failures charged to it (B1). */
export interface BudgetReport {
  /**
   * The rule of the budget. `window`: a failure stops counting when it leaves the window (B1). `strict`: failures count until
   * `session.resume()` (B6).
   */
  readonly rule: Budget['rule'];
  /** Number of allowed failures: within the window, or until the session is resumed. */
  readonly limit: number;
  /** The number of the cycle, from 1: `session.resume()` begins the next. */
  readonly cycle: number;
  readonly remaining: number;
  /** One more failure may be the last (B2). */
  readonly caution: boolean;
  /** Whether the budget has run out and the session has not been resumed. */
  readonly exhausted: boolean;
  /** How long a charge counts (B1): in steps once the session has any, otherwise in time. Null for the rule `strict`. */
  readonly window: WindowReport | null;
  /** The token budget (B4); null without one. */
  readonly tokens: { readonly limit: number; readonly remaining: number } | null;
  /** The charges that count, first to last, provisional ones too: at most the last 200. */
  readonly charges: readonly ChargeReport[];
  /** The sum of earlier charges that still count; null if there are no such charges. */
  readonly earlier: { readonly failures: number; readonly tokens: number } | null;
}

/** How long a charge counts, in steps or in milliseconds; the other one is null. */
export interface WindowReport {
  readonly steps: number | null;
  readonly ms: number | null;
}

/** One charge. */
export interface ChargeReport {
  /** The tool, or `group:NAME` for charges that the circuit of a group absorbed (C15). */
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly step: number;
  readonly agoMs: number;
  /** The cost of the failed call. 0 if unknown, and for the rule `window`, which counts tokens separately. */
  readonly tokens: number;
  /**
   * `provisional`: may be part of a systemic event, and does not pause the session yet. `systemic`: the one charge of such an event
   * (S3).
   */
  readonly standing: ChargeFacts['standing'];
  /** When it leaves the window; null for the rule `strict`, and while the session is paused, because charges stay then. */
  readonly leavesIn: WindowReport | null;
}

/** The report of a budget. `isPaused`: charges stay in the window. */
export const reportBudget = (budget: Budget, exhausted: boolean, isPaused: boolean, at: Moment): BudgetReport => {
  const { rule, limit, cycle, tokenLimit } = budget;
  const all = chargesOf(budget);
  const single = all.filter(({ count }) => count === 1);
  const folded = all.reduce((sum, { count }) => (count === 1 ? sum : sum + count), 0);
  const before = budget.rule === 'strict' ? budget.earlier : { failures: folded, tokens: 0 };
  const slides = budget.rule === 'window' && !isPaused ? budget : undefined;
  return {
    rule,
    limit,
    cycle,
    remaining: remaining(budget),
    caution: isCautious(budget),
    exhausted,
    window: budget.rule === 'window' ? windowOf(budget, at) : null,
    tokens: tokenLimit === undefined ? null : { limit: tokenLimit, remaining: tokensRemaining(budget) ?? 0 },
    charges: single
      .map(({ tool, category, at: when, tokens, standing }) => ({
        tool,
        category,
        step: when.step,
        agoMs: millis(at.ms - when.ms),
        tokens,
        standing,
        leavesIn: slides === undefined ? null : leavesIn(slides, when, at),
      }))
      .toSorted((a, b) => b.agoMs - a.agoMs),
    earlier: before.failures === 0 ? null : { failures: before.failures, tokens: before.tokens },
  };
};

/** B1: by steps once `step()` was called, else by time. */
const windowOf = ({ windowSteps, windowMs }: WindowBudget, at: Moment): WindowReport =>
  at.step > 0 ? { steps: windowSteps, ms: null } : { steps: null, ms: windowMs };

const leavesIn = (budget: WindowBudget, from: Moment, at: Moment): WindowReport => {
  const { steps, ms } = windowOf(budget, at);
  return {
    // On the first step that is more than the window away.
    steps: steps === null ? null : Math.max(0, steps + 1 - (at.step - from.step)),
    ms: ms === null ? null : millis(ms - (at.ms - from.ms)),
  };
};
