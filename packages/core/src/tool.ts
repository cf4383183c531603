import type { CircuitMode } from './circuit/mode.ts';
import type { CircuitPolicy } from './circuit/policy.ts';
import type { Classification } from './classify/classify.ts';
import type { ErrorCategory, Judgement } from './classify/taxonomy.ts';
import type { Precheck } from './precheck.ts';
import type { Capability } from './routing/capability.ts';
import type { Route } from './routing/route.ts';
import type { ToolSeries } from './telemetry/series.ts';

/**
 * Classifies an error that a tool threw, and each result (`returned: true`). `undefined` leaves it to the built-in classifier (O2).
 * Must answer synchronously.
 */
export type Classifier = (
  value: unknown,
  context: { readonly returned: boolean },
) => ErrorCategory | Classification | undefined;

/**
 * Decides whether a result is a failure (O7). `true` means a failure of category `server`, a category means a failure of that
 * category, `false` means a success. `undefined` leaves the result to the classifier. Must answer synchronously.
 */
export type ResultJudge = (result: unknown) => boolean | ErrorCategory | undefined;

/** Names the one host, account or file that a call is about (C14). `undefined`: the call has no key. Must answer synchronously. */
export type KeyOf = (input: unknown) => string | undefined;

/** Settings of one tool, with the defaults filled in. */
export interface ToolSettings {
  readonly mode: CircuitMode;
  readonly policy: CircuitPolicy;
  /** The policy of the circuits of its keys (C14). */
  readonly keyPolicy: CircuitPolicy;
  /** The categories that count against the circuit (O1). */
  readonly outcomes: Readonly<Record<ErrorCategory, Judgement>>;
  readonly classify: Classifier | undefined;
  readonly isFailure: ResultJudge | undefined;
  /** `false`: its calls have no keys, even if an adapter names them (C14). */
  readonly key: KeyOf | false | undefined;
  /** The tool's purpose, and what to do without it (R1). */
  readonly capability: Capability;
  /** The fallback of skipped and paused calls if no other tool is usable (R2). */
  readonly lastResort: Route;
  /** The check to run before calls (K1). */
  readonly precheck: Precheck | undefined;
  /** Whether results that may not be current get a label (F1). */
  readonly labelFreshness: boolean;
  /** Whether results are remembered for labels (F1) or as last good results (F2). */
  readonly keepsResults: boolean;
  /** Maximum age in milliseconds of a last good result that answers a skipped call; undefined: no such result is used (F2). */
  readonly serveStaleMs: number | undefined;
}

/** The owner of a circuit: a tool, or a group of tools (C13). */
export interface CircuitSpec {
  /** `group:NAME` for a group. */
  readonly name: string;
  readonly mode: CircuitMode;
  readonly policy: CircuitPolicy;
  /** The policy of the circuits of its keys (C14); undefined for a group. */
  readonly keyPolicy?: CircuitPolicy;
  readonly series: ToolSeries;
}

/** A declared tool. */
export interface ToolSpec extends ToolSettings, CircuitSpec {
  readonly keyPolicy: CircuitPolicy;
  /** The group whose circuit its calls must also pass (C13). An adapter may name it after the tool was declared. */
  group: CircuitSpec | undefined;
}

/** Finds declared tools by their names. */
export interface ToolLookup {
  tool(name: string): ToolSpec | undefined;
}
