import type { BudgetRule } from '../budget/budget.ts';
import type { EarlierCharges } from '../budget/strict.ts';
import type { CircuitMode, CircuitState } from '../circuit/circuit.ts';
import type { Ladder } from '../circuit/schedule.ts';
import type { CountsSnapshot, Trip } from '../circuit/trip-policies/trip-policies.ts';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { SessionToolConfig } from '../config/config.ts';
import type { CountedKind, LimitKind, LimitMode } from '../limits/limits.ts';

/** O8: number of tools in a snapshot that have succeeded. A box keeps their names for good. */
export const MOST_SUCCEEDED = 1_000;

/**
 * A session as plain JSON (C11), for `restore`. Times are ages and remaining waits in milliseconds, because monotonic clocks
 * differ between processes. `unixMs` is the time of the snapshot, so that the time until it is restored counts as passed.
 */
export interface SessionSnapshot {
  /** The version of this format. */
  readonly version: 1;
  readonly agent: string;
  /** The session's id. */
  readonly id: string;
  /** When it was taken, in Unix milliseconds. */
  readonly unixMs: number;
  readonly step: number;
  /** Milliseconds since the step last moved, or the session began. */
  readonly stepAgeMs: number;
  /** The ledger with budget and openings that decides. */
  readonly ledger: LedgerSnapshot;
  /** The ledger that also counts tools that are only observed (C1); null if no tool ever was. */
  readonly dryRun: LedgerSnapshot | null;
  /** Circuits in the order of their first use. */
  readonly circuits: readonly CircuitSnapshot[];
  /** The tools of the box of which a call has ever succeeded (O8); left out if no call has. */
  readonly succeeded?: readonly string[];
  /** The limits of the run (D2); left out without any. */
  readonly run?: RunSnapshot;
  /** The settings of tools that the session has of its own, without functions (C18); left out without any. */
  readonly tools?: Readonly<Record<string, Omit<SessionToolConfig, 'trip'>>>;
}

/** What a run has used, and its limits (D2). */
export interface RunSnapshot {
  /** Milliseconds since the run began. */
  readonly ageMs: number;
  readonly limits: readonly LimitSnapshot[];
  /** With the estimates of calls that were under way. */
  readonly used: Readonly<Record<CountedKind, number>>;
  /** The part of it that was estimated (D3). */
  readonly estimated: { readonly tokens: number; readonly cost: number };
  /** A model has answered since a limit was reached (D2); left out otherwise. */
  readonly answered?: boolean;
  /** A step is under way, which counts already (D2); left out otherwise, and by older versions. */
  readonly inStep?: boolean;
  /** Whether `step()` comes before each turn, and begins its step (D2); left out until it has come, and by older versions. */
  readonly beginsSteps?: boolean;
  /** The children that lived (D1); left out without any. */
  readonly children?: readonly ChildSnapshot[];
}

/** The run of a child in a snapshot. */
export interface ChildSnapshot extends RunSnapshot {
  readonly id: string;
  /** Null without a name. */
  readonly name: string | null;
}

export interface LimitSnapshot {
  readonly limit: LimitKind;
  readonly size: number;
  readonly mode: LimitMode;
  /** Of a limit of money; null for others. */
  readonly currency: string | null;
  /** It is a part of the limit of the run above (D1); left out otherwise. */
  readonly reserves?: boolean;
  /** The size of the box's limit that it comes from; left out of a limit of its own. */
  readonly boxSize?: number;
}

/** A circuit in a snapshot. Probes that were under way have returned their slots. */
export interface CircuitSnapshot {
  /** The tool, or `group:NAME`. */
  readonly tool: string;
  readonly mode: CircuitMode;
  /** `session.control()` has set the mode (C16); left out otherwise, and by older versions. */
  readonly controlled?: boolean;
  readonly state: CircuitState;
  readonly generation: number;
  /** The category of the latest failure that a rate counted; null before the first, and unless closed (C3). */
  readonly latest: ErrorCategory | null;
  /** Probes of this round that have succeeded; 0 unless half-open. */
  readonly succeeded: number;
  /** Milliseconds left of a Retry-After; 0 for none. */
  readonly retryAfterMs: number;
  /** What the trip policies have counted; null before the first failure, and unless closed (C3). */
  readonly counts: CountsSnapshot | null;
  /** What it opened with; null when closed. */
  readonly outage: OutageSnapshot | null;
  /** The span whose failure opened it, for span links; null without tracing. */
  readonly openedBy: { readonly traceId: string; readonly spanId: string; readonly traceFlags: number } | null;
  /** The circuits of its keys, the least recently moved first (C14); left out if no key was blamed. */
  readonly keys?: readonly KeySnapshot[];
}

/** The circuit of a key in a snapshot (C14). */
export interface KeySnapshot
  extends Pick<CircuitSnapshot, 'state' | 'generation' | 'counts' | 'succeeded' | 'retryAfterMs' | 'outage'> {
  /** A hash of the key. */
  readonly key: string;
}

/** What a circuit that isn't closed knows of its failure. */
export interface OutageSnapshot {
  readonly category: ErrorCategory;
  /** What opened it; null if unknown. */
  readonly trip: Trip | null;
  readonly opened: MomentSnapshot;
  /** The cooldown of this round, in milliseconds. */
  readonly waitMs: number;
  /** Where this round's wait began, if not with the opening; null: with the opening (P3). */
  readonly waitFrom: MomentSnapshot | null;
  /** The place of this round's wait by steps (P1); left out for the first one. */
  readonly rung?: number;
  /** Its place on the ladder of probes after a systemic event; null: not on a ladder (P3). */
  readonly ladder: Ladder | null;
  /** The tool whose probe failed last, if another tool must probe next (C15); null: no tool. */
  readonly probedBy: string | null;
}

/** A point in the life of a session. */
export interface MomentSnapshot {
  readonly step: number;
  /** Milliseconds before the snapshot. */
  readonly ageMs: number;
}

/** When a call failed. */
export interface FailedMomentSnapshot extends MomentSnapshot {
  /** Number of calls that were settled since then, the failed one included (B1). Left out by older versions: 1. */
  readonly calls?: number;
}

/** Failure budget, openings and systemic event in a snapshot. */
export interface LedgerSnapshot {
  readonly budget: WindowBudgetSnapshot | StrictBudgetSnapshot;
  /** Whether the budget has run out, so that the session is paused. */
  readonly exhausted: boolean;
  /** Circuits that count as open for a later event. */
  readonly openings: readonly OpeningSnapshot[];
  /** The tools among them that opened after the last success of any tool (S1); left out without any. */
  readonly sinceSuccess?: readonly string[];
  /** Failures since the last success (S1). */
  readonly failures: readonly OpeningSnapshot[];
  /** The openings of the event that is not over; null without one. */
  readonly event: readonly OpeningSnapshot[] | null;
  /** Whether that event has had its one charge (S3). */
  readonly paid: boolean;
}

interface BudgetSnapshot {
  readonly rule: BudgetRule;
  readonly limit: number;
  /** Limit of tokens; null for no limit (B4). */
  readonly tokenLimit: number | null;
  readonly cycle: number;
  readonly consumed: number;
}

/** A budget by the rule `window` (B1). */
export interface WindowBudgetSnapshot extends BudgetSnapshot {
  readonly rule: 'window';
  readonly windowSteps: number;
  readonly windowMs: number;
  /** Left out by older versions: 20. */
  readonly windowCalls?: number;
  readonly charges: readonly WindowChargeSnapshot[];
  /** Tokens of failed calls in the window (B4). */
  readonly spent: readonly { readonly at: FailedMomentSnapshot; readonly tokens: number }[];
}

/** A budget by the rule `strict` (B6). */
export interface StrictBudgetSnapshot extends BudgetSnapshot {
  readonly rule: 'strict';
  readonly granted: number;
  /** What is charged in this cycle: the latest 200. */
  readonly charges: readonly ChargeSnapshot[];
  /** Sum of the charges before those; left out if there were none. */
  readonly earlier?: EarlierCharges;
  /** Failures that may be part of a systemic event to come (S3). */
  readonly provisional: readonly ProvisionalSnapshot[];
}

export interface WindowChargeSnapshot {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: FailedMomentSnapshot;
  readonly provisional: boolean;
  /** Whether it is the one charge of a systemic event. */
  readonly event: boolean;
  /** The last thing that its tool did since then; null: nothing that matters (B3). */
  readonly since: 'success' | 'closing' | null;
  /** The tool has no circuit (B5). */
  readonly uncapped: boolean;
  /** How many charges were folded into it. */
  readonly count: number;
}

export interface ChargeSnapshot {
  readonly tool: string;
  readonly category: ErrorCategory;
  /** 0 if unknown (B4). */
  readonly tokens: number;
  readonly at: MomentSnapshot;
  /** Whether it is the one charge of a systemic event. */
  readonly event: boolean;
}

export interface ProvisionalSnapshot {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly tokens: number;
  readonly at: MomentSnapshot;
  /**
   * The index in `openings` of the opening that it waits for; null if that circuit has closed, so that the charge counts with the
   * next call.
   */
  readonly beside: number | null;
}

export interface OpeningSnapshot {
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: MomentSnapshot;
  /** Unix milliseconds, for people. */
  readonly unixMs: number;
}
