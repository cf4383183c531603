import type { SpanContext } from '@opentelemetry/api';
import type { Books } from './books.ts';
import type { Budget } from './budget.ts';
import type { Circuit } from './circuit/circuit.ts';
import type { CircuitMode } from './circuit/mode.ts';
import { createLedger } from './ledger.ts';

/** A circuit apart from its tool and its probes. */
export interface KeptCircuit {
  readonly mode: CircuitMode;
  readonly circuit: Circuit;
  /** The span whose failure opened the circuit. */
  readonly openedBy: SpanContext | undefined;
}

/** All that a session goes by: what a new one begins with, and what a snapshot keeps (C11). */
export interface SessionMemory {
  readonly books: Books;
  readonly step: number;
  /** When the step last moved, in monotonic ms. */
  readonly stepMs: number;
  /** Circuits by tool, in the order of their first use. */
  readonly circuits: ReadonlyMap<string, KeptCircuit>;
}

/** The memory of a session that begins. */
export const freshMemory = (budget: Budget, ms: number): SessionMemory => ({
  books: { real: createLedger(budget), shadow: undefined },
  step: 0,
  stepMs: ms,
  circuits: NONE,
});

const NONE: SessionMemory['circuits'] = new Map();
