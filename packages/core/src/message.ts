import { remaining } from './budget.ts';
import type { AlternativeRoute, Route } from './capability/route.ts';
import { asClause, describeWait, LOSS, quoteTool } from './capability/wording.ts';
import type { Circuit, Outage } from './circuit/circuit.ts';
import type { CircuitPolicy } from './circuit/policy.ts';
import { probeWait } from './circuit/schedule.ts';
import type { Moment } from './clock.ts';
import { describeFreshness } from './freshness.ts';
import type { Ledger } from './ledger.ts';
import { REASONS, type Reason } from './reasons.ts';
import type { SystemicEvent } from './systemic.ts';

/**
 * What the model is told in place of a result (R3). Written for a reader who acts on it: what is out, why, until when, what to
 * do instead and what that loses, and not to try again. No argument, result or error text: those may hold secrets.
 */

const SAY_SO = 'say in your answer what is missing because of it';

/** What stood when a call was held up. */
export interface Grounds {
  readonly reason: Reason;
  readonly tool: string;
  /** Undefined for a tool that has none. */
  readonly circuit: Circuit | undefined;
  readonly policy: CircuitPolicy;
  readonly at: Moment;
  readonly ledger: Ledger;
  /** Where to go instead; undefined: nowhere. */
  readonly route: Route | undefined;
}

/** The message of a skip or a pause (R3). */
export const explain = (grounds: Grounds): string => {
  if (isPause(grounds)) return [pauseText(grounds), ...insteadOnPause([grounds])].join(' ');
  const { reason, tool } = grounds;
  if (reason === 'repeat') {
    const advice = 'Do not repeat it: change the arguments, or do something else first.';
    return `Tool ${quoteTool(tool)} was not called: ${whyOf(grounds)}. ${advice} ${insteadOf(grounds)}`;
  }
  const again = againOf(grounds);
  const advice = again === undefined ? 'Do not retry it.' : `Do not retry it now; ${again}.`;
  return `Tool ${quoteTool(tool)} is unavailable: ${whyOf(grounds)}. ${advice} ${insteadOf(grounds)}`;
};

/** R3: the same for all tools that are out, as a part of the system prompt; empty where none is. */
export const noteText = (entries: readonly Grounds[]): string => {
  const paused = entries.filter(isPause);
  const skipped = entries.filter((grounds) => !isPause(grounds));
  const [first] = paused;
  return [
    ...(first === undefined ? [] : [pauseText(first), ...insteadOnPause(paused)]),
    ...(skipped.length === 0 ? [] : ['These tools are unavailable now. Do not call them.']),
    ...skipped.map(noteLine),
  ].join('\n');
};

const noteLine = (grounds: Grounds): string => {
  const again = againOf(grounds);
  const until = again === undefined ? '' : `; ${again}`;
  return `- ${quoteTool(grounds.tool)}: ${whyOf(grounds)}${until}. ${insteadOf(grounds)}`;
};

const isPause = ({ reason }: Grounds): boolean => REASONS[reason] === 'pause';

/** Why a tool is skipped. */
const whyOf = ({ reason, circuit }: Grounds): string => {
  switch (reason) {
    case 'forced_open':
      return 'it was switched off by an operator';
    case 'not_allowed':
      return 'it is not among the tools that this run may use';
    case 'unavailable':
      return "the check before its calls says that it can't be used now";
    case 'repeat':
      return 'the same call has come to nothing in the same way several times running';
    default:
      return circuit === undefined || circuit.state === 'closed' ? 'its last calls failed' : causeOf(circuit.outage);
  }
};

/** What opened the circuit (C3). */
const causeOf = ({ trip, category }: Outage): string => {
  switch (trip) {
    case 'slow_call_rate':
      return 'too many of its calls took too long';
    case 'failure_rate':
      return `too many of its calls failed, the last one with ${category}`;
    case 'wasted_tokens':
      return `its failed calls (${category}) cost too many tokens`;
    default:
      return `its last calls failed (${category})`;
  }
};

/** When it may be tried again; undefined where nobody can say. */
const againOf = ({ reason, circuit, policy, at }: Grounds): string | undefined => {
  if (reason === 'unavailable') return 'it may be tried again once that check passes';
  if (reason === 'probe_in_flight') return 'one call is testing whether it has recovered';
  if (reason !== 'open' || circuit?.state !== 'open') return undefined;
  return `it may be tried again ${describeWait(probeWait(circuit.outage, policy, at))}`;
};

/** What to do instead of a call that is skipped. */
const insteadOf = ({ reason, route }: Grounds): string => {
  switch (route?.kind) {
    case 'alternative':
      return alternativeText(route);
    case 'stale':
      return `Its last good result is given instead (${describeFreshness(route.label)}). Say in your answer how old it is.`;
    case 'manual':
      return `Instead: ${asClause(route.fallback)}.`;
    default:
      return `${reason === 'repeat' ? 'Or go' : 'Go'} on without it, and ${SAY_SO}.`;
  }
};

const alternativeText = ({ tool, method, degradation, note }: AlternativeRoute): string => {
  const loss = [note, LOSS[degradation]].filter((one) => one !== undefined).map(asClause);
  return [
    `Use ${quoteTool(tool)} instead (${loss.join('; ')}).`,
    ...(method === undefined ? [] : [`How: ${asClause(method)}.`]),
    ...(degradation === 'low' ? [] : [`Then ${SAY_SO}.`]),
  ].join(' ');
};

/** While all tools are paused, only what takes none can be done instead. */
const insteadOnPause = (entries: readonly Grounds[]): readonly string[] =>
  entries.flatMap(({ tool, route }) =>
    route?.kind === 'manual' ? [`In place of ${quoteTool(tool)}: ${asClause(route.fallback)}.`] : [],
  );

const pauseText = ({ reason, ledger }: Grounds): string =>
  reason === 'systemic' ? systemicText(ledger.event) : budgetText(ledger);

/** The failure budget is spent, or that of tokens (B1, B4). */
const budgetText = ({ budget }: Ledger): string =>
  `Tool calls are paused: ${
    remaining(budget) > 0
      ? 'failed tool calls of this run have cost all the tokens that it may waste on failures'
      : `${budget.limit} tool ${budget.limit === 1 ? 'call of this run has' : 'calls of this run have'} failed, which is all that it may spend on failures`
  }. Call no more tools. Report what is done, what is not and why, and that somebody has to let the run go on.`;

/** Several tools failed as one event (S2). */
const systemicText = (event: SystemicEvent | undefined): string => {
  const tools = event?.openings.map(({ tool }) => quoteTool(tool)).join(', ') ?? 'several tools';
  const shared = event?.category === undefined ? 'at the same time' : `in the same way (${event.category})`;
  return (
    `Tool calls are paused: ${tools} failed ${shared}${event === undefined ? '' : suspicion(event)}. Call no more tools, ` +
    `working ones neither. Report what is done, what is not and why, and that somebody has to confirm the recovery.`
  );
};

/** S4: what they share. */
const suspicion = ({ layer, dependency }: SystemicEvent): string => {
  if (dependency !== undefined)
    return `; the cause they share is probably in ${quoteTool(dependency)}, which they depend on`;
  return layer === 'unknown' || layer === 'dependency'
    ? ''
    : `; the cause they share is probably in the ${LAYER[layer]}`;
};

const LAYER: Record<Exclude<SystemicEvent['layer'], 'dependency' | 'unknown'>, string> = {
  network: 'network',
  filesystem: 'file system',
  permissions: 'permissions',
  upstream: 'service behind them',
};
