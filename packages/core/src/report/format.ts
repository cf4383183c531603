import { NO_LIMIT } from '../budget/budget.ts';
import { keepsCharges } from '../budget/ledger.ts';
import { BreakerboxUsageError, show } from '../checks/checks.ts';
import { isModelCircuit } from '../checks/names.ts';
import { circuitNameOf } from '../circuit/policy.ts';
import { amountOf } from '../routing/limit-text.ts';
import type { Route } from '../routing/route.ts';
import { formatDuration } from '../routing/wording.ts';
import { isMostlyIgnored } from '../session-tools.ts';
import { ago, type Column, counted, figure, item, lasted, listed, named, table, utc, wrapped } from './lines.ts';
import { isRejectedByGroup, isUnavailable, limitText, nounOf, rejectsCalls, span, suspect } from './next.ts';
import type {
  BudgetReport,
  ChildReport,
  DeferredReport,
  FallbackReport,
  LeftOut,
  SessionReport,
} from './session-report.ts';
import { entriesOf, type ProbeReport, type ToolReport } from './tool-report.ts';

/**
 * Reports as plain text (Q1): the first line says what is wrong, and the most important content comes first. Names from outside are
 * shown with escaped control characters. The functions never throw on a report that `report(session)` returned, even after a round
 * trip through JSON.
 */

/** Turns a report into text. Throws a {@link BreakerboxUsageError} if the value is not a report. */
type Format = (report: SessionReport) => string;

const format =
  (
    name: string,
    headline: (report: SessionReport) => string,
    sections: (report: SessionReport) => readonly Section[],
  ): Format =>
  (report) => {
    const { headline: given, tools } = ((report as unknown) ?? {}) as Partial<SessionReport>;
    if (typeof given !== 'string' || !Array.isArray(tools)) {
      throw new BreakerboxUsageError(
        `${name}(${show(report)}): this is not a report. Give what report(session) returns.`,
      );
    }
    const { agent, session, step, unixMs } = report;
    return [
      wrapped(headline(report)),
      wrapped(`${named(agent)}, session ${named(session)}, step ${step}, ${utc(unixMs)} UTC`),
      ...sections(report).flatMap((section) => {
        const [title, lines] = section(report);
        return lines.length === 0 ? [] : ['', title, ...lines];
      }),
    ].join('\n');
  };

/** A part of a report: its title, and its lines. A part without lines is left out. */
type Section = (report: SessionReport) => readonly [title: string, lines: readonly string[]];

const nameColumn = (head: 'tool' | 'model'): Column<{ readonly tool: string }> => ({
  head,
  cell: ({ tool }) => named(tool),
});

const NAME = nameColumn('tool');

/** A count in a table; 0 is left empty. */
const count = (times: number): string => (times === 0 ? '' : figure(times));

/** A circuit that rejects calls, of a group or a tool. */
interface UnavailableRow extends Pick<ToolReport, 'tool' | 'openForMs' | 'nextProbe'> {
  readonly state: string;
  readonly cause: string;
  readonly failed: number;
  readonly rejected: number;
}

/** Beside the name. */
const UNAVAILABLE_COLUMNS: readonly Column<UnavailableRow>[] = [
  { head: 'state', cell: ({ state }) => state },
  { head: 'cause', cell: ({ cause }) => cause },
  { head: 'for', cell: ({ openForMs }) => (openForMs === null ? '' : lasted(openForMs)), align: 'right' },
  { head: 'next probe', cell: ({ nextProbe }) => (nextProbe === null ? '' : probeText(nextProbe)) },
  { head: 'failed', cell: ({ failed }) => count(failed), align: 'right' },
  { head: 'rejected', cell: ({ rejected }) => count(rejected), align: 'right' },
];

/** `due`, `40 s`, `2 steps/60 s`, `2 steps, 40 s least`. */
const probeText = ({ steps, ms, notBeforeMs }: ProbeReport): string => {
  const least = notBeforeMs > 0 ? formatDuration(notBeforeMs) : '';
  if (steps === 0 || ms === 0) return least || 'due';
  if (ms !== null && notBeforeMs >= ms) return least; // Both end then, and not before.
  const due = [steps === null ? '' : counted(steps, 'step'), ms === null ? '' : formatDuration(ms)];
  return `${due.filter(Boolean).join(' or ')}${least && `, at least ${least}`}`;
};

/** Failures in a row are the usual case and not shown. */
const causeOf = (circuit: string, { category, trip }: Pick<ToolReport, 'category' | 'trip'>): string => {
  // A provider has no transport: its category says why its circuit opened at once.
  const isSaid = trip === 'consecutive' || (trip === 'transport' && isModelCircuit(circuit));
  return [category, isSaid ? null : trip?.replaceAll('_', ' ')].filter(Boolean).join(', ');
};

/** The circuits that reject calls: groups with their tools beneath them, then tools that are unavailable by themselves. */
const unavailableRows = ({ tools, groups, systemic, state }: SessionReport): readonly UnavailableRow[] => {
  // A paused session does not probe. While an event lasts, its circuits are not probed one by one (S5).
  const ofEvent = new Set(systemic?.tools.map(({ tool }) => tool));
  const probeOf = (name: string, probe: ProbeReport | null) => (state !== 'active' || ofEvent.has(name) ? null : probe);
  const rowOf = (one: ToolReport, more: Partial<UnavailableRow> = {}): UnavailableRow => ({
    tool: one.tool,
    state: one.state ?? 'no circuit',
    cause: causeOf(one.tool, one),
    openForMs: one.openForMs,
    nextProbe: probeOf(one.tool, one.nextProbe),
    failed: one.calls.failed,
    rejected: one.rejected.skipped + one.rejected.paused,
    ...more,
  });
  const ofGroups = groups
    .filter((group) => rejectsCalls(group.state))
    .flatMap((group): UnavailableRow[] => {
      const { openForMs, skipped } = group;
      const tool = circuitNameOf(group.group);
      const nextProbe = probeOf(tool, group.nextProbe);
      const members = tools.filter((one) => one.group === group.group && isRejectedByGroup(one));
      return [
        { tool, state: group.state, cause: causeOf(tool, group), openForMs, nextProbe, failed: 0, rejected: skipped },
        ...members.map((one) => rowOf(one, { state: 'by its group', cause: named(tool) })),
      ];
    });
  return [...ofGroups, ...tools.filter((one) => rejectsCalls(one.state)).map((one) => rowOf(one))];
};

/** What rejects calls: since when, why, and until when. */
const unavailableSection: Section = (report) => [
  `Unavailable ${nounOf(report.tools)}s`,
  table([nameColumn(nounOf(report.tools)), ...UNAVAILABLE_COLUMNS], unavailableRows(report)),
];

/** Beside the name. */
const OTHER_COLUMNS: readonly Column<ToolReport>[] = [
  { head: 'state', cell: ({ state }) => state ?? 'no circuit' },
  { head: 'ok', cell: ({ calls }) => count(calls.succeeded), align: 'right' },
  { head: 'failed', cell: ({ calls }) => count(calls.failed), align: 'right' },
  { head: 'in a row', cell: ({ failuresInRow }) => count(failuresInRow), align: 'right' },
  { head: 'rejected', cell: ({ rejected }) => count(rejected.skipped + rejected.paused), align: 'right' },
];

/** The health of all other tools, those that have failed first. */
const toolSection: Section = ({ tools }) => {
  const failed = ({ calls }: ToolReport) => Number(calls.failed > 0);
  const rows = tools.filter((tool) => !isUnavailable(tool)).toSorted((a, b) => failed(b) - failed(a));
  const noun = nounOf(tools);
  const all = noun === 'model' ? 'Models' : 'Tools';
  return [rows.length === tools.length ? all : `Other ${noun}s`, table([nameColumn(noun), ...OTHER_COLUMNS], rows)];
};

/** Facts that few tools have, so they get no column. */
const remarkSection: Section = ({ tools }) => {
  const remark = (text: string, of: (tool: ToolReport) => number) => {
    const some = tools.filter((tool) => of(tool) > 0).map((tool) => `${named(tool.tool)} ${figure(of(tool))}`);
    return some.length === 0 ? [] : [item('-', `${text}: ${some.join(', ')}.`)];
  };
  return [
    'Remarks',
    [
      ...remark('Calls skipped for one target only', ({ rejected }) => rejected.reasons.key_open ?? 0),
      ...tools
        .filter(({ calls }) => isMostlyIgnored(calls.ignoredErrors, calls.made))
        .map(({ tool, calls: { ignoredErrors, made } }) =>
          item(
            '-',
            `${named(tool)}: ${figure(ignoredErrors)} of ${counted(made, 'call')} came back with an error that is not counted. session.explain(tool) says why.`,
          ),
        ),
      ...remark('Ignored results, which say nothing about health', ({ calls }) => calls.ignored - calls.keyFailures),
      ...remark('Failures of single targets (keys), not of the tool', ({ calls }) => calls.keyFailures),
      ...remark('Tokens wasted on failed calls', ({ tokensWasted }) => tokensWasted),
      ...remark('Dry run: calls that would have been skipped or paused', (tool) => tool.wouldHaveBeenRejected),
    ],
  ];
};

const nextSection: Section = ({ next }) => ['What to do', next.map((text, index) => item(`${index + 1}.`, text))];

const STANDING = { charged: '', provisional: 'provisional', systemic: 'one for the event' } as const;

const CHARGE_COLUMNS: readonly Column<BudgetReport['charges'][number]>[] = [
  { head: 'when', cell: ({ agoMs }) => ago(agoMs), align: 'right' },
  { head: 'step', cell: ({ step }) => String(step), align: 'right' },
  NAME,
  { head: 'category', cell: ({ category }) => category },
  { head: 'tokens', cell: ({ tokens }) => count(tokens), align: 'right' },
  { head: 'counts as', cell: ({ standing }) => STANDING[standing] },
  { head: 'leaves in', cell: ({ leavesIn }) => (leavesIn === null ? '' : span(leavesIn)), align: 'right' },
];

/** The failure budget, how it refills (B1), and the failures charged. */
const budgetSection: Section = ({ budget, state, tools }) => {
  if (nounOf(tools) === 'model') return ['', []]; // They have none (L2).
  const { limit, remaining, tokens, charges, earlier, window, cycle } = budget;
  if (limit === NO_LIMIT) return ['Failure budget', ['  Off: failures never pause the session.']];
  const left = [`${remaining} of ${counted(limit, 'failure')} left`];
  if (tokens !== null) left.push(`${figure(tokens.remaining)} of ${counted(tokens.limit, 'token')} left`);
  if (window === null && cycle > 1) left.push(`cycle ${cycle}`); // By the other rule, charges come and go.
  const leaves = keepsCharges(state)
    ? '. While the session is paused, no charge leaves the budget'
    : ', then it leaves the budget';
  const refill =
    window === null
      ? 'Rule strict: every failure counts until session.resume().'
      : `A charge counts for ${span(window)}${leaves}.`;
  const cost = earlier === null || earlier.tokens === 0 ? '' : `, which cost ${counted(earlier.tokens, 'token')}`;
  const before = earlier === null ? '' : ` Before these: ${counted(earlier.failures, 'failure')}${cost}.`;
  const text = charges.length === 0 && earlier === null ? 'Nothing charged.' : `${refill}${before}`;
  return [`Failure budget: ${left.join(', ')}`, [`  ${wrapped(text, 2)}`, ...table(CHARGE_COLUMNS, charges)]];
};

/** D2: what the run has used of its limits. */
const limitSection: Section = ({ limits = [], session }) => [
  'Limits',
  limits.map((one) => {
    const { kept = 0, ...spent } = one;
    const { level, mode, reserved, estimated, underWay } = one;
    const remarks = [
      ...(one.session === session ? [] : [`of session ${named(one.session)}`]),
      ...(level === null ? [] : [level]),
      ...(mode === 'pause' ? [] : [`mode ${mode}`]),
      ...(kept > 0 ? [`${figure(kept)} kept for the last answers of sub-agents`] : []),
      ...(reserved > kept ? [`${figure(reserved - kept)} reserved for sub-agents`] : []),
      ...(underWay > 0 && one.limit !== 'steps' ? [`${figure(underWay)} expected of calls under way`] : []),
      ...(estimated > 0 ? [`${figure(estimated)} estimated`] : []),
    ];
    return item('-', `${limitText(spent)}${remarks.length === 0 ? '' : ` (${remarks.join(', ')})`}.`);
  }),
];

/** Circles that a text lists: the latest. */
const MOST_CIRCLES = 10;

/** D5: calls that were made again and again with the same results. */
const circleSection: Section = ({ circles = [] }) => [
  'Calls in circles, with the same arguments and results',
  circles
    .slice(-MOST_CIRCLES)
    .map(({ tools, calls }) => item('-', `${tools.map(named).join(', ')}: ${counted(calls, 'call')}.`)),
];

/** Sub-agents that a text lists. */
const MOST_CHILDREN = 20;

/** D1: the tree of sub-agents, and what each has used. */
const childSection: Section = ({ children = [], limits = [], session }) => {
  const currency = limits.find(({ limit }) => limit === 'cost')?.currency ?? '';
  const lines = children.flatMap((child) => childLines(child, '', `${session}`, currency));
  const more = lines.length - MOST_CHILDREN;
  return ['Sub-agents', [...lines.slice(0, MOST_CHILDREN), ...(more > 0 ? [item('-', `and ${more} more.`)] : [])]];
};

/** `above`: the path of the session above it, by which commands name it exactly. */
const childLines = (child: ChildReport, indent: string, above: string, ofRoot: string): readonly string[] => {
  const { name, session, ended, used, limits } = child;
  const path = `${above}/${session}`;
  const currency = limits.find(({ limit }) => limit === 'cost')?.currency ?? ofRoot;
  const spent = [
    counted(used.calls, 'call'),
    ...(used.steps > 0 ? [counted(used.steps, 'step')] : []),
    ...(used.tokens > 0 ? [counted(used.tokens, 'token')] : []),
    ...(used.cost > 0 ? [amountOf(used.cost, { limit: 'cost', currency }).trim()] : []),
    ...limits.filter(({ level }) => level !== null).map((one) => `${limitText(one)} (${one.level})`),
    ...(ended ? ['ended'] : []),
  ];
  const who = name === null ? named(path) : `${named(name)} (${named(path)})`;
  return [
    item(`${indent}-`, `${who}: ${spent.join(', ')}.`),
    ...child.children.flatMap((one) => childLines(one, `${indent}  `, path, currency)),
  ];
};

/** S4: what the failures share, and when each circuit opened. */
const systemicSection: Section = ({ systemic, unixMs }) => {
  if (systemic === null) return ['', []];
  const { category, tools } = systemic;
  const columns: readonly Column<(typeof tools)[number]>[] = [
    { head: 'opened, UTC', cell: (one) => `${utc(one.unixMs).slice(11)} (${ago(unixMs - one.unixMs)})` },
    NAME,
    { head: 'category', cell: (one) => one.category },
  ];
  const lines = [
    item('category:', category === null ? 'not the same for all tools' : `${category}, shared by all`),
    item('suspect: ', suspect(systemic)),
  ];
  return ['Systemic failure', [...lines, ...table(columns, tools)]];
};

/** W1: what is done, what can be done, and what has to wait. */
const taskSection: Section = ({ plan, done }) => [
  'Tasks',
  [
    ...(plan?.deferred ?? []).map((one) => item('deferred:', deferredText(one))),
    ...(plan?.achievable ?? []).map(({ task, degraded }) =>
      item('can do:  ', degraded.length === 0 ? task : `${task}: with ${listed(degraded.map(fallbackText))}`),
    ),
    ...done.map((task) => item('done:    ', task)),
  ],
];

const deferredText = ({ task, blockers }: DeferredReport): string => {
  const tools = blockers.map(({ tool, reason }) => `${named(tool)} (${words(reason)})`);
  const unblocks = [...new Set(blockers.map(({ unblock }) => unblock))];
  const byHand = [...new Set(blockers.flatMap(({ fallback }) => fallback ?? []))];
  const instead = byHand.length === 0 ? '' : ` Instead: ${byHand.join('; ')}.`;
  return `${task}: waits for ${listed(tools)}. It can go on once ${listed(unblocks)}.${instead}`;
};

const fallbackText = ({ tool, alternative, degradation, note }: FallbackReport): string =>
  `${named(alternative)} instead of ${named(tool)} (degradation ${degradation}${note === null ? '' : `: ${note}`})`;

const words = (name: string): string => name.replaceAll('_', ' ');

/** Alternatives have names. */
const INSTEAD: Readonly<Record<Route['kind'], string | undefined>> = {
  alternative: undefined,
  stale: 'last good result',
  manual: 'manual fallback',
  defer: 'no fallback',
};

/** W2: calls that were not made, and results that may not be current. Tasks have a section of their own. */
const leftOutSection: Section = ({ leftOut }) => ['Not done as asked', leftOut.flatMap(leftOutLine)];

const leftOutLine = (one: LeftOut): readonly string[] => {
  if (one.kind === 'label')
    return [item('-', `${named(one.tool)}: ${counted(one.times, 'result')} labelled ${one.label}.`)];
  if (one.kind !== 'rejected') return [];
  const { tool, skipped, paused, reasons, routes, alternatives } = one;
  const ways = [
    ...alternatives.map(({ tool: other, times }) => [named(other), times] as const),
    // The next model of a list is no route of the circuit.
    ...(isModelCircuit(tool) ? [] : entriesOf(routes)).flatMap(([kind, times]) =>
      INSTEAD[kind] ? [[INSTEAD[kind], times] as const] : [],
    ),
  ];
  const what = skipped === 0 ? 'paused' : paused === 0 ? 'skipped' : 'skipped or paused';
  const why = timesOf(entriesOf(reasons).map(([reason, times]) => [words(reason), times]));
  const instead = ways.length === 0 ? '' : ` Instead: ${timesOf(ways)}.`;
  return [item('-', `${named(tool)}: ${counted(skipped + paused, 'call')} ${what} (${why}).${instead}`)];
};

/** `open 6, probe in flight 1`; one alone needs no number. */
const timesOf = (all: readonly (readonly [string, number])[]): string =>
  all.map(([name, times]) => (all.length === 1 ? name : `${name} ${figure(times)}`)).join(', ');

const headlineOf = ({ headline }: SessionReport): string => headline;

const planHeadline = ({ plan, done }: SessionReport): string => {
  const finished = done.length === 0 ? '' : `, ${done.length} done`;
  if (plan === null) return `No tasks were planned${finished}.`;
  const can = plan.achievable.length;
  const waiting = plan.deferred.length;
  if (can + waiting === 0) return `Nothing is left to do${finished}.`;
  if (waiting === 0) return `All ${counted(can, 'task')} can be done${finished}.`;
  if (can === 0) return `No task can be done now: ${waiting} deferred${finished}.`;
  return `Reduced scope: ${counted(can, 'task')} can be done, ${waiting} deferred${finished}.`;
};

const HEALTH: readonly Section[] = [unavailableSection, toolSection];
const WORK: readonly Section[] = [taskSection, leftOutSection];
const CHARGES: readonly Section[] = [limitSection, childSection, circleSection, budgetSection, remarkSection];
const ACTIVE: readonly Section[] = [nextSection, systemicSection, ...HEALTH, ...WORK, ...CHARGES];
const PAUSED: readonly Section[] = [nextSection, systemicSection, ...WORK, ...HEALTH, ...CHARGES];

/** The health of every tool and group, unavailable ones first, and the failure budget. */
export const formatStateTable: Format = format('formatStateTable', headlineOf, () => [...HEALTH, ...CHARGES]);

/** What is done, what can be done, and what has to wait until when (W1). */
export const formatPlanReport: Format = format('formatPlanReport', planHeadline, () => [taskSection, nextSection]);

/** What is done, what is not and why, each tool's health, each charged failure, and first of all what to do next. */
export const formatPauseReport: Format = format('formatPauseReport', headlineOf, () => PAUSED);

/** The category that all share, the tools, the suspected layer, and when each opened (S4). */
export const formatSystemicReport: Format = format(
  'formatSystemicReport',
  ({ headline, systemic }) => (systemic === null ? 'No systemic failure.' : headline),
  ({ systemic }) => (systemic === null ? [] : [systemicSection, nextSection]),
);

/**
 * The report that fits the state of the session: the pause report while it is paused, otherwise the health of the tools first, then
 * the work that was left out. Lines have at most 78 characters, but for long words and tables.
 *
 * @example
 * ```ts
 * process.stdout.write(`${formatReport(report(session))}\n`);
 * ```
 */
export const formatReport: Format = format('formatReport', headlineOf, ({ state }) =>
  state === 'active' ? ACTIVE : PAUSED,
);
