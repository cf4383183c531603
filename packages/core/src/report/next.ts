import type { ReportedState } from '../circuit/mode.ts';
import { formatDuration } from '../format.ts';
import type { ErrorCategory } from '../outcome/taxonomy.ts';
import type { SuspectedLayer } from '../systemic.ts';
import type { BudgetReport, SessionReport, SystemicReport, WindowReport } from './report.ts';
import type { ToolReport } from './tools.ts';
import { counted, figure, listed, named } from './words.ts';

/** The sentences of a report: what is wrong, and what to do about it. Written for a reader who has just been woken up. */

/** A report without its sentences. */
export type Known = Omit<SessionReport, 'headline' | 'next'>;

/** Where to look, by suspected layer (S4). */
const LAYER_NAME: Readonly<Record<SuspectedLayer, string>> = {
  network: 'the network',
  filesystem: 'the file system',
  permissions: 'credentials and permissions',
  upstream: 'the services behind the tools',
  dependency: 'what the tools depend on',
  group: 'the group of the tools',
  unknown: 'not known',
};

/** Why tools can't be called, in one sentence. */
export const headlineOf = (known: Known): string => {
  const { state, systemic, budget, tools, leftOut, scope } = known;
  if (state === 'paused_systemic' && systemic !== null) return `PAUSED, systemic failure: ${systemicCause(systemic)}.`;
  if (state === 'paused_budget' && budget !== null) return `PAUSED, failure budget: ${spent(budget)}.`;
  const waiting = scope?.deferred.length ?? 0;
  const deferred = waiting === 0 ? '' : `; ${counted(waiting, 'task')} deferred`;
  if (systemic !== null) return `Systemic failure, affected tools are skipped: ${systemicCause(systemic)}${deferred}.`;
  const out = tools.filter(isOut).length;
  if (out > 0) {
    return `${out} of ${counted(tools.length, 'tool')} ${out === 1 ? 'is' : 'are'} out: ${listed(outs(known))}${deferred}.`;
  }
  if (tools.length === 0) return waiting === 0 ? 'No tool has been used yet.' : `${counted(waiting, 'task')} deferred.`;
  const all = tools.length === 1 ? 'The only tool works' : `All ${tools.length} tools work`;
  const partly = tools.filter((tool) => tool.state === 'closed' && tool.openKeys > 0);
  const closed = partly.length === 0 ? all : listed(partly.map(outOfTargets));
  const rejected = leftOut.reduce((sum, one) => (one.kind === 'held_up' ? sum + one.skipped + one.paused : sum), 0);
  const were = rejected === 1 ? 'was' : 'were';
  const remark = rejected === 0 ? '' : `; ${counted(rejected, 'call')} of this run ${were} skipped or paused`;
  return `${closed}${remark}${deferred}.`;
};

const outOfTargets = ({ tool, openKeys }: ToolReport): string =>
  `${named(tool)}: ${counted(openKeys, 'target')} ${openKeys === 1 ? 'is' : 'are'} out`;

/** The unavailable groups, then the tools that are unavailable by themselves, with the cause. */
const outs = ({ tools, groups }: Known): readonly string[] => [
  ...groups
    .filter(({ state }) => isOutState(state))
    .map(({ group, category, state }) => `${nameOfGroup(group)} (${outBy(state, category)})`),
  ...tools
    .filter(({ state }) => isOutState(state))
    .map(({ tool, category, state }) => `${named(tool)} (${outBy(state, category)})`),
];

/** The groups that probes test, then the tools that are unavailable by themselves. */
const probedOf = ({ tools, groups }: Known): readonly string[] => [
  ...groups.filter(({ state }) => isProbed(state)).map(({ group }) => nameOfGroup(group)),
  ...tools.filter(({ state }) => isProbed(state)).map(({ tool }) => named(tool)),
];

const nameOfGroup = (group: string): string => `group ${named(group)}`;

const isProbed = (state: ReportedState | null): boolean => state === 'open' || state === 'half_open';

/** Whether a circuit rejects calls. */
export const isOutState = (state: ReportedState | null): boolean => isProbed(state) || state === 'forced_open';

/** Whether calls of the tool are rejected, by its own circuit or by that of its group. */
export const isOut = ({ state, groupState }: ToolReport): boolean =>
  isOutState(state) || isOutByGroup({ state, groupState });

/** A tool that is only observed or disabled is not rejected by its group. */
export const isOutByGroup = ({ state, groupState }: Pick<ToolReport, 'state' | 'groupState'>): boolean =>
  state === 'closed' && isOutState(groupState);

const outBy = (state: ReportedState | null, category: ErrorCategory | null): string => {
  if (state === 'forced_open') return 'switched off';
  return state === 'half_open' ? `${category ?? 'unknown'}, probing` : (category ?? 'unknown');
};

const systemicCause = (event: SystemicReport): string => {
  const which = listed(event.tools.map(({ tool }) => named(tool)));
  const how = event.category === null ? 'at the same time' : `with ${event.category}`;
  return `${which} failed ${how}; suspect ${suspect(event)}`;
};

/** The suspected cause, as the object of a sentence. */
export const suspect = ({ layer, dependency, group }: SystemicReport): string => {
  if (dependency !== null) return `${named(dependency)}, which all of them depend on`;
  if (group !== null) return `${nameOfGroup(group)}, which all of them belong to`;
  return layer === 'unknown' ? 'a cause that their categories do not name' : LAYER_NAME[layer];
};

const spent = (budget: BudgetReport): string => {
  const { limit, cycle, remaining, tokens, window } = budget;
  const byTokens = remaining > 0 && tokens !== null;
  if (window !== null) {
    const allowed = byTokens
      ? `the ${counted(tokens.limit, 'token')} that failed calls may cost`
      : allowedFailures(limit);
    return `${allowed} in ${span(window)} ${byTokens || limit > 1 ? 'are' : 'is'} used up`;
  }
  const ofCycle = cycle === 1 ? '' : ` of cycle ${cycle}`;
  if (byTokens) return `failed calls${ofCycle} have wasted all ${figure(tokens.limit)} tokens`;
  return `${limit === 1 ? `the one failure${ofCycle} is` : `all ${limit} failures${ofCycle} are`} spent`;
};

const allowedFailures = (limit: number): string =>
  limit === 1 ? 'the one failure allowed' : `the ${counted(limit, 'failure')} allowed`;

/** `20 steps`, `10 min`: how long a charge counts, or until when. */
export const span = ({ steps, ms }: WindowReport): string =>
  steps === null ? formatDuration(ms ?? 0) : counted(steps, 'step');

/** What to do next, in order. */
export const nextOf = (known: Known): readonly string[] => [
  ...pauseSteps(known),
  ...toolSteps(known),
  ...cautionSteps(known),
  ...taskSteps(known),
];

const pauseSteps = (known: Known): readonly string[] => {
  const { state, systemic, budget } = known;
  if (systemic !== null) {
    return [
      lookAt(systemic),
      endOf(systemic),
      ...(budget?.exhausted ? ['Then call session.resume() too: the failure budget is spent as well.'] : []),
    ];
  }
  if (state !== 'paused_budget' || budget === null) return [];
  const probed = probedOf(known);
  const still = probed.length === 0 ? '' : ` Until a probe succeeds, ${listed(probed)} will stay out.`;
  return [`${worst(budget)}.`, `Then call session.resume(): ${resumed(budget)}${still}`];
};

/** Where to look for the cause of an event. */
const lookAt = ({ layer, dependency, group, category, tools }: SystemicReport): string => {
  const names = listed(tools.map(({ tool }) => named(tool)));
  if (dependency !== null) return `Check ${named(dependency)}: ${names} all depend on it.`;
  if (group !== null) return `Check ${nameOfGroup(group)}: ${names} all belong to it.`;
  const where = layer === 'unknown' ? 'Find what they have in common' : `Check ${LAYER_NAME[layer]}`;
  return `${where}: ${names} failed ${category === null ? 'together' : `with ${category}`}.`;
};

/** How an event ends. */
const endOf = ({ decision, nextProbe }: SystemicReport): string => {
  const skipped =
    decision === 'pause'
      ? 'Until the event is over all calls are paused, also of tools that work.'
      : 'Until the event is over only the tools that it affects are skipped.';
  if (nextProbe === null) return `Once the cause is gone, call session.confirmRecovered(). ${skipped}`;
  const due = nextProbe.ms === null || nextProbe.ms === 0 ? 'now' : `in ${formatDuration(nextProbe.ms)}`;
  return `The next call of an affected tool probes ${due}, and ends the event if it succeeds. Call session.confirmRecovered() to end it at once. ${skipped}`;
};

/** What `session.resume()` does, by the rule of the budget. */
const resumed = (budget: BudgetReport): string => {
  const { cycle, window } = budget;
  if (window === null) return `it starts cycle ${cycle + 1} with ${fullBudget(budget)}.`;
  return `it clears all charges, so that ${fullBudget(budget)} are allowed again. While the session is paused, no charge leaves the window.`;
};

const fullBudget = ({ limit, tokens }: BudgetReport): string =>
  `${counted(limit, 'failure')}${tokens === null ? '' : ` and ${counted(tokens.limit, 'token')}`}`;

/** The tool that failed most often. */
const worst = ({ rule, charges, earlier }: BudgetReport): string => {
  const failed = charges.filter(({ standing }) => standing !== 'provisional');
  const [own] = [...new Set(failed.map(({ tool }) => tool))]
    .map((tool) => failed.filter((one) => one.tool === tool))
    .toSorted((a, b) => b.length - a.length);
  const [first] = own ?? [];
  if (own === undefined || first === undefined) return 'Find out why the calls failed';
  const categories = listed([...new Set(own.map(({ category }) => category))]);
  const among = earlier === null ? `${failed.length}` : `last ${failed.length}`;
  // By the rule `window` an outage is one charge, however many calls failed in it (B3).
  const one = rule === 'window' ? 'charge' : 'failure';
  const all = earlier === null ? `all ${one}s` : `all of the ${among} ${one}s`;
  const share = own.length === failed.length ? `${all} are` : `${own.length} of the ${among} ${one}s are`;
  return `Look at ${named(first.tool)} first: ${failed.length === 1 ? `the ${one} is` : share} its own (${categories})`;
};

const toolSteps = (known: Known): readonly string[] => {
  const { state, systemic, tools, groups } = known;
  const names = (belongs: (tool: ToolReport) => boolean) => tools.filter(belongs).map(({ tool }) => named(tool));
  const probed = probedOf(known);
  const off = [
    ...groups.filter((one) => one.state === 'forced_open').map(({ group }) => nameOfGroup(group)),
    ...names((tool) => tool.state === 'forced_open'),
  ];
  const notAllowed = names(({ heldUp }) => heldUp.reasons.not_allowed !== undefined);
  const stuck = names(({ heldUp }) => heldUp.reasons.repeat !== undefined);
  const [it, is] = probed.length === 1 ? ['it', 'is'] : ['they', 'are'];
  return [
    ...(state === 'active' && systemic === null && probed.length > 0
      ? [`Leave ${listed(probed)} to the probes; look into it if ${it} ${is} still out after the next ones.`]
      : []),
    ...(off.length > 0
      ? [`Switched off by hand: ${listed(off)}. session.control(name, 'automatic') switches it on again.`]
      : []),
    ...(notAllowed.length > 0
      ? [`Not allowed: ${listed(notAllowed)}. Add to allowedTools what the agent is to use.`]
      : []),
    ...(stuck.length > 0
      ? [`Failed repeatedly with the same arguments: ${listed(stuck)}. The model has to try something else.`]
      : []),
  ];
};

const cautionSteps = ({ state, budget }: Known): readonly string[] => {
  if (state !== 'active' || budget?.caution !== true) return [];
  const [next] = budget.charges.flatMap(({ leavesIn }) => leavesIn ?? []).toSorted(bySpan);
  const until = next === undefined ? '' : ` The next charge leaves the window in ${span(next)}.`;
  return [`Mind the budget: one more failure may pause the session.${until}`];
};

const bySpan = (a: WindowReport, b: WindowReport): number => (a.steps ?? a.ms ?? 0) - (b.steps ?? b.ms ?? 0);

const taskSteps = ({ scope }: Known): readonly string[] => {
  const waiting = scope?.deferred.length ?? 0;
  if (waiting === 0) return [];
  return [
    `Call session.planScope(tasks) again when what is out is back: ${counted(waiting, 'task')} ${waiting === 1 ? 'is' : 'are'} deferred.`,
  ];
};
