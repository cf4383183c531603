import type { Moment } from '../clock.ts';
import { admit, type Circuit, closedCircuit, fail, type Ticket } from './circuit.ts';
import { type CircuitConfig, resolvePolicy } from './policy.ts';

/** A moment of a session. */
export const at = (ms: number, step = 0, stepMs = 0): Moment => ({ ms, step, stepMs });
export const call = { durationMs: 5, tokens: 0 };
export const failure = { category: 'network', ...call } as const;

/** Opens a circuit at `moment`. */
export const openAt = (config: CircuitConfig, moment: Moment, retryAfterMs?: number): Circuit => {
  const policy = resolvePolicy({ failureThreshold: 1, ...config });
  return fail(closedCircuit(), closedCircuit(), { ...failure, retryAfterMs }, policy, moment);
};

/** A circuit with one probe on its way, and that probe's ticket. */
export const probing = (
  config: CircuitConfig,
  opened: Circuit,
  moment: Moment,
): { circuit: Circuit; ticket: Ticket } => {
  const admission = admit(opened, resolvePolicy({ failureThreshold: 1, ...config }), moment);
  if (admission.verdict !== 'probe') throw new Error(`expected a probe, got ${admission.verdict}`);
  return { circuit: admission.circuit, ticket: { generation: admission.circuit.generation, lease: admission.lease } };
};
