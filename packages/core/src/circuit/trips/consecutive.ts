import { type Check, number, orLeaveOut } from '../../checks.ts';
import type { ErrorCategory } from '../../outcome/taxonomy.ts';
import type { CircuitPolicy } from '../policy.ts';

/** The failures in a row of a closed circuit. */
export interface Row {
  /** How many there are. */
  readonly failures: number;
  /** How many of them are `unknown`: weak evidence, which counts half (O6). */
  readonly weak: number;
  /** The tools that failed, each once (C13), or the keys of one tool (C14); undefined before the first such failure. */
  readonly by: readonly string[] | undefined;
}

export const NO_ROW: Row = { failures: 0, weak: 0, by: undefined };

/** What a row sees of a failure. */
interface Failed {
  readonly category: ErrorCategory;
  readonly tool?: string | undefined;
  readonly key?: string | undefined;
  readonly full?: boolean | undefined;
}

/** The row after one failure more. */
export const recordInRow = (
  { failures, weak, by }: Row,
  { category, tool, key, full = false }: Failed,
  { distinctTools }: CircuitPolicy,
): Row => ({
  failures: failures + 1,
  weak: category === 'unknown' && !full ? weak + 1 : weak,
  by: withOne(by, distinctTools > 1 ? tool : key),
});

const withOne = (by: readonly string[] | undefined, one: string | undefined): readonly string[] | undefined =>
  one === undefined || by?.includes(one) ? by : [...(by ?? []), one];

/** C14: a tool that fails on so many keys fails on all of them. */
const DISTINCT_KEYS = 3;

/** C14: whether the failures in a row of one tool are on so many keys. */
export const keysReached = (row: Row, { distinctTools }: CircuitPolicy): boolean =>
  distinctTools <= 1 && distinctOf(row) >= DISTINCT_KEYS;

const distinctOf = ({ by }: Row): number => by?.length ?? 0;

/**
 * C3: as many failures in a row as the policy allows, where unknown ones count half (O6). K1: one fewer where a check had
 * called the tool degraded, but never none. C13: a group needs failures of several tools besides.
 */
export const consecutiveReached = (
  row: Row,
  { failureThreshold, distinctTools }: CircuitPolicy,
  degraded: boolean,
): boolean => {
  const threshold = Math.max(1, degraded ? failureThreshold - 1 : failureThreshold);
  return row.failures - row.weak / 2 >= threshold && (distinctTools <= 1 || distinctOf(row) >= distinctTools);
};

const aThreshold = number(
  1,
  orLeaveOut('the circuit opens after so many failures in a row, and with 0 nothing could pass.'),
  { whole: true },
);

/** `false`, where failures in a row alone are to open nothing. */
export const checkFailureThreshold: Check = (path, value) => (value === false ? [] : aThreshold(path, value));
