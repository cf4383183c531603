import { type Check, number, orLeaveOut } from '../../checks.ts';
import type { ErrorCategory } from '../../outcome/taxonomy.ts';
import type { CircuitPolicy } from '../policy.ts';

/** The failures in a row of a closed circuit. */
export interface Row {
  /** Number of failures. */
  readonly failures: number;
  /** Number of `unknown` failures: weak evidence, which counts half (O6). */
  readonly weak: number;
  /** The tools that failed, each once (C13), or the keys of one tool (C14); undefined before the first such failure. */
  readonly by: readonly string[] | undefined;
}

export const NO_ROW: Row = { failures: 0, weak: 0, by: undefined };

/** The facts of a failure that a row needs. */
interface Failed {
  readonly category: ErrorCategory;
  readonly tool?: string | undefined;
  readonly key?: string | undefined;
  readonly full?: boolean | undefined;
}

/** The row after one more failure. */
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

/** C14: number of keys. A tool that fails on so many keys counts as failing on all. */
const DISTINCT_KEYS = 3;

/** C14: whether the failures in a row of one tool are on that many keys. */
export const keysReached = (row: Row, { distinctTools }: CircuitPolicy): boolean =>
  distinctTools <= 1 && distinctOf(row) >= DISTINCT_KEYS;

const distinctOf = ({ by }: Row): number => by?.length ?? 0;

/**
 * C3: as many failures in a row as the policy allows; unknown ones count half (O6). K1: one fewer if a check scored the tool as
 * degraded, but at least one. C13: a group also needs failures of several tools.
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

/** `false`: failures in a row alone never open the circuit. */
export const checkFailureThreshold: Check = (path, value) => (value === false ? [] : aThreshold(path, value));
