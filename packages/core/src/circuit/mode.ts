import type { Circuit, CircuitState } from './circuit.ts';

/** Who decides for a tool: its circuit, or an operator by hand (C1). */
export const CIRCUIT_MODES = ['automatic', 'forced_open', 'disabled', 'observe_only'] as const;

/**
 * How a tool's circuit is used (C1).
 *
 * | mode | means |
 * |---|---|
 * | `automatic` | the circuit decides: the default |
 * | `forced_open` | every call is skipped, without probes, until somebody says otherwise |
 * | `disabled` | calls pass, and touch neither circuit nor budget; pauses of the session still hold |
 * | `observe_only` | calls pass; what would have been decided is counted and reported, and bites nobody |
 */
export type CircuitMode = (typeof CIRCUIT_MODES)[number];

/** What a circuit is reported as: its own state while it decides, else its mode. */
export type ReportedState = CircuitState | Exclude<CircuitMode, 'automatic'>;

/** The state that views, permits, spans and metrics show. */
export const reportedState = (mode: CircuitMode, circuit: Circuit): ReportedState =>
  mode === 'automatic' ? circuit.state : mode;
