import type { SpanContext } from '@opentelemetry/api';
import type { Books } from './books.ts';
import type { Budget } from './budget/budget.ts';
import type { Circuit } from './circuit/circuit.ts';
import type { CircuitMode } from './circuit/mode.ts';
import { type Correlation, NO_CORRELATION } from './correlation.ts';
import type { KeyCircuits } from './keys.ts';
import { createLedger } from './ledger.ts';

/** A circuit without its tool and its probes. */
export interface KeptCircuit {
  readonly mode: CircuitMode;
  readonly circuit: Circuit;
  /** The span whose failure opened the circuit. */
  readonly openedBy: SpanContext | undefined;
  /** Of the keys of a tool (C14). */
  readonly keys?: KeyCircuits | undefined;
}

/** The whole state of a session: what a new one begins with, and what a snapshot keeps (C11). */
export interface SessionMemory {
  readonly books: Books;
  readonly correlation: Correlation;
  /** Undefined if no tool was ever observed (C1). */
  readonly shadowCorrelation: Correlation | undefined;
  readonly step: number;
  /** When the step last moved, in monotonic ms. */
  readonly stepMs: number;
  /** Circuits by name, in the order of their first use. */
  readonly circuits: ReadonlyMap<string, KeptCircuit>;
}

/** The memory of a new session. */
export const freshMemory = (budget: Budget, ms: number): SessionMemory => ({
  books: { real: createLedger(budget), shadow: undefined },
  correlation: NO_CORRELATION,
  shadowCorrelation: undefined,
  step: 0,
  stepMs: ms,
  circuits: NONE,
});

const NONE: SessionMemory['circuits'] = new Map();
