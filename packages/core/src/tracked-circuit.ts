import type { SpanContext } from '@opentelemetry/api';
import { adopted, type Circuit, type CircuitMode, closedCircuit } from './circuit/circuit.ts';
import { adoptKeys, forgetKeys, type KeyCircuits, type Keyed } from './circuit/key-circuits.ts';
import type { CircuitSpec } from './tool.ts';

/**
 * C17: the calls of a tool or of a group that are under way, if their number is limited, and when each is taken as lost. Monotonic ms.
 */
export type InFlight = Map<object, number>;

/** The circuit of a tool or a group in use: the pure state, and the data beside the state machine. */
export interface TrackedCircuit extends Keyed {
  /** Who decides (C1). */
  mode: CircuitMode;
  /** The dry run if the mode is `observe_only`; closed and unused if the mode is `forced_open` or `disabled`. */
  circuit: Circuit;
  /** The span whose failure opened the circuit; probes and skips link to it. */
  openedBy: SpanContext | undefined;
  /** What an operator's mode covers: the circuit as it was, and the mode that was set in code (A4). Undefined without such a mode. */
  covered?: TrackedCircuit | undefined;
  /** When a call that a probe may be was last rejected, in monotonic ms: a fleet sends no probe that is not asked for (G4). */
  rejectedMs?: number | undefined;
  /** The orders of a fleet that the circuit has taken up (G1). */
  ordered?: object | undefined;
  /** The latest grant of a fleet that a failed probe of it has used up (G4). */
  usedGrant?: object | undefined;
  /** The calls under way, if their number is limited (C17). */
  inFlight?: InFlight | undefined;
  /** `session.control()` has set its mode, which changes of settings leave as it is (C16). */
  isControlled?: true | undefined;
  /** The settings of its tool that the circuit has taken up. Undefined until they change (A10). */
  takenUp?: Pick<CircuitSpec, 'mode' | 'policy'> | undefined;
}

/** A circuit without its tool and its probes. */
export interface KeptCircuit {
  readonly mode: CircuitMode;
  readonly circuit: Circuit;
  /** The span whose failure opened the circuit. */
  readonly openedBy: SpanContext | undefined;
  /** Of the keys of a tool (C14). */
  readonly keys?: KeyCircuits | undefined;
  readonly isControlled?: true | undefined;
}

/** Changes who decides for a circuit. The circuit starts again, and results of calls under way are late (C1). */
export const takeOver = (tracked: TrackedCircuit, mode: CircuitMode): void => {
  tracked.mode = mode;
  tracked.circuit = closedCircuit(tracked.circuit.generation + 1);
  tracked.openedBy = undefined;
  tracked.ordered = undefined; // It takes them up again.
  tracked.keys = forgetKeys(tracked.keys);
};

/** A tool's circuit on its first use (C2). */
export const newCircuit = (tool: CircuitSpec): TrackedCircuit => ({
  tool,
  mode: tool.mode,
  circuit: closedCircuit(),
  openedBy: undefined,
  keys: undefined,
});

/** A tool's circuit on its first use, restored from what was kept (C11). */
export const recalledCircuit = (tool: CircuitSpec, kept: KeptCircuit, ms: number): TrackedCircuit => ({
  tool,
  mode: kept.mode,
  circuit: adopted(kept.circuit, tool.policy, ms),
  openedBy: kept.openedBy,
  isControlled: kept.isControlled,
  keys: kept.keys && adoptKeys(kept.keys, { tool }, ms),
});
