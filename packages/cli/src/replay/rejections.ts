import type { ErrorCategory, LimitKind, LimitMode, Outcome, Reason } from '@breakerbox/core';

/** Calls by their recorded outcome. `unknown`: the recording has no result, because the call was rejected or cut off. */
export type OutcomeCounts = Record<Outcome | 'unknown', number>;

/**
 * What rejected a call. `circuit`: of the tool, its group or a key. `limit`: a limit of the run. `configuration`: a mode set by hand, or
 * `allowedTools`.
 */
export const REJECTERS = ['circuit', 'budget', 'systemic', 'limit', 'loop_guard', 'configuration'] as const;
export type Rejecter = (typeof REJECTERS)[number];

/** Those that reject calls of tools that fail. Repeats, and calls of runs that go on too long, are counted apart (T6). */
export const OF_FAILURES: readonly Rejecter[] = REJECTERS.filter((by) => by !== 'loop_guard' && by !== 'limit');

/**
 * Rejected calls. `measured`: the first rejected call of each session. Up to there the recording and the replay are the same, so its
 * recorded outcome is a fact. `modelled`: the calls after it, if the agent had gone on in the same way. It would not have: it was told
 * to use something else. So they are an upper bound.
 */
export interface RejectedCounts {
  readonly measured: OutcomeCounts;
  readonly modelled: OutcomeCounts;
}

/** One time that a circuit opened, until it closed. */
export interface Opening {
  readonly session: string;
  /** The tool, or `group:NAME`. */
  readonly tool: string;
  readonly openedAtMs: number;
  /** Undefined if the recording ends first. */
  closedAtMs: number | undefined;
  readonly category: ErrorCategory | undefined;
  /** Failed probes. */
  failedProbes: number;
  /** Calls that this opening rejected. */
  readonly rejected: OutcomeCounts;
}

/** A session that would have paused. */
export interface Pause {
  readonly session: string;
  readonly atMs: number;
  readonly by: 'budget' | 'systemic';
  /** Calls of the recording that came after it. */
  readonly rejected: OutcomeCounts;
}

/** A limit that a session would have reached (D2). */
export interface ReachedLimit {
  readonly session: string;
  readonly limit: LimitKind;
  /** Only `pause` stops calls. */
  readonly mode: LimitMode;
  readonly atMs: number;
  /** The number of the last call before it, from 1 on. */
  afterCall: number;
  /** Calls of the session in the recording. */
  calls: number;
  /** Calls of the recording that it would have paused. */
  pausedCalls: number;
  /** The same by their recorded outcome. */
  readonly rejected: OutcomeCounts;
}

/** The tally of one tool. */
export interface ToolTally {
  readonly tool: string;
  readonly calls: OutcomeCounts;
  /** Failures whose text gave the classifier no evidence. */
  unjudged: number;
  /** Errors that count in no circuit, by category: calls that were neither denied nor cancelled. */
  readonly ignoredErrors: Partial<Record<ErrorCategory, number>>;
  /** Failures that blame the key of the call, such as the host of its URL, and not the tool (C14). */
  keyFailures: number;
  /** The different keys of these failures. At most 10,000 are told apart. */
  failedKeys: number;
  openings: number;
  /** Openings that rejected calls, and not one of them had failed. */
  falseOpenings: number;
  openMs: number;
  readonly rejected: Readonly<Record<Rejecter, RejectedCounts>>;
}

export const noOutcomes = (): OutcomeCounts => ({ success: 0, failure: 0, ignored: 0, unknown: 0 });

export const newToolTally = (tool: string): ToolTally => ({
  tool,
  calls: noOutcomes(),
  unjudged: 0,
  ignoredErrors: {},
  keyFailures: 0,
  failedKeys: 0,
  openings: 0,
  falseOpenings: 0,
  openMs: 0,
  rejected: {
    circuit: noRejections(),
    budget: noRejections(),
    systemic: noRejections(),
    limit: noRejections(),
    loop_guard: noRejections(),
    configuration: noRejections(),
  },
});

const noRejections = (): RejectedCounts => ({ measured: noOutcomes(), modelled: noOutcomes() });

export const totalOf = ({ success, failure, ignored, unknown }: OutcomeCounts): number =>
  success + failure + ignored + unknown;

/** Adds the counts of `more` to `sum`. */
export const addOutcomes = (sum: OutcomeCounts, more: OutcomeCounts): void => {
  sum.success += more.success;
  sum.failure += more.failure;
  sum.ignored += more.ignored;
  sum.unknown += more.unknown;
};

/** Undefined: the call was let through. */
const BY_REASON: Readonly<Record<Reason, Rejecter | undefined>> = {
  closed: undefined,
  undeclared: undefined,
  no_circuit: undefined,
  disabled: undefined,
  would_skip: undefined,
  would_pause: undefined,
  probe_due: undefined,
  group_probe_due: undefined,
  key_probe_due: undefined,
  open: 'circuit',
  probe_in_flight: 'circuit',
  group_open: 'circuit',
  key_open: 'circuit',
  budget_exhausted: 'budget',
  systemic: 'systemic',
  limit_reached: 'limit',
  limit_reserved: 'limit',
  repeat: 'loop_guard',
  busy: 'configuration',
  forced_open: 'configuration',
  not_allowed: 'configuration',
  unavailable: 'configuration',
};

/** What rejected a call, by the reason of the decision. */
export const rejecterOf = (reason: Reason): Rejecter | undefined => BY_REASON[reason];

/** An opening that rejected calls, and none of them had failed, nor had a probe. */
export const isFalse = ({ rejected, failedProbes }: Opening): boolean =>
  rejected.success > 0 && rejected.failure === 0 && rejected.unknown === 0 && failedProbes === 0;
