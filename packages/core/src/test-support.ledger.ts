import { type BudgetOptions, createBudget } from './budget/budget.ts';
import {
  createLedger,
  followEvent,
  type Ledger,
  recordClosing,
  recordExhaustion,
  recordFailure,
  recordOpening,
  recordTime,
} from './budget/ledger.ts';
import type { StrictBudget } from './budget/strict.ts';
import {
  type Correlation,
  type CorrelationPolicy,
  correlateClosing,
  correlateFailure,
  correlateOpening,
  DEFAULT_SYSTEMIC,
  isTogether,
  NO_CORRELATION,
  resolveEvent,
  type Within,
} from './budget/systemic.ts';
import type { WindowBudget } from './budget/window.ts';
import type { ErrorCategory } from './classify/taxonomy.ts';
import type { Moment } from './clock.ts';

/** A ledger beside the failures of its circuits, as a session keeps them, without the session. */
export interface Kept {
  readonly ledger: Ledger;
  readonly correlation: Correlation;
}

/** Only openings make events, so that a test may have as many failures as it needs. */
export const policy: CorrelationPolicy = { ...DEFAULT_SYSTEMIC, mixedFailures: 99, joinsAll: true };
export const within: Within = (from, to) => isTogether(policy, from, to);

export const at = (ms: number, step = 0): Moment => ({ ms, step, stepMs: 0 });

export const startOf = (options: BudgetOptions): Kept => ({
  ledger: createLedger(createBudget(options)),
  correlation: NO_CORRELATION,
});
export const sliding = startOf({});
export const strict = startOf({ rule: 'strict' });

export const strictOf = ({ ledger }: Kept): StrictBudget => {
  if (ledger.budget.rule !== 'strict') throw new Error('The budget goes by the rule window.');
  return ledger.budget;
};
export const windowOf = ({ ledger }: Kept): WindowBudget => {
  if (ledger.budget.rule !== 'window') throw new Error('The budget goes by the rule strict.');
  return ledger.budget;
};

const around = ({ correlation }: Kept) => ({ correlation, within });
const followed = (ledger: Ledger, correlation: Correlation): Kept => ({
  ledger: followEvent(ledger, correlation.event, within),
  correlation,
});

/** Tools with such a name are in group `g`. */
const groupOf = (tool: string) => (tool.startsWith('member') ? 'group:g' : undefined);

/** A failure of a tool whose circuit opens after 3 failures. */
export const failed = (
  kept: Kept,
  tool: string,
  category: ErrorCategory,
  when: Moment,
  times = 1,
  tokens = 0,
): Kept => {
  if (times === 0) return kept;
  const isPartOfEvent = kept.correlation.event !== undefined;
  const facts = { hasCircuit: true, isProbe: false, isPartOfEvent, mayWait: 3, group: groupOf(tool) };
  const failure = { tool, category, at: when, tokens, ...facts };
  const correlation = correlateFailure(kept.correlation, { tool, category, at: when, unixMs: 0 }, policy);
  const next = followed(recordFailure(kept.ledger, failure, around(kept)), correlation);
  return failed(next, tool, category, when, times - 1, tokens);
};

export const opened = (kept: Kept, tool: string, category: ErrorCategory, when: Moment): Kept => {
  const opening = { tool, category, at: when, unixMs: 0 };
  const correlation = correlateOpening(kept.correlation, opening, policy);
  return followed(recordOpening(kept.ledger, opening, { correlation, within }), correlation);
};

/** Three failures, then the opening that they cause. */
export const tripped = (kept: Kept, tool: string, category: ErrorCategory, when: Moment): Kept =>
  opened(failed(kept, tool, category, when, 3), tool, category, when);

export const closed = ({ ledger, correlation }: Kept, tool: string): Kept => ({
  ledger: recordClosing(ledger, tool),
  correlation: correlateClosing(correlation, new Set([tool])),
});

/** The event is over. */
export const resolved = ({ ledger, correlation }: Kept): Kept => followed(ledger, resolveEvent(correlation));

/** Time has passed, in a session without a systemic pause. */
export const passed = (kept: Kept, when: Moment): Kept => ({
  ...kept,
  ledger: recordTime(kept.ledger, when, around(kept)),
});

/** One call's consequences are known. */
export const settled = (kept: Kept): Kept => ({ ...kept, ledger: recordExhaustion(kept.ledger) });
