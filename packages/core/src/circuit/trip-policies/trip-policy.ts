import type { Check } from '../../checks/checks.ts';
import type { ErrorCategory } from '../../classify/taxonomy.ts';

/** The facts of a call that is over and counts, as trip policies see it. */
export interface CountedCall {
  /** Undefined if the call succeeded. */
  readonly category: ErrorCategory | undefined;
  /** Duration in milliseconds. Default 0. */
  readonly durationMs?: number;
  /** Cost, ≥ 0 (O4). Default 0: unknown. */
  readonly tokens?: number;
  /** A check had scored the tool as degraded: one failure in a row fewer opens the circuit (K1). */
  readonly degraded?: boolean | undefined;
  /** The tool that failed, if several tools share the circuit (C13). */
  readonly tool?: string | undefined;
  /** The key of the call, if failures on several keys open the circuit of their tool (C14). */
  readonly key?: string | undefined;
  /** It counts for the keys of the tool alone: a failure that blames its key, or without a category an answer such as 404 (C14). */
  readonly ofKey?: boolean | undefined;
  /** The tool has never succeeded since its box was made (C14). */
  readonly isFirst?: boolean | undefined;
  /** Counts in full even if it is `unknown`: in the circuit of a key (C14). */
  readonly full?: boolean | undefined;
}

/**
 * A trip policy: a rule that says when a closed circuit opens (C3). Pure: each function takes the counts that the circuit keeps for
 * this policy, and `record` returns the next ones. To add a policy, write its file and register it in `trip-policies.ts`.
 *
 * `Settings` are its settings in a tool's configuration, `Policy` the same with their defaults, `Counts` what it counts.
 */
export interface TripPolicy<Settings = object, Policy = object, Counts = unknown> {
  /** Its name in views, reports and snapshots. */
  readonly name: string;
  /** The category of an opening by a call that succeeded. Default: the category of the latest failure. */
  readonly category?: ErrorCategory;
  /** The setting without which it counts nothing, and is not asked. Default: it always counts. */
  readonly setting?: string;
  /** Whether it counts calls that blame their keys too (C14). */
  readonly countsOfKey?: true;
  readonly checks: Readonly<Record<string, Check>>;
  /** Fills in the defaults. The settings must have been checked. */
  resolve(settings: Settings): Policy;
  /** The counts after one more call; undefined if there is nothing to keep. */
  record(counts: Counts | undefined, call: CountedCall, policy: Policy, ms: number): Counts | undefined;
  /** Whether the circuit opens with this call, which the counts contain. */
  tripped(counts: Counts, call: CountedCall, policy: Policy, ms: number): boolean;
  /** The category of an opening by a call that failed. Default, and if undefined: that of the call. */
  opensAs?(counts: Counts): ErrorCategory | undefined;
  /** How the counts are written into a snapshot, checked and read back (C11). */
  readonly snapshot: CountsFormat<Counts>;
}

/** The format of counts in a snapshot: plain JSON, with ages instead of points in time. */
export interface CountsFormat<Counts = unknown, Kept = unknown> {
  write(counts: Counts, ms: number): Kept;
  readonly check: Check;
  /** Reads what `check` has accepted, on a clock that shows `ms` now. */
  read(kept: Kept, ms: number): Counts;
}
