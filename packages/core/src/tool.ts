import type { CircuitPolicy } from './circuit/policy.ts';
import type { Classification } from './outcome/classify.ts';
import type { ErrorCategory, Judgement } from './outcome/taxonomy.ts';
import type { ToolCells } from './telemetry/metrics.ts';

/** Looks at what a tool threw, or at an error that it returned; `undefined` leaves it to the built-in classifier (O2). */
export type Classifier = (failure: unknown) => ErrorCategory | Classification | undefined;

/** A declared tool, with its defaults filled in. */
export interface ToolSpec {
  readonly name: string;
  readonly policy: CircuitPolicy;
  /** Which categories count against the circuit (O1). */
  readonly outcomes: Readonly<Record<ErrorCategory, Judgement>>;
  readonly classify: Classifier | undefined;
  readonly cells: ToolCells;
}
