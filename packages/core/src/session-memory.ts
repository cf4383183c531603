import type { Budget } from './budget/budget.ts';
import { createLedger, type LedgerPair } from './budget/ledger.ts';
import { type Correlation, NO_CORRELATION } from './budget/systemic.ts';
import type { KeptCircuit } from './tracked-circuit.ts';

/** The circuits of a session, and the failures that may have one cause. */
export interface CircuitMemory {
  /** By name, in the order of their first use. */
  readonly circuits: ReadonlyMap<string, KeptCircuit>;
  readonly correlation: Correlation;
  /** Undefined if no tool was ever observed (C1). */
  readonly dryRunCorrelation: Correlation | undefined;
}

export const NO_CIRCUITS: CircuitMemory = {
  circuits: new Map(),
  correlation: NO_CORRELATION,
  dryRunCorrelation: undefined,
};

/** The whole state of a session: what a new one begins with, and what a snapshot keeps (C11). */
export interface SessionMemory extends CircuitMemory {
  readonly ledgerPair: LedgerPair;
  readonly step: number;
  /** When the step last moved, in monotonic ms. */
  readonly stepMs: number;
}

export const freshMemory = (budget: Budget, ms: number): SessionMemory => ({
  ledgerPair: { real: createLedger(budget), dryRun: undefined },
  ...NO_CIRCUITS,
  step: 0,
  stepMs: ms,
});
