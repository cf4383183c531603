import type { CircuitMode } from './circuit/mode.ts';
import type { CircuitPolicy } from './circuit/policy.ts';
import type { Classification } from './outcome/classify.ts';
import type { ErrorCategory, Judgement } from './outcome/taxonomy.ts';
import type { ToolCells } from './telemetry/metrics.ts';

/** Looks at what a tool threw, or at an error that it returned; `undefined` leaves it to the built-in classifier (O2). */
export type Classifier = (failure: unknown) => ErrorCategory | Classification | undefined;

/** How a tool is treated, with its defaults filled in. */
export interface ToolSettings {
  readonly mode: CircuitMode;
  readonly policy: CircuitPolicy;
  /** Which categories count against the circuit (O1). */
  readonly outcomes: Readonly<Record<ErrorCategory, Judgement>>;
  readonly classify: Classifier | undefined;
}

/** A declared tool. */
export interface ToolSpec extends ToolSettings {
  readonly name: string;
  readonly cells: ToolCells;
}
