import type { Circuit, CircuitState } from './circuit.ts';

/** Who decides for a tool: its circuit, or an operator by hand (C1). */
export const CIRCUIT_MODES = ['automatic', 'forced_open', 'disabled', 'observe_only'] as const;

/**
 * How a tool's circuit is used (C1).
 *
 * | mode | means |
 * |---|---|
 * | `automatic` | the circuit decides: the default |
 * | `forced_open` | every call is skipped, without probes, until the mode is changed |
 * | `disabled` | calls pass, and touch neither circuit nor budget; pauses of the session still hold |
 * | `observe_only` | calls pass; what would have been decided is counted and reported, and rejects no call |
 */
export type CircuitMode = (typeof CIRCUIT_MODES)[number];

/** The reported state of a circuit: its own state while it decides, otherwise its mode. */
export type ReportedState = CircuitState | Exclude<CircuitMode, 'automatic'>;

/** The state that views, permits, spans and metrics show. */
export const reportedState = (mode: CircuitMode, circuit: Circuit): ReportedState =>
  mode === 'automatic' ? circuit.state : mode;
