import { type Check, number, orLeaveOut } from '../../checks.ts';
import type { ErrorCategory } from '../../outcome/taxonomy.ts';
import type { CircuitPolicy } from '../policy.ts';

/** The failures in a row of a closed circuit. */
export interface Row {
  /** How many there are. */
  readonly failures: number;
  /** How many of them are `unknown`: weak evidence, which counts half (O6). */
  readonly weak: number;
  /** The tools that failed, each once; undefined before the first failure, and where one tool has the circuit (C13). */
  readonly by: readonly string[] | undefined;
}

export const NO_ROW: Row = { failures: 0, weak: 0, by: undefined };

/** The row after one failure more. */
export const recordInRow = (
  { failures, weak, by }: Row,
  { category, tool }: { readonly category: ErrorCategory; readonly tool?: string | undefined },
  { distinctTools }: CircuitPolicy,
): Row => ({
  failures: failures + 1,
  weak: category === 'unknown' ? weak + 1 : weak,
  by: distinctTools > 1 ? withTool(by, tool) : undefined,
});

const withTool = (by: readonly string[] = [], tool: string | undefined): readonly string[] =>
  tool === undefined || by.includes(tool) ? by : [...by, tool];

/**
 * C3: as many failures in a row as the policy allows, where unknown ones count half (O6). K1: one fewer where a check had
 * called the tool degraded, but never none. C13: a group needs failures of several tools besides.
 */
export const consecutiveReached = (
  { failures, weak, by = [] }: Row,
  { failureThreshold, distinctTools }: CircuitPolicy,
  degraded: boolean,
): boolean => {
  const threshold = Math.max(1, degraded ? failureThreshold - 1 : failureThreshold);
  return failures - weak / 2 >= threshold && (distinctTools <= 1 || by.length >= distinctTools);
};

const aThreshold = number(
  1,
  orLeaveOut('the circuit opens after so many failures in a row, and with 0 nothing could pass.'),
  { whole: true },
);

/** `false`, where failures in a row alone are to open nothing. */
export const checkFailureThreshold: Check = (path, value) => (value === false ? [] : aThreshold(path, value));
