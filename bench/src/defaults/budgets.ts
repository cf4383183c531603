import type { SessionOptions } from '@breakerbox/core';

/** A column of the table. */
export interface BudgetColumn {
  readonly id: 'default' | 'strict' | 'three' | 'eight';
  readonly title: string;
  /** What `createBreakerbox` is given. */
  readonly budget: SessionOptions['budget'];
}

/** The defaults come first: the limits apply to them. */
export const BUDGETS: readonly BudgetColumn[] = [
  { id: 'default', title: 'default (5)', budget: undefined },
  { id: 'strict', title: '`strict` (5)', budget: 'strict' },
  { id: 'three', title: '3', budget: { failures: 3 } },
  { id: 'eight', title: '8', budget: { failures: 8 } },
];
