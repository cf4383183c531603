import { anyName, type Check, complete, list, whole, writtenCount } from '../../checks/checks.ts';
import type { TripPolicy } from './trip-policy.ts';

export interface FailuresInRow {
  readonly failures: number;
  /** Number of `unknown` failures: weak evidence, which counts half (O6). */
  readonly weak: number;
  /** The tools that failed, each once, if a group needs failures of several (C13). */
  readonly tools: readonly string[];
}

export interface ConsecutivePolicy {
  /** Failures in a row that open the circuit (C3). `Infinity`: failures in a row alone never open it. */
  readonly failureThreshold: number;
  /** Number of different tools that must have failed in a row (C13). It is 1 if the circuit belongs to one tool. */
  readonly distinctTools: number;
}

const NONE: readonly string[] = [];

const withOne = (all: readonly string[], one: string | undefined): readonly string[] =>
  one === undefined || all.includes(one) ? all : [...all, one];

const aThreshold = whole(1, 'The circuit opens after this many failures in a row. With 0, no call could pass.');

/**
 * C3: opens after as many failures in a row as the policy allows. `unknown` failures count half. If a check scored the tool as
 * degraded, one fewer is needed, but at least one. A group also needs failures of several tools.
 */
export const consecutiveFailures = {
  name: 'consecutive',
  checks: { failureThreshold: (path, value) => (value === false ? [] : aThreshold(path, value)) },
  resolve: ({ failureThreshold }) => ({
    failureThreshold: failureThreshold === false ? Number.POSITIVE_INFINITY : failureThreshold,
    distinctTools: 1,
  }),
  record: (row, { category, tool, full }, { distinctTools }) => {
    if (category === undefined) return undefined;
    return {
      failures: (row?.failures ?? 0) + 1,
      weak: (row?.weak ?? 0) + (category === 'unknown' && !full ? 1 : 0),
      tools: withOne(row?.tools ?? NONE, distinctTools > 1 ? tool : undefined),
    };
  },
  tripped: ({ failures, weak, tools }, { degraded = false }, { failureThreshold, distinctTools }) => {
    const threshold = Math.max(1, degraded ? failureThreshold - 1 : failureThreshold);
    return failures - weak / 2 >= threshold && (distinctTools <= 1 || tools.length >= distinctTools);
  },
  snapshot: {
    write: (row) => row,
    check: complete({ failures: writtenCount, weak: writtenCount, tools: list(anyName) } satisfies Record<
      keyof FailuresInRow,
      Check
    >),
    read: (row) => row as FailuresInRow,
  },
} as const satisfies TripPolicy<{ readonly failureThreshold: number | false }, ConsecutivePolicy, FailuresInRow>;
