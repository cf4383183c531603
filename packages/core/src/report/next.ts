import type { ErrorCategory } from '../outcome/taxonomy.ts';
import type { SuspectedLayer } from '../systemic.ts';
import type { BudgetReport, SessionReport, SystemicReport } from './report.ts';
import type { ToolReport } from './tools.ts';
import { counted, figure, listed, named } from './words.ts';

/** The sentences of a report: what is the matter, and what to do about it. For somebody who was asleep a minute ago. */

/** A report whose sentences are still to be written. */
export type Known = Omit<SessionReport, 'headline' | 'next'>;

/** Where to look, by suspected layer (S4). */
const LAYER_NAME: Readonly<Record<SuspectedLayer, string>> = {
  network: 'the network',
  filesystem: 'the file system',
  permissions: 'credentials and permissions',
  upstream: 'the services behind the tools',
  dependency: 'what the tools stand on',
  unknown: 'not known',
};

/** What keeps tools from being called, in one sentence. */
export const headlineOf = ({ state, systemic, budget, tools, leftOut, scope }: Known): string => {
  if (state === 'paused_systemic' && systemic !== null) return `PAUSED, systemic failure: ${systemicCause(systemic)}.`;
  if (state === 'paused_budget' && budget !== null) return `PAUSED, failure budget: ${spent(budget)}.`;
  const out = tools.filter(isOut);
  const waiting = scope?.deferred.length ?? 0;
  const deferred = waiting === 0 ? '' : `; ${counted(waiting, 'task')} deferred`;
  if (out.length > 0) {
    const which = listed(out.map(({ tool, category, state: how }) => `${named(tool)} (${outBy(how, category)})`));
    return `${out.length} of ${counted(tools.length, 'tool')} ${out.length === 1 ? 'is' : 'are'} out: ${which}${deferred}.`;
  }
  if (tools.length === 0) return waiting === 0 ? 'No tool has been used yet.' : `${counted(waiting, 'task')} deferred.`;
  const closed = tools.length === 1 ? 'The only tool works' : `All ${tools.length} tools work`;
  const heldUp = leftOut.reduce((sum, one) => (one.kind === 'held_up' ? sum + one.skipped + one.paused : sum), 0);
  const remark =
    heldUp === 0 ? '' : `; ${counted(heldUp, 'call')} of this run ${heldUp === 1 ? 'was' : 'were'} held up`;
  return `${closed}${remark}${deferred}.`;
};

/** Whether calls of the tool are held up, or would be. */
export const isOut = ({ state }: ToolReport): boolean =>
  state === 'open' || state === 'half_open' || state === 'forced_open';

const outBy = (state: ToolReport['state'], category: ErrorCategory | null): string => {
  if (state === 'forced_open') return 'switched off';
  return state === 'half_open' ? `${category ?? 'unknown'}, probing` : (category ?? 'unknown');
};

const systemicCause = ({ tools, category, layer, dependency }: SystemicReport): string => {
  const which = listed(tools.map(({ tool }) => named(tool)));
  const how = category === null ? 'at the same time' : `with ${category}`;
  return `${which} failed ${how}; suspect ${suspect(layer, dependency)}`;
};

/** The suspected layer, as the object of a sentence. */
export const suspect = (layer: SuspectedLayer, dependency: string | null): string => {
  if (dependency !== null) return `${named(dependency)}, which all of them stand on`;
  return layer === 'unknown' ? 'a cause that their categories do not name' : LAYER_NAME[layer];
};

const spent = ({ limit, cycle, remaining, tokens }: BudgetReport): string => {
  const ofCycle = cycle === 1 ? '' : ` of cycle ${cycle}`;
  const failures = limit === 1 ? `the one failure${ofCycle} is` : `all ${limit} failures${ofCycle} are`;
  return remaining > 0 && tokens !== null
    ? `failed calls${ofCycle} have wasted all ${figure(tokens.limit)} tokens`
    : `${failures} spent`;
};

/** What to do next, in order. */
export const nextOf = (known: Known): readonly string[] => [
  ...pauseSteps(known),
  ...toolSteps(known),
  ...cautionSteps(known),
  ...taskSteps(known),
];

const pauseSteps = ({ state, systemic, budget, tools }: Known): readonly string[] => {
  if (state === 'paused_systemic' && systemic !== null) {
    const { layer, dependency, category } = systemic;
    const names = listed(systemic.tools.map(({ tool }) => named(tool)));
    const how = category === null ? 'together' : `with ${category}`;
    const look =
      dependency === null
        ? `${layer === 'unknown' ? 'Find what they have in common' : `Check ${LAYER_NAME[layer]}`}: ${names} failed ${how}.`
        : `Check ${named(dependency)}: ${names} all stand on it.`;
    return [
      look,
      'Once the cause is gone, call session.confirmRecovered(). Until the event is over all calls are paused, also of tools that work.',
      ...(budget?.exhausted ? ['Then call session.resume() too: the failure budget is spent as well.'] : []),
    ];
  }
  if (state !== 'paused_budget' || budget === null) return [];
  const open = tools.filter(isOut).map(({ tool }) => named(tool));
  const still = open.length === 0 ? '' : ` Until a probe succeeds, ${listed(open)} will stay out.`;
  return [
    `${worst(budget)}.`,
    `Then call session.resume(): it starts cycle ${budget.cycle + 1} with ${fullBudget(budget)}.${still}`,
  ];
};

const fullBudget = ({ limit, tokens }: BudgetReport): string =>
  `${counted(limit, 'failure')}${tokens === null ? '' : ` and ${counted(tokens.limit, 'token')}`}`;

/** The tool that failed most often. */
const worst = ({ charges, earlier }: BudgetReport): string => {
  const failed = charges.filter(({ standing }) => standing !== 'provisional');
  const [own] = [...new Set(failed.map(({ tool }) => tool))]
    .map((tool) => failed.filter((one) => one.tool === tool))
    .toSorted((a, b) => b.length - a.length);
  const [first] = own ?? [];
  if (own === undefined || first === undefined) return 'Find out why the calls failed';
  const categories = listed([...new Set(own.map(({ category }) => category))]);
  const among = earlier === null ? `${failed.length}` : `last ${failed.length}`;
  const all = earlier === null ? 'all failures' : `all of the ${among} failures`;
  const share = own.length === failed.length ? `${all} are` : `${own.length} of the ${among} failures are`;
  return `Look at ${named(first.tool)} first: ${failed.length === 1 ? 'the failure is' : share} its own (${categories})`;
};

const toolSteps = ({ state, tools }: Known): readonly string[] => {
  const names = (belongs: (tool: ToolReport) => boolean) => tools.filter(belongs).map(({ tool }) => named(tool));
  const probed = names((tool) => tool.state === 'open' || tool.state === 'half_open');
  const off = names((tool) => tool.state === 'forced_open');
  const refused = names(({ heldUp }) => heldUp.reasons.not_allowed !== undefined);
  const stuck = names(({ heldUp }) => heldUp.reasons.repeat !== undefined);
  const [it, is] = probed.length === 1 ? ['it', 'is'] : ['they', 'are'];
  return [
    ...(state === 'active' && probed.length > 0
      ? [`Leave ${listed(probed)} to the probes; look into it if ${it} ${is} still out after the next ones.`]
      : []),
    ...(off.length > 0
      ? [`Switched off by hand: ${listed(off)}. session.control(tool, 'automatic') switches a tool on again.`]
      : []),
    ...(refused.length > 0 ? [`Not allowed: ${listed(refused)}. Add to allowedTools what the agent is to use.`] : []),
    ...(stuck.length > 0
      ? [`Repeated to no avail: ${listed(stuck)}. The tool answers; the model has to try something else.`]
      : []),
  ];
};

const cautionSteps = ({ state, budget }: Known): readonly string[] =>
  state === 'active' && budget?.caution ? ['Mind the budget: one more failure may pause the run.'] : [];

const taskSteps = ({ scope }: Known): readonly string[] => {
  const waiting = scope?.deferred.length ?? 0;
  if (waiting === 0) return [];
  return [
    `Call session.planScope(tasks) again when what is out is back: ${counted(waiting, 'task')} ${waiting === 1 ? 'is' : 'are'} deferred.`,
  ];
};
