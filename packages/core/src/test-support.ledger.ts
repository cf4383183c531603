import { createBudget } from './budget.ts';
import type { Moment } from './clock.ts';
import { chargeFailure, createLedger, type Ledger, noticeExhaustion, recordOpening, sessionState } from './ledger.ts';
import type { ErrorCategory } from './outcome/taxonomy.ts';
import { DEFAULT_SYSTEMIC } from './systemic.ts';

/** For ledgers without a session around them. */
export const policy = DEFAULT_SYSTEMIC;

export const at = (ms: number, step = 0): Moment => ({ ms, step, stepMs: 0 });
export const start = createLedger(createBudget(5));

/** Once all consequences are known. */
export const stateOf = (ledger: Ledger) => sessionState(noticeExhaustion(ledger));

export const failed = (ledger: Ledger, tool: string, category: ErrorCategory, when: Moment, times = 1): Ledger =>
  times === 0
    ? ledger
    : failed(
        chargeFailure(ledger, { tool, category, at: when, tokens: 0, mayWait: 3 }, policy),
        tool,
        category,
        when,
        times - 1,
      );

export const opened = (ledger: Ledger, tool: string, category: ErrorCategory, when: Moment): Ledger =>
  recordOpening(ledger, { tool, category, at: when, unixMs: 0 }, policy);

/** Three failures, then the opening that they bring. */
export const tripped = (ledger: Ledger, tool: string, category: ErrorCategory, when: Moment): Ledger =>
  opened(failed(ledger, tool, category, when, 3), tool, category, when);
