import type { Capability } from './capability/map.ts';
import type { Route } from './capability/route.ts';
import type { CircuitMode } from './circuit/mode.ts';
import type { CircuitPolicy } from './circuit/policy.ts';
import type { Classification } from './outcome/classify.ts';
import type { ErrorCategory, Judgement } from './outcome/taxonomy.ts';
import type { Precheck } from './precheck.ts';
import type { Cell, ToolCells } from './telemetry/metrics.ts';

/**
 * Looks at what a tool threw, and at each result (`returned: true`). `undefined` leaves it to the built-in classifier (O2). Has to answer
 * at once.
 */
export type Classifier = (
  value: unknown,
  context: { readonly returned: boolean },
) => ErrorCategory | Classification | undefined;

/**
 * Says of a result whether it is a failure (O7): `true` is one of category `server`, a category one of that category, `false` is a success.
 * `undefined` leaves it to the classifier. Has to answer at once.
 */
export type ResultJudge = (result: unknown) => boolean | ErrorCategory | undefined;

/** Names the one host, account or file that a call is about (C14); `undefined`: none. Has to answer at once. */
export type KeyOf = (input: unknown) => string | undefined;

/** How a tool is treated, with its defaults filled in. */
export interface ToolSettings {
  readonly mode: CircuitMode;
  readonly policy: CircuitPolicy;
  /** Of the circuits of its keys (C14). */
  readonly keyPolicy: CircuitPolicy;
  /** Which categories count against the circuit (O1). */
  readonly outcomes: Readonly<Record<ErrorCategory, Judgement>>;
  readonly classify: Classifier | undefined;
  readonly isFailure: ResultJudge | undefined;
  /** `false`: its calls have no keys, whatever an adapter says (C14). */
  readonly key: KeyOf | false | undefined;
  /** What it is for, and what to do without it (R1). */
  readonly capability: Capability;
  /** Where its calls go that are held up, where no other tool is usable (R2). */
  readonly lastResort: Route;
  /** Asked before calls (K1). */
  readonly precheck: Precheck | undefined;
  /** Whether results are labelled that may not be current (F1). */
  readonly labelFreshness: boolean;
  /** Whether something of its calls is reckoned by the time, even where they succeed: windows, scores of checks, ages of results. */
  readonly goesByTime: boolean;
  /** Whether results are remembered for one of the two: F1, F2. */
  readonly keepsResults: boolean;
  /** How old a last good result may be, in milliseconds, that stands in for a call; undefined: none does (F2). */
  readonly serveStaleMs: number | undefined;
}

/** What a circuit is of: a tool, or a group of tools (C13). */
export interface CircuitSpec {
  /** `group:NAME` for a group. */
  readonly name: string;
  readonly mode: CircuitMode;
  readonly policy: CircuitPolicy;
  /** Of the circuits of its keys (C14); a group has none. */
  readonly keyPolicy?: CircuitPolicy;
  readonly cells: ToolCells;
}

/** A declared tool. */
export interface ToolSpec extends ToolSettings, CircuitSpec {
  readonly keyPolicy: CircuitPolicy;
  /** The group whose circuit its calls pass first (C13). An adapter may name it after the tool was declared. */
  group: CircuitSpec | undefined;
  /** Where its successes are counted: almost every call. */
  readonly successes: Cell;
}
