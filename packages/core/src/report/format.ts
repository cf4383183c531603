import { show } from '../config/checks.ts';
import { BreakerboxUsageError } from '../config/errors.ts';
import type { Route } from '../routing/route.ts';
import type { BudgetReport } from './budget-report.ts';
import { ago, type Column, counted, figure, item, listed, named, table, utc, wrapped } from './lines.ts';
import { span, suspect } from './next.ts';
import type { DeferredReport, FallbackReport, LeftOut } from './scope-report.ts';
import type { SessionReport } from './session-report.ts';
import { entriesOf } from './tool-report.ts';
import { count, NAME, remarkSection, type Section, toolSection, unavailableSection } from './tool-sections.ts';

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

/** The failure budget, how it refills (B1, B6), and the failures charged. */
const budgetSection: Section = ({ budget, state }) => {
  const { limit, remaining, tokens, charges, earlier, window, cycle } = budget;
  const left = [`${remaining} of ${counted(limit, 'failure')} left`];
  if (tokens !== null) left.push(`${figure(tokens.remaining)} of ${counted(tokens.limit, 'token')} left`);
  if (window === null && cycle > 1) left.push(`cycle ${cycle}`); // By the other rule, charges come and go.
  const leaves =
    state === 'active' ? ', then it leaves the budget' : '. While the session is paused, none leaves the budget';
  const refill =
    window === null
      ? 'Rule strict: every failure counts until session.resume().'
      : `A charge counts for ${span(window)}${leaves}.`;
  const cost = earlier === null || earlier.tokens === 0 ? '' : `, which cost ${counted(earlier.tokens, 'token')}`;
  const before = earlier === null ? '' : ` Before these: ${counted(earlier.failures, 'failure')}${cost}.`;
  const text = charges.length === 0 && earlier === null ? 'Nothing charged.' : `${refill}${before}`;
  return [`Failure budget: ${left.join(', ')}`, [`  ${wrapped(text, 2)}`, ...table(CHARGE_COLUMNS, charges)]];
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
    item('category:', category === null ? 'none that all share' : `${category}, shared by all`),
    item('suspect: ', suspect(systemic)),
  ];
  return ['Systemic failure', [...lines, ...table(columns, tools)]];
};

/** W1: what is done, what can be done, and what has to wait. */
const taskSection: Section = ({ scope, done }) => [
  'Tasks',
  [
    ...(scope?.deferred ?? []).map((one) => item('deferred:', deferredText(one))),
    ...(scope?.achievable ?? []).map(({ task, degraded }) =>
      item('can do:  ', degraded.length === 0 ? task : `${task}: with ${listed(degraded.map(fallbackText))}`),
    ),
    ...done.map((task) => item('done:    ', task)),
  ],
];

const deferredText = ({ task, blockers }: DeferredReport): string => {
  const tools = blockers.map(({ tool, reason }) => `${named(tool)} (${words(reason)})`);
  const unblocks = [...new Set(blockers.map(({ unblock }) => unblock))];
  const byHand = [...new Set(blockers.flatMap(({ fallback }) => fallback ?? []))];
  const instead = byHand.length === 0 ? '' : ` By hand: ${byHand.join('; ')}.`;
  return `${task}: waits for ${listed(tools)}. It can go on once ${listed(unblocks)}.${instead}`;
};

const fallbackText = ({ tool, alternative, degradation, note }: FallbackReport): string =>
  `${named(alternative)} instead of ${named(tool)} (degradation ${degradation}${note === null ? '' : `: ${note}`})`;

const words = (name: string): string => name.replaceAll('_', ' ');

const INSTEAD: Readonly<Partial<Record<Route['kind'], string>>> = {
  stale: 'last good result',
  manual: 'by hand',
  defer: 'nothing, deferred',
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
    ...entriesOf(routes).flatMap(([kind, times]) => (INSTEAD[kind] ? [[INSTEAD[kind], times] as const] : [])),
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

const scopeHeadline = ({ scope, done }: SessionReport): string => {
  const finished = done.length === 0 ? '' : `, ${done.length} done`;
  if (scope === null) return `No scope was planned${finished}.`;
  const can = scope.achievable.length;
  const waiting = scope.deferred.length;
  if (can + waiting === 0) return `Nothing is left to do${finished}.`;
  if (waiting === 0) return `All ${counted(can, 'task')} can be done${finished}.`;
  if (can === 0) return `No task can be done now: ${waiting} deferred${finished}.`;
  return `Reduced scope: ${counted(can, 'task')} can be done, ${waiting} deferred${finished}.`;
};

const HEALTH: readonly Section[] = [unavailableSection, toolSection];
const WORK: readonly Section[] = [taskSection, leftOutSection];
const CHARGES: readonly Section[] = [budgetSection, remarkSection];
const ACTIVE: readonly Section[] = [nextSection, systemicSection, ...HEALTH, ...WORK, ...CHARGES];
const PAUSED: readonly Section[] = [nextSection, systemicSection, ...WORK, ...HEALTH, ...CHARGES];

/** The health of every tool and group, unavailable ones first, and the failure budget. */
export const formatStateTable: Format = format('formatStateTable', headlineOf, () => [...HEALTH, ...CHARGES]);

/** What is done, what can be done, and what has to wait until when (W1). */
export const formatScopeReport: Format = format('formatScopeReport', scopeHeadline, () => [taskSection, nextSection]);

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
