import type { Budget } from './budget/budget.ts';
import { createLedger, type LedgerPair } from './budget/ledger.ts';
import { type Correlation, NO_CORRELATION } from './budget/systemic.ts';
import type { KeptCircuit } from './tracked-circuit.ts';

/** The whole state of a session: what a new one begins with, and what a snapshot keeps (C11). */
export interface SessionMemory {
  readonly ledgerPair: LedgerPair;
  readonly correlation: Correlation;
  /** Undefined if no tool was ever observed (C1). */
  readonly dryRunCorrelation: Correlation | undefined;
  readonly step: number;
  /** When the step last moved, in monotonic ms. */
  readonly stepMs: number;
  /** Circuits by name, in the order of their first use. */
  readonly circuits: ReadonlyMap<string, KeptCircuit>;
}

export const freshMemory = (budget: Budget, ms: number): SessionMemory => ({
  ledgerPair: { real: createLedger(budget), dryRun: undefined },
  correlation: NO_CORRELATION,
  dryRunCorrelation: undefined,
  step: 0,
  stepMs: ms,
  circuits: NONE,
});

const NONE: SessionMemory['circuits'] = new Map();
