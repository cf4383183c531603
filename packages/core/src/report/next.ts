import type { SuspectedLayer } from '../budget/systemic.ts';
import type { ReportedState } from '../circuit/circuit.ts';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import { usedOf } from '../routing/limit-text.ts';
import { formatDuration } from '../routing/wording.ts';
import { MODEL_PREFIX } from '../telemetry/semconv.ts';
import { counted, figure, listed, named } from './lines.ts';
import type { BudgetReport, LimitReport, SessionReport, SystemicReport, WindowReport } from './session-report.ts';
import type { GroupReport, ToolReport } from './tool-report.ts';

/** The sentences of a report: what is wrong, and what to do about it. Written for a reader who has just been woken up. */

/** A report without its sentences. */
export type Known = Omit<SessionReport, 'headline' | 'next'>;

/** What is wrong, in one sentence. */
export const headlineOf = (known: Known): string => {
  const { state, systemic, tools, leftOut, plan } = known;
  const waiting = plan?.deferred.length ?? 0;
  const deferred = waiting === 0 ? '' : `; ${counted(waiting, 'task')} deferred`;
  if (systemic !== null && state === 'paused_systemic') return `PAUSED, systemic failure: ${systemicCause(systemic)}.`;
  if (state === 'paused_budget') return `PAUSED, failure budget: ${spent(known.budget)}.`;
  if (state === 'paused_limit') return `PAUSED, limit of the run: ${reachedOf(known).map(limitText).join(', ')}.`;
  if (systemic !== null) return `Systemic failure, affected tools are skipped: ${systemicCause(systemic)}${deferred}.`;
  const unavailable = tools.filter(isUnavailable).length;
  if (unavailable > 0) {
    const of = `${unavailable} of ${counted(tools.length, nounOf(tools))} ${isOrAre(unavailable)} unavailable`;
    return `${of}: ${listed(rejectingCircuits(known).map(nameAndCause))}${deferred}.`;
  }
  if (tools.length === 0) return waiting === 0 ? 'No tool has been used yet.' : `${counted(waiting, 'task')} deferred.`;
  const partly = tools.filter((tool) => tool.state === 'closed' && tool.openKeys > 0);
  const health = partly.length === 0 ? workingText(tools) : listed(partly.map(unavailableTargets));
  const rejected = leftOut.reduce((sum, one) => (one.kind === 'rejected' ? sum + one.skipped + one.paused : sum), 0);
  const were = rejected === 1 ? 'was' : 'were';
  const remark = rejected === 0 ? '' : `; ${counted(rejected, 'call')} of this run ${were} skipped or paused`;
  return `${health}${remark}${deferred}.`;
};

/** D2: the limits that pause the run. */
const reachedOf = ({ limits = [] }: Known): readonly LimitReport[] =>
  limits.filter(({ level, mode }) => level === 'reached' && mode === 'pause');

/** `14,000 of 14,000 tool calls`. */
export const limitText = ({ currency, ...one }: LimitReport): string =>
  usedOf({ ...one, currency: currency ?? undefined });

/** L2: the report of the models of a box has no tools. */
export const nounOf = (tools: readonly Pick<ToolReport, 'tool'>[]): 'tool' | 'model' =>
  tools.length > 0 && tools.every(({ tool }) => tool.startsWith(MODEL_PREFIX)) ? 'model' : 'tool';

/** C14: a tool works if a call of it has succeeded, and not because no circuit is open. */
const workingText = (tools: readonly ToolReport[]): string => {
  const unproven = tools.filter(({ calls }) => calls.succeeded === 0);
  const working = tools.length - unproven.length;
  const noun = nounOf(tools);
  if (unproven.length === 0) return tools.length === 1 ? `The only ${noun} works` : `All ${tools.length} ${noun}s work`;
  const none = `o call of ${listed(unproven.map(({ tool }) => named(tool)))} has succeeded`;
  return working === 0
    ? `N${none}`
    : `${working} of ${tools.length} ${noun}s ${working === 1 ? 'works' : 'work'}; n${none}`;
};

const isOrAre = (count: number): string => (count === 1 ? 'is' : 'are');

const unavailableTargets = ({ tool, openKeys }: ToolReport): string =>
  `${named(tool)}: ${counted(openKeys, 'target')} ${isOrAre(openKeys)} unavailable`;

export const rejectsCalls = (state: ReportedState | null): boolean => isProbed(state) || state === 'forced_open';

const isProbed = (state: ReportedState | null): boolean => state === 'open' || state === 'half_open';

/** A tool that is only observed or disabled is not rejected by its group. */
export const isRejectedByGroup = ({ state, groupState }: ToolReport): boolean =>
  state === 'closed' && rejectsCalls(groupState);

/** Whether calls of the tool are rejected, by its own circuit or by that of its group. */
export const isUnavailable = (tool: ToolReport): boolean => rejectsCalls(tool.state) || isRejectedByGroup(tool);

/** The groups, then the tools, whose circuit rejects calls. */
const rejectingCircuits = ({ tools, groups }: Known): readonly (GroupReport | ToolReport)[] =>
  [...groups, ...tools].filter(({ state }) => rejectsCalls(state));

const nameOf = (one: GroupReport | ToolReport): string => ('tool' in one ? named(one.tool) : nameOfGroup(one.group));

const isOfModel = (one: GroupReport | ToolReport): boolean =>
  ('tool' in one ? one.tool : one.group).startsWith(MODEL_PREFIX);

const nameOfGroup = (group: string): string =>
  group.startsWith(MODEL_PREFIX) ? `provider ${named(group.slice(MODEL_PREFIX.length))}` : `group ${named(group)}`;

const nameAndCause = (one: GroupReport | ToolReport): string => {
  const cause = one.state === 'forced_open' ? 'switched off' : (one.category ?? 'unknown');
  return `${nameOf(one)} (${cause}${one.state === 'half_open' ? ', probing' : ''})`;
};

/** The groups that probes test, then the tools that are unavailable by themselves. */
const probedOf = (known: Known): readonly string[] =>
  rejectingCircuits(known).flatMap((one) => (isProbed(one.state) ? [nameOf(one)] : []));

const toolsOf = ({ tools }: SystemicReport): string => listed(tools.map(({ tool }) => named(tool)));

const systemicCause = (event: SystemicReport): string => {
  const how = event.category === null ? 'at the same time' : `in the same way (${event.category})`;
  return `${toolsOf(event)} failed ${how}; suspect ${suspect(event)}`;
};

/** Where to look, by suspected layer (S4). Dependencies and groups have names. */
const LAYERS: Readonly<Record<SuspectedLayer, string | undefined>> = {
  network: 'the network',
  filesystem: 'the file system',
  permissions: 'credentials and permissions',
  upstream: 'the services behind the tools',
  dependency: undefined,
  group: undefined,
  unknown: undefined,
};

/** The suspected cause, as the object of a sentence. */
export const suspect = ({ layer, dependency, group }: SystemicReport): string => {
  if (dependency !== null) return `${named(dependency)}, the dependency that they share`;
  if (group !== null) return `${nameOfGroup(group)}, which all of them belong to`;
  return LAYERS[layer] ?? 'a cause that the error categories do not show';
};

const spent = ({ limit, cycle, remaining, tokens, window }: BudgetReport): string => {
  const byTokens = remaining > 0 && tokens !== null ? tokens : undefined;
  const one = limit === 1;
  if (window === null) {
    const ofCycle = cycle === 1 ? '' : ` in cycle ${cycle}`;
    if (byTokens) return `failed calls${ofCycle} have used up the token budget of ${figure(byTokens.limit)} tokens`;
    return one ? `the one failure allowed${ofCycle} is used up` : `all ${limit} failures allowed${ofCycle} are used up`;
  }
  if (byTokens) {
    return `the ${counted(byTokens.limit, 'token')} that failed calls may cost in ${span(window)} are used up`;
  }
  return `the ${one ? 'one failure' : `${figure(limit)} failures`} allowed in ${span(window)} ${one ? 'is' : 'are'} used up`;
};

/** `20 steps`, or `20 calls or 10 min`: how long a charge counts, or until when. */
export const span = ({ steps, ms, calls }: WindowReport): string =>
  steps === null ? `${counted(calls ?? 0, 'call')} or ${formatDuration(ms ?? 0)}` : counted(steps, 'step');

export const nextOf = (known: Known): readonly string[] => [
  ...pauseSteps(known),
  ...limitSteps(known),
  ...toolSteps(known),
  ...cautionSteps(known),
  ...taskSteps(known),
];

const pauseSteps = (known: Known): readonly string[] => {
  const { state, systemic, budget } = known;
  if (systemic !== null) {
    const resume = 'Then call session.resume() too: the failure budget is spent as well.';
    return [lookAt(systemic), endOf(systemic), ...(budget.exhausted ? [resume] : [])];
  }
  if (state !== 'paused_budget') return [];
  const probed = probedOf(known);
  const still = probed.length === 0 ? '' : ` Until a probe succeeds, ${listed(probed)} will stay unavailable.`;
  return [`${worst(budget)}.`, `Then call session.resume(): ${resumed(budget)}${still}`];
};

const lookAt = (event: SystemicReport): string => {
  const { layer, dependency, group, category } = event;
  if (dependency !== null) return `Check ${named(dependency)}, the dependency that ${toolsOf(event)} share.`;
  if (group !== null) return `Check ${nameOfGroup(group)}: ${toolsOf(event)} all belong to it.`;
  const known = LAYERS[layer];
  const where = known === undefined ? 'Find what they have in common' : `Check ${known}`;
  return `${where}: ${toolsOf(event)} failed ${category === null ? 'at the same time' : `in the same way (${category})`}.`;
};

const endOf = ({ decision, nextProbe }: SystemicReport): string => {
  const rejected =
    decision === 'pause'
      ? 'Until the event is over, all calls are paused, including calls of tools that work.'
      : 'Until the event is over, only calls of the affected tools are skipped.';
  if (nextProbe === null) return `Once the cause is gone, call session.confirmRecovered(). ${rejected}`;
  const waitMs = Math.max(nextProbe.ms ?? 0, nextProbe.notBeforeMs);
  const due = waitMs === 0 ? 'now' : `in ${formatDuration(waitMs)}`;
  const probe = `A probe is due ${due}: from then on, the next call of an affected tool is the probe. If it succeeds, the event is over.`;
  return `${probe} Call session.confirmRecovered() to end it at once. ${rejected}`;
};

/** What `session.resume()` does, by the rule of the budget. */
const resumed = ({ limit, tokens, cycle, window }: BudgetReport): string => {
  const full = `${counted(limit, 'failure')}${tokens === null ? '' : ` and ${counted(tokens.limit, 'token')}`}`;
  if (window === null) return `it starts cycle ${cycle + 1} with ${full}.`;
  return `it clears all charges, so that ${full} are allowed again. While the session is paused, no charge leaves the budget.`;
};

const worst = ({ rule, charges, earlier }: BudgetReport): string => {
  const failed = charges.filter(({ standing }) => standing !== 'provisional');
  const ownOf = (tool: string) => failed.filter((one) => one.tool === tool);
  const [tool] = failed.map((one) => one.tool).toSorted((a, b) => ownOf(b).length - ownOf(a).length);
  if (tool === undefined) return 'Find out why the calls failed';
  const own = ownOf(tool);
  // By the rule `window` an outage is one charge, however many calls failed in it (B3).
  const charge = rule === 'window' ? 'charge' : 'failure';
  const among = `${earlier === null ? '' : 'last '}${counted(failed.length, charge)}`;
  const categories = listed([...new Set(own.map(({ category }) => category))]);
  return `Look at ${named(tool)} first: it caused ${own.length} of the ${among} (${categories})`;
};

/** D2: what a person can do about a limit. */
const limitSteps = (known: Known): readonly string[] => {
  const over = reachedOf(known);
  const near = (known.limits ?? []).filter(({ level }) => level === 'advised');
  return [
    ...over.map(
      ({ limit, session }) =>
        `Look at what the run has done so far. If it may go on, call session.extend('${limit}', …)${session === known.session ? '' : ` on session ${named(session)}`}: resume() does not extend a limit.`,
    ),
    ...(near.length === 0 ? [] : [`A limit of the run is near: ${near.map(limitText).join(', ')}.`]),
  ];
};

const toolSteps = (known: Known): readonly string[] => {
  const { state, systemic, tools } = known;
  const step = (names: readonly string[], text: (names: string) => string) =>
    names.length === 0 ? [] : [text(listed(names))];
  const rejectedFor = (reason: 'not_allowed' | 'repeat' | 'busy') =>
    tools.filter(({ rejected }) => rejected.reasons[reason] !== undefined).map(nameOf);
  const probed = state === 'active' && systemic === null ? probedOf(known) : [];
  const unusable = rejectingCircuits(known).filter(({ category }) => category === 'unusable'); // O8
  const off = rejectingCircuits(known).filter((one) => one.state === 'forced_open');
  const ofModels = (of: ErrorCategory): readonly string[] =>
    rejectingCircuits(known).flatMap((one) => (isOfModel(one) && one.category === of ? [nameOf(one)] : []));
  return [
    ...step(ofModels('permission'), (names) => `Check the key of ${names}: it was refused.`), // L3
    ...step(ofModels('resource'), (names) => `Check the credit and the quota of ${names}: they are used up.`), // L3
    ...step(probed, (names) => `Wait for the next probes of ${names}. If they fail, look for the cause.`),
    ...step(
      unusable.map(nameOf),
      (names) =>
        `Check the installation, the settings and the credentials of ${names}: every call so far has failed, whatever its input, and the errors do not say why.`,
    ),
    ...step(
      off.map(nameOf),
      (names) =>
        `Switched off by hand: ${names}. To switch it on again, call session.control(name, 'automatic'). If an operator forced the mode, run breakerbox ctl release instead. The name of a group is 'group:NAME'.`,
    ),
    ...step(
      rejectedFor('not_allowed'),
      (names) => `Not in allowedTools: ${names}. If the agent may use them, add them to allowedTools.`,
    ),
    ...step(
      rejectedFor('repeat'),
      (names) =>
        `Repeated calls were skipped: ${names}. They failed again and again with the same arguments. Check what the model reads, and why it repeats them.`,
    ),
    ...step(
      rejectedFor('busy'),
      (names) =>
        `Calls at the same time were skipped: ${names}. The model may make them in its next turn. If the tool can take more, raise maxInFlight.`,
    ),
  ];
};

const cautionSteps = ({ state, budget }: Known): readonly string[] => {
  if (state !== 'active' || !budget.caution) return [];
  const length = ({ steps, ms }: WindowReport) => steps ?? ms ?? 0;
  const [next] = budget.charges.flatMap(({ leavesIn }) => leavesIn ?? []).toSorted((a, b) => length(a) - length(b));
  const until = next === undefined ? '' : ` The next charge leaves the window in ${span(next)}.`;
  return [`The failure budget is almost used up: one more failure may pause the session.${until}`];
};

const taskSteps = ({ plan }: Known): readonly string[] => {
  const waiting = plan?.deferred.length ?? 0;
  if (waiting === 0) return [];
  return [
    `Call planScope(session, tasks) again once the tools work: ${counted(waiting, 'task')} ${isOrAre(waiting)} deferred.`,
  ];
};
