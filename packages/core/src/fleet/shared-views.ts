import type { BoxContext } from '../box-context.ts';
import { isAffected, latestOf } from '../budget/systemic.ts';
import { type Circuit, type CircuitMode, categoryOf, closedCircuit } from '../circuit/circuit.ts';
import type { CircuitPolicy } from '../circuit/policy.ts';
import { digest } from '../loop-guard/digest.ts';
import type { TrackedCircuit } from '../tracked-circuit.ts';
import { EVENT_CIRCUIT, type SharedCircuit, type SharedPolicy } from './seam.ts';

/** Any seed, but the same in each process. */
const SEED = 1;

const digests = new WeakMap<CircuitPolicy, string>();

/** G9: a short name for a policy. Processes with other settings have another one. */
export const digestOf = (policy: CircuitPolicy): string => {
  const known = digests.get(policy) ?? digest(policy, SEED)?.slice(0, 12) ?? '';
  digests.set(policy, known);
  return known;
};

/** Events of other agents have other tools. */
export const eventDigest = (agent: string, policy: CircuitPolicy): string =>
  digest([agent, digestOf(policy)], SEED)?.slice(0, 12) ?? '';

export const sharedPolicy = (policy: CircuitPolicy): SharedPolicy => {
  const { cooldownMs, maxCooldownMs, maxRetryAfterMs, probeLeaseMs } = policy;
  return { cooldownMs, maxCooldownMs, maxRetryAfterMs, probeLeaseMs };
};

interface Seen {
  readonly name: string;
  readonly digest: string;
  readonly mode: CircuitMode;
  readonly circuit: Circuit;
  readonly policy: CircuitPolicy;
  /** Monotonic ms; undefined if no call was rejected. */
  readonly rejectedMs: number | undefined;
}

const viewOf = ({ name, digest, mode, circuit, policy, rejectedMs }: Seen, nowMs: number): SharedCircuit => {
  const outage = circuit.state === 'closed' ? undefined : circuit.outage;
  const leases = circuit.state === 'half_open' ? circuit.leases : [];
  const isAsked = outage !== undefined && rejectedMs !== undefined && rejectedMs >= outage.openedAt.ms;
  return {
    name,
    digest,
    mode,
    // A probe that was given back leaves the circuit half-open (C8). For the fleet, it waits for a probe again.
    state: circuit.state === 'half_open' && leases.length === 0 ? 'open' : circuit.state,
    category: categoryOf(circuit),
    ageMs: outage && nowMs - outage.openedAt.ms,
    waitMs: outage?.waitMs ?? policy.cooldownMs,
    retryAfterMs: outage === undefined ? 0 : Math.max(0, outage.notBeforeMs - nowMs),
    rejectedMs: isAsked ? nowMs - rejectedMs : undefined,
    leaseMs: leases.length === 0 ? undefined : Math.max(0, ...leases.map(({ untilMs }) => untilMs - nowMs)),
    policy: sharedPolicy(policy),
  };
};

/** A circuit of a tool or a group, as the fleet sees it: beneath the mode of an operator. */
export const circuitView = (context: BoxContext, tracked: TrackedCircuit): SharedCircuit => {
  const { tool, mode, covered = tracked } = tracked;
  const { name, policy } = tool;
  const rejectedMs = isBehind(context, name)
    ? undefined
    : latestRejection(context, (one) => isServed(context, name, one));
  const digest = digestOf(policy);
  return viewOf({ name, digest, mode, circuit: covered.circuit, policy, rejectedMs }, context.clock.now());
};

/** The circuit around the systemic event that lasts; undefined if no probe ends events. */
export const eventView = (context: BoxContext, isShared: boolean): SharedCircuit | undefined => {
  const policy = context.systemic?.gate;
  const { gate, correlation } = context.shared?.correlations.real ?? {};
  if (policy === undefined) return undefined;
  const { event } = correlation ?? {};
  const circuit = isShared && gate !== undefined ? gate.circuit : closedCircuit();
  const rejected = latestRejection(context, ({ tool }) => isAffected(context.systemic, event, tool.name));
  const rejectedMs = event && rejected !== undefined && rejected >= latestOf(event) ? rejected : undefined;
  const own = { name: EVENT_CIRCUIT, digest: eventDigest(context.agent, policy), mode: 'automatic' } as const;
  return viewOf({ ...own, circuit, policy, rejectedMs }, context.clock.now());
};

/** Whether a group or an event rejects the calls of a circuit first. Then a probe of the circuit alone cannot pass. */
const isBehind = (context: BoxContext, name: string): boolean => {
  const group = context.tool(name)?.group;
  const ofGroup = group && context.shared?.circuits.get(group.name);
  if (ofGroup !== undefined && ofGroup.mode === 'automatic' && ofGroup.circuit.state !== 'closed') return true;
  return isAffected(context.systemic, context.shared?.correlations.real.correlation.event, name);
};

/** Whether calls of that tool ask for a probe of this circuit: its own calls, or those of a group's tools. */
const isServed = (context: BoxContext, name: string, { tool }: TrackedCircuit): boolean =>
  tool.name === name || context.tool(tool.name)?.group?.name === name;

const latestRejection = ({ shared }: BoxContext, counts: (one: TrackedCircuit) => boolean): number | undefined => {
  let latest: number | undefined;
  for (const one of shared?.circuits.values() ?? []) {
    const { rejectedMs } = one;
    if (rejectedMs !== undefined && rejectedMs >= (latest ?? rejectedMs) && counts(one)) latest = rejectedMs;
  }
  return latest;
};
