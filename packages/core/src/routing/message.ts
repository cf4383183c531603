import { remaining } from '../budget/budget.ts';
import type { Ledger } from '../budget/ledger.ts';
import type { SystemicEvent } from '../budget/systemic.ts';
import { type Circuit, type CircuitMode, isWaiting } from '../circuit/circuit.ts';
import { type CircuitPolicy, groupNameOf } from '../circuit/policy.ts';
import { type Outage, type ProbeWait, probeWait } from '../circuit/schedule.ts';
import type { Trip } from '../circuit/trip-policies/trip-policies.ts';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { Moment } from '../clock.ts';
import { describeFreshness } from '../freshness/freshness.ts';
import type { LimitView } from '../limits/limit-view.ts';
import { type Decision, type PauseReason, type Reason, SKIPS, type SkipReason } from '../reasons.ts';
import { reachedText, reservedText } from './limit-text.ts';
import type { AlternativeRoute, Route } from './route.ts';
import { asClause, describeWait, LOSS, quoteTool } from './wording.ts';

/**
 * The text for the model in place of a result (R3). It tells a reader who acts on it: which tool is unavailable, why, until when,
 * what to do instead, what that loses, and not to try again. It contains no argument, result or error text, because those may hold
 * secrets.
 */

const SAY_SO = 'say in your answer what is missing';
const SAY_ITS_AGE = 'Say in your answer how old it is.';

/**
 * R3: the end of every text in place of a call. A guard around another one of this process recognises the text, and does not charge the
 * tool.
 */
export const SKIP_MARK = '[breakerbox:not-called]';

/** R3: the key in `_meta` of an MCP result by which a relay says the same to other processes. */
export const SKIP_KEY = 'breakerbox/not-called';

/** What rejects calls beside the tool's own circuit. */
export interface RejectionCauses {
  /** The circuit of the tool's group (C13). */
  readonly group:
    | { readonly name: string; readonly mode: CircuitMode; readonly circuit: Circuit; readonly policy: CircuitPolicy }
    | undefined;
  /** The circuit of the call's key, if it rejects the call (C14). */
  readonly key: { readonly circuit: Circuit; readonly policy: CircuitPolicy } | undefined;
  /** The systemic event that is not over. */
  readonly event: SystemicEvent | undefined;
  /** The gate that lets one call probe for that event (S5). */
  readonly gate: { readonly circuit: Circuit; readonly policy: CircuitPolicy } | undefined;
  /** The limit of the run that rejects the call (D2). */
  readonly limit: LimitView | undefined;
}

/** How an alternative did not answer in place: it failed, it could not answer this call, or it could not be called. */
export type TriedEnd = 'failed' | 'unanswered' | 'rejected';

/** The facts for the text of a skipped or paused call, as they were when the call was rejected. */
export interface RejectionFacts extends RejectionCauses {
  readonly reason: Reason;
  readonly decision: Decision;
  readonly tool: string;
  /** Who decides for the tool (C1). */
  readonly mode: CircuitMode;
  /** Undefined if the tool has no circuit. */
  readonly circuit: Circuit | undefined;
  readonly policy: CircuitPolicy;
  readonly at: Moment;
  /** Whether the steps of the wait are turns of the model: the session has its own circuits, and `step()` was called. */
  readonly takesTurns: boolean;
  /** C14: whether a call of the tool has succeeded since the box was made. */
  readonly hasWorked: boolean;
  readonly ledger: Ledger;
  /** The fallback; undefined if there is no fallback. */
  readonly route: Route | undefined;
  /** R5: the alternative that was to answer in place, and how that ended. */
  readonly tried?: { readonly tool: string; readonly end: TriedEnd };
  /** Of the relay of an MCP server alone. */
  readonly relayed?: Relayed | undefined;
}

/** The words of the relay of an MCP server. Its session lives for days, and the model has tools of other servers too (M5). */
export interface Relayed {
  /** Begins the text of a pause. */
  readonly paused: string;
  /** Which calls have failed, as the end of "too many". */
  readonly calls: string;
  /** The calls that have used up the tokens for failures. */
  readonly failedCalls: string;
  /** Asks the model to make no more calls. */
  readonly stop: string;
  /** When the tool may work again, if the server is being started again. */
  readonly again: string | undefined;
  /** How a pause of the budget ends; undefined if a person ends it. */
  readonly pauseEnd: () => string | undefined;
}

/** The message of a skip or a pause (R3). */
export const rejectionText = (facts: RejectionFacts): string => {
  if (isPause(facts)) {
    const rest = isForNow(facts)
      ? [LATER]
      : [facts.relayed?.stop ?? STOP, afterPause(facts), ...insteadOnPause([facts])];
    return [pauseText(facts), ...rest, SKIP_MARK].join(' ');
  }
  const { reason, tool } = facts;
  if (reason === 'busy')
    return `Tool ${quoteTool(tool)} was not called: ${whyOf(facts)}. Try again in your next turn. ${SKIP_MARK}`;
  if (reason === 'limit_reserved')
    return `Tool ${quoteTool(tool)} was not called: ${whyOf(facts)}. Wait for their results, or finish. ${SKIP_MARK}`;
  if (reason !== 'repeat') return `${skipText(facts, 'is unavailable')} ${insteadOf(facts)} ${SKIP_MARK}`;
  return `${repeatText(facts)} ${SKIP_MARK}`;
};

const repeatText = (facts: RejectionFacts): string => {
  const advice = 'Do not repeat it: change the arguments, or do something else first.';
  return `Tool ${quoteTool(facts.tool)} was not called: ${whyOf(facts)}. ${advice} ${insteadOf(facts)}`;
};

/**
 * R5: the same after a call that was made, and left its tool unavailable, or whose alternative was called instead and did not answer. It
 * has neither the mark nor the words by which guards recognise a call that was not made.
 */
export const adviceText = (facts: RejectionFacts): string => {
  if (isPause(facts)) {
    const stop = facts.relayed?.stop ?? 'Call no more tools, not even those that still work.';
    return [pauseText(facts), stop, afterPause(facts), ...insteadOnPause([facts])].join(' ');
  }
  if (facts.reason === 'repeat') return repeatText(facts);
  const { route } = facts;
  const instead =
    route?.kind === 'stale'
      ? `The same call gives its last good result now (${describeFreshness(route.label)}). ${SAY_ITS_AGE}`
      : insteadOf(facts);
  return `${skipText(facts, 'is not available now')} ${instead}`;
};

/** Which tool is unavailable, why and until when, and not to call it. */
const skipText = (facts: RejectionFacts, isUnavailable: string): string => {
  const { tool, key, circuit, hasWorked } = facts;
  const again = againOf(facts);
  const advice = again === undefined ? 'Do not call it.' : `Do not call it now. ${again}`;
  const target = key === undefined ? '' : ' for this target';
  const work = hasWorked ? 'still' : 'may';
  const others = key !== undefined && circuit?.state === 'closed' ? ` Other targets ${work} work.` : '';
  return `Tool ${quoteTool(tool)} ${isUnavailable}${target}: ${whyOf(facts)}. ${advice}${others}`;
};

/** Tools that a note names. It is a part of every prompt. */
const MOST_NOTED = 20;

/** R3: the same for all unavailable tools, as a part of the system prompt; empty if all are available. */
export const noteText = (entries: readonly RejectionFacts[]): string => {
  const paused = entries.filter(isPause);
  const skipped = entries.filter((facts) => !isPause(facts));
  const [first] = paused;
  return [
    ...(first === undefined ? [] : [[pauseText(first), STOP, afterPause(first)].join(' '), ...insteadOnPause(paused)]),
    ...(skipped.length === 0 ? [] : ['These tools are unavailable now. Do not call them.']),
    ...skipped.slice(0, MOST_NOTED).map(noteLine),
    ...(skipped.length > MOST_NOTED ? [`- and ${skipped.length - MOST_NOTED} more.`] : []),
  ].join('\n');
};

const noteLine = (facts: RejectionFacts): string => {
  const again = againOf(facts);
  const until = again === undefined ? '' : ` ${again}`;
  return `- ${quoteTool(facts.tool)}: ${whyOf(facts)}.${until} ${insteadOf(facts)}`;
};

const isPause = ({ decision }: RejectionFacts): boolean => decision === 'pause';

/** The call may be made a little later, without a person. D3: so it is if only the estimates of calls under way reach a limit. */
export const isForNow = ({ reason, limit }: Pick<RejectionFacts, 'reason' | 'limit'>): boolean =>
  SKIPS[reason]?.isForNow === true || (reason === 'limit_reached' && limit !== undefined && limit.level !== 'reached');

/** Why a tool is skipped. */
const whyOf = ({ reason, circuit: own, key, group, event, limit }: RejectionFacts): string => {
  const circuit = key?.circuit ?? own;
  switch (reason as SkipReason) {
    case 'systemic':
      return systemicCause(event);
    case 'group_open':
      return group === undefined || group.circuit.state === 'closed'
        ? 'the tools of its group failed'
        : `the tools of group ${quoteTool(groupNameOf(group.name) ?? group.name)} failed (${group.circuit.outage.category})`;
    case 'forced_open':
      return 'it is switched off';
    case 'not_allowed':
      return 'this run is not allowed to use it';
    case 'unavailable':
      return 'its pre-call check says that it cannot be used now';
    case 'busy':
      return 'as many calls as it may have are under way';
    case 'limit_reserved':
      return limit === undefined ? 'the rest of a limit is reserved for sub-agents' : reservedText(limit);
    case 'repeat':
      return 'the same call has failed in the same way several times in a row';
    case 'open':
    case 'key_open':
    case 'probe_in_flight':
      return circuit === undefined || circuit.state === 'closed' ? 'the last calls failed' : causeOf(circuit.outage);
  }
};

/** What opened the circuit (C3). */
const causeOf = ({ trip = 'consecutive', category }: Outage): string => {
  if (category === 'unusable') return 'it has failed with every input so far'; // O8
  return CAUSES[trip](category);
};

const inRow = (category: ErrorCategory): string => `the last calls failed (${category})`;

/** What a model reads of each trip. A trip policy without its words is a type error. */
const CAUSES: Readonly<Record<Trip, (category: ErrorCategory) => string>> = {
  consecutive: inRow,
  keys: inRow,
  probe: inRow,
  transport: inRow,
  unusable: inRow,
  custom: (category) => `too many of its calls went wrong (${category})`,
  slow_call_rate: () => 'too many of its calls took too long',
  failure_rate: (category) => `too many of its calls failed (last failure: ${category})`,
  wasted_tokens: (category) => `its failed calls (${category}) cost too many tokens`,
  fleet: (category) => `its calls failed in other processes (${category})`,
};

/** When the tool may work again, as a sentence; undefined if unknown. */
const againOf = (facts: RejectionFacts): string | undefined => {
  const { reason, gate, takesTurns, relayed } = facts;
  if (reason === 'unavailable') return 'It may work again once that check passes.';
  const wait = waitOf(facts);
  if (wait !== undefined) return relayed?.again ?? `It may work again ${describeWait(wait, takesTurns)}.`;
  const isTested = reason === 'probe_in_flight' || (reason === 'systemic' && gate !== undefined);
  return isTested ? 'One call is testing that now. It may work again later in this run.' : undefined;
};

/** The wait until the next probe of the circuit that rejects the call; undefined if none is open. */
export const waitOf = ({
  tool,
  reason,
  circuit,
  policy,
  group,
  key,
  gate,
  at,
}: RejectionFacts): ProbeWait | undefined => {
  const waitsFor = SKIPS[reason]?.waitsFor;
  const shared = waitsFor && { tool: undefined, group, key, event: gate }[waitsFor];
  if (shared !== undefined && isWaiting(shared.circuit)) {
    const wait = probeWait(shared.circuit.outage, shared.policy, at, { tool, policy });
    const own = circuit?.state === 'open' ? circuit.outage.notBeforeMs - at.ms : 0; // O3: its own Retry-After holds as well.
    return { ...wait, notBeforeMs: Math.max(wait.notBeforeMs, own) };
  }
  const isOwn = waitsFor === 'tool' && circuit !== undefined && isWaiting(circuit);
  return isOwn ? probeWait(circuit.outage, policy, at) : undefined;
};

/** What to do instead of a call that is skipped. */
const insteadOf = ({ reason, route, tried }: RejectionFacts): string => {
  switch (route?.kind) {
    case 'alternative':
      return alternativeText(route);
    case 'stale':
      return `Its last good result is given instead (${describeFreshness(route.label)}). ${SAY_ITS_AGE}`;
    case 'manual':
      return `Instead: ${asClause(route.fallback)}.`;
    default:
      if (tried !== undefined) return `${triedText(tried)}, and ${SAY_SO}.`;
      return `${reason === 'repeat' ? 'Or continue' : 'Continue'} without it, and ${SAY_SO}.`;
  }
};

const triedText = ({ tool, end }: NonNullable<RejectionFacts['tried']>): string => {
  const name = quoteTool(tool);
  if (end === 'failed') return `${name} was called instead, and failed too. Continue without them`;
  return end === 'rejected'
    ? `${name} cannot be called instead now. Continue without them`
    : `${name} was called instead, and could not answer this call. Call it with other arguments, or continue without it`;
};

const alternativeText = ({ tool, method, degradation, note }: AlternativeRoute): string => {
  const loss = [note, LOSS[degradation]].filter((one) => one !== undefined).map(asClause);
  return [
    `Use ${quoteTool(tool)} instead (${loss.join('; ')}).`,
    ...(method === undefined ? [] : [`How: ${asClause(method)}.`]),
    ...(degradation === 'low' ? [] : ['Then say in your answer what is missing.']),
  ].join(' ');
};

/** While all tools are paused, only a fallback without a tool can be used. */
const insteadOnPause = (entries: readonly RejectionFacts[]): readonly string[] =>
  entries
    .flatMap(({ tool, route }) => (route?.kind === 'manual' ? [{ tool, fallback: route.fallback }] : []))
    .slice(0, MOST_NOTED)
    .map(({ tool, fallback }) => `Instead of ${quoteTool(tool)}: ${asClause(fallback)}.`);

const STOP = 'Do not call any tools, including ones that still work.';

/** D3: the pause lifts once the calls under way have used less than expected. */
const LATER = 'Try again in your next turn, or finish with what you have.';

/** Why the session is paused: its budget has run out, several tools failed as one event, or a limit is reached. */
const pauseText = ({ reason, ledger, event, limit, relayed }: RejectionFacts): string => {
  const paused = relayed?.paused ?? 'Tool calls are paused';
  switch (reason as PauseReason) {
    case 'limit_reached':
      return `${paused}: ${limit === undefined ? 'a limit of this run is reached' : reachedText(limit)}.`;
    case 'systemic':
      return `${paused}: ${systemicCause(event)}.`;
    case 'budget_exhausted':
      return remaining(ledger.budget) > 0
        ? `${paused}: ${relayed?.failedCalls ?? 'failed tool calls of this run'} have used up the token budget for failures.`
        : `${paused}: too many ${relayed?.calls ?? 'tool calls of this run'} have failed.`;
  }
};

const afterPause = ({ reason, relayed }: RejectionFacts): string => {
  const end = reason === 'budget_exhausted' ? relayed?.pauseEnd() : undefined;
  return `Report what is done, what is not done and why. ${end ?? `Say that a person ${WHO_ENDS_IT[reason as PauseReason]}.`}`;
};

const WHO_ENDS_IT: Readonly<Record<PauseReason, string>> = {
  budget_exhausted: 'must resume the run',
  systemic: 'may have to confirm the recovery',
  limit_reached: 'can extend the limit',
};

/** S4: which tools failed, how, and what is suspected. */
const systemicCause = (event: SystemicEvent | undefined): string => {
  const tools = event === undefined ? 'several tools' : namesOf(event);
  const shared = event?.category === undefined ? 'at the same time' : `in the same way (${event.category})`;
  return `${tools} failed ${shared}${event === undefined ? '' : suspicion(event)}`;
};

/** An event in scope `process` may have hundreds of tools. */
const MOST_NAMES = 2;

const namesOf = ({ openings }: SystemicEvent): string => {
  const names = openings.slice(0, MOST_NAMES).map(({ tool }) => quoteTool(tool));
  const more = openings.length - names.length;
  return more === 0 ? names.join(' and ') : `${names.join(', ')} and ${more} more`;
};

/** S4: what the tools share. */
const suspicion = ({ layer, dependency, group }: SystemicEvent): string => {
  if (dependency !== undefined)
    return `; the cause is probably ${quoteTool(dependency)}, the dependency that they share`;
  if (group !== undefined) return `; the cause is probably ${quoteTool(group)}, which they belong to`;
  return layer === 'unknown' || layer === 'dependency' || layer === 'group'
    ? ''
    : `; the cause is probably in the ${LAYER[layer]}`;
};

const LAYER: Record<Exclude<SystemicEvent['layer'], 'dependency' | 'group' | 'unknown'>, string> = {
  network: 'network',
  filesystem: 'file system',
  permissions: 'permissions',
  upstream: 'service behind them',
};
