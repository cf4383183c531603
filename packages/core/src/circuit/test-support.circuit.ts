import type { Moment } from '../clock.ts';
import { admit, type Circuit, closedCircuit, fail, type Ticket } from './circuit.ts';
import { type CircuitConfig, type CircuitPolicy, resolvePolicy } from './policy.ts';
import type { Asking, Outage } from './schedule.ts';

/** A moment of a session. */
export const at = (ms: number, step = 0, stepMs = 0): Moment => ({ ms, step, stepMs });
export const call = { durationMs: 5, tokens: 0 };
export const failure = { category: 'network', ...call } as const;

/** Opens a circuit at `moment`. */
export const openAt = (config: CircuitConfig, moment: Moment, retryAfterMs?: number, capMs?: number): Circuit => {
  const policy = resolvePolicy({ failureThreshold: 1, ...config });
  return fail(closedCircuit(), closedCircuit(), { ...failure, retryAfterMs }, policy, moment, { capMs });
};

export const outageOf = (circuit: Circuit): Outage => {
  if (circuit.state === 'closed') throw new Error('expected a circuit that is not closed');
  return circuit.outage;
};

/** A circuit with one probe under way, and that probe's ticket. */
export const probing = (
  policy: CircuitPolicy,
  opened: Circuit,
  moment: Moment,
  asking?: Asking,
): { circuit: Circuit; ticket: Ticket } => {
  const admission = admit(opened, policy, moment, asking);
  if (admission.verdict !== 'probe') throw new Error(`expected a probe, got ${admission.verdict}`);
  return { circuit: admission.circuit, ticket: { generation: admission.circuit.generation, lease: admission.lease } };
};
