import type { Circuit, Outage } from './circuit/circuit.ts';
import type { CircuitPolicy } from './circuit/policy.ts';
import { type ProbeWait, probeWait } from './circuit/schedule.ts';
import type { Moment } from './clock.ts';
import { formatDuration } from './format.ts';
import type { Ledger } from './ledger.ts';
import type { Reason } from './reasons.ts';
import type { SystemicEvent } from './systemic.ts';

/**
 * What the model is told in place of a result. Written for a reader who acts on it: what is out, why, until when, what to
 * do, and not to try again. No argument, result or error text: those may hold secrets.
 */

const GO_ON = 'Go on without it, and say in your answer what is missing because of it.';

/** What stood when a call was held up. */
export interface Grounds {
  readonly reason: Reason;
  readonly tool: string;
  /** Undefined for an undeclared tool. */
  readonly circuit: Circuit | undefined;
  readonly policy: CircuitPolicy;
  readonly ledger: Ledger;
  readonly at: Moment;
}

/** The message of a skip or a pause. */
export const explain = ({ reason, tool, circuit, policy, ledger, at }: Grounds): string => {
  if (reason === 'forced_open') return switchedOffMessage(tool);
  if (reason === 'systemic' && ledger.event !== undefined) return systemicMessage(ledger.event);
  if (reason === 'budget_exhausted' || circuit === undefined || circuit.state === 'closed') {
    return budgetMessage(ledger.budget.limit);
  }
  return skipMessage(
    tool,
    circuit.outage,
    circuit.state === 'open' ? probeWait(circuit.outage, policy, at) : undefined,
  );
};

/** Somebody switched the tool off. */
const switchedOffMessage = (tool: string): string =>
  `Tool '${tool}' is unavailable: it was switched off by an operator. Do not retry it. ${GO_ON}`;

/** The circuit is open, or others are probing. */
const skipMessage = (tool: string, outage: Outage, wait: ProbeWait | undefined): string =>
  `Tool '${tool}' is unavailable: its last calls failed (${outage.category}). Do not retry it now; ` +
  `${wait === undefined ? 'one call is testing whether it has recovered' : `it may be tried again ${until(wait)}`}. ` +
  GO_ON;

/** The failure budget is spent. */
const budgetMessage = (limit: number): string =>
  `Tool calls are paused: ${limit} tool calls of this run have failed, which is all that it may spend on failures. Call no ` +
  `more tools. Report what is done, what is not and why, and that somebody has to let the run go on.`;

/** Several tools failed as one event. */
const systemicMessage = ({ openings, category, layer }: SystemicEvent): string => {
  const tools = openings.map(({ tool }) => `'${tool}'`).join(', ');
  const shared = category === undefined ? 'at the same time' : `in the same way (${category})`;
  const suspect = layer === 'unknown' ? '' : `; the cause they share is probably in the ${layerName[layer]}`;
  return (
    `Tool calls are paused: ${tools} failed ${shared}${suspect}. Call no more tools, working ones neither. Report what is ` +
    `done, what is not and why, and that somebody has to confirm the recovery.`
  );
};

const layerName: Record<Exclude<SystemicEvent['layer'], 'unknown'>, string> = {
  network: 'network',
  filesystem: 'file system',
  permissions: 'permissions',
  upstream: 'service behind them',
};

const until = ({ steps, ms, notBeforeMs }: ProbeWait): string => {
  // A Retry-After may hold up a probe whose own wait is over.
  if ((steps ?? 1) <= 0 || (ms ?? 1) <= 0) return `in ${formatDuration(notBeforeMs)}`;
  const bySteps = steps === undefined ? undefined : `in ${steps} ${steps === 1 ? 'step' : 'steps'}`;
  const byTime = ms === undefined ? undefined : `in ${formatDuration(ms)}`;
  const due = [bySteps, byTime].filter((one) => one !== undefined).join(' or ');
  return notBeforeMs > 0 ? `${due}, and not for ${formatDuration(notBeforeMs)}` : due;
};
