import type { SpanContext } from '@opentelemetry/api';
import type { Circuit, Lease } from './circuit/circuit.ts';
import type { SessionPermit } from './permit.ts';
import type { ToolSpec } from './tool.ts';

/** A tool's circuit in the hands of a session: the pure state, and what belongs to it outside of the state machine. */
export interface TrackedCircuit {
  readonly tool: ToolSpec;
  circuit: Circuit;
  /** The span whose failure opened the circuit; probes and skips link to it. */
  openedBy: SpanContext | undefined;
  /** Probes that have not settled, by lease: whoever notices that a lease has run out settles them (C9). */
  readonly probes: Map<Lease, SessionPermit>;
}
