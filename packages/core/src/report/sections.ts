import type { Route } from '../capability/route.ts';
import type { Reason } from '../reasons.ts';
import { marked, paragraph, type Section, within } from './layout.ts';
import type { LeftOut } from './left-out.ts';
import { span, suspect } from './next.ts';
import type { BudgetReport, ChargeReport, SessionReport } from './report.ts';
import type { AchievableReport, DeferredReport } from './scope.ts';
import { type Column, type Sheet, table } from './table.ts';
import { count, NAME } from './tool-sections.ts';
import { entriesOf } from './values.ts';
import { ago, counted, figure, listed, named, utcTime } from './words.ts';

/** The sections of reports in text. Each is left out if it has no content. */

/** What to do, in order. */
export const nextSection = ({ next }: SessionReport, sheet: Sheet): Section => ({
  title: 'What to do',
  lines: marked(
    within(sheet),
    next.map((text, index) => ({ mark: `${index + 1}.`, text })),
  ),
});

const CHARGE_COLUMNS: readonly Column<ChargeReport>[] = [
  { head: 'when', cell: ({ agoMs }) => ago(agoMs), align: 'right' },
  { head: 'step', cell: ({ step }) => String(step), align: 'right' },
  NAME,
  { head: 'category', cell: ({ category }) => category },
  { head: 'tokens', cell: ({ tokens }) => count(tokens), align: 'right' },
  { head: 'counts as', cell: ({ standing }) => STANDING[standing], least: 10 },
  { head: 'leaves in', cell: ({ leavesIn }) => (leavesIn === null ? '' : span(leavesIn)), align: 'right' },
];

const STANDING: Readonly<Record<ChargeReport['standing'], string>> = {
  charged: '',
  provisional: 'provisional',
  systemic: 'one for the event',
};

/** The failure budget, how it refills, and the failures charged. */
export const budgetSection = ({ budget, state }: SessionReport, sheet: Sheet): Section => {
  if (budget === null) return { title: '', lines: [] };
  const { limit, remaining, tokens, charges } = budget;
  const left = [`${remaining} of ${counted(limit, 'failure')} left`];
  if (tokens !== null) left.push(`${figure(tokens.remaining)} of ${counted(tokens.limit, 'token')} left`);
  const rows = table(CHARGE_COLUMNS, charges, within(sheet));
  const title = `Failure budget: ${[...left, ...cycleOf(budget)].join(', ')}`;
  const text = budgetText(budget, state, rows.length > 0);
  return { title, lines: [...paragraph(within(sheet), text), ...rows] };
};

const budgetText = (budget: BudgetReport, state: SessionReport['state'], hasRows: boolean): string => {
  const { earlier } = budget;
  if (earlier === null) return hasRows ? refillOf(budget, state) : 'Nothing charged.';
  return `${refillOf(budget, state)} ${earlierText(earlier)}${hasRows ? ', and the last ones:' : '.'}`;
};

/** Only the rule `strict` has cycles that matter. By the other rule, charges come and go. */
const cycleOf = ({ cycle, window }: BudgetReport): readonly string[] =>
  window === null && cycle > 1 ? [`cycle ${cycle}`] : [];

/** B1, B6: when failures come back. */
const refillOf = ({ window }: BudgetReport, state: SessionReport['state']): string => {
  if (window === null) return 'Rule strict: every failure counts until session.resume().';
  if (state === 'active') return `A charge counts for ${span(window)}, then it leaves the budget.`;
  return `A charge counts for ${span(window)}. While the session is paused, none leaves the budget.`;
};

const earlierText = ({ failures, tokens }: NonNullable<BudgetReport['earlier']>): string => {
  const cost = tokens === 0 ? '' : `, which cost ${counted(tokens, 'token')}`;
  return `${counted(failures, 'earlier failure')}${cost}`;
};

/** S4: what the failures share, and when each circuit opened. */
export const systemicSection = ({ systemic, unixMs }: SessionReport, sheet: Sheet): Section => {
  if (systemic === null) return { title: '', lines: [] };
  const { category, tools } = systemic;
  const inner = within(sheet);
  const columns: readonly Column<(typeof tools)[number]>[] = [
    { head: 'opened, UTC', cell: (one) => `${utcTime(one.unixMs)} (${ago(unixMs - one.unixMs)})` },
    NAME,
    { head: 'category', cell: (one) => one.category },
  ];
  return {
    title: 'Systemic failure',
    lines: [
      ...marked(inner, [
        { mark: 'category:', text: category === null ? 'none that all share' : `${category}, shared by all` },
        { mark: 'suspect:', text: suspect(systemic) },
      ]),
      ...table(columns, tools, inner),
    ],
  };
};

/** W1: what is done, what can be done, and what has to wait. */
export const taskSection = ({ scope, done }: SessionReport, sheet: Sheet): Section => ({
  title: 'Tasks',
  lines: marked(
    within(sheet),
    [
      ...(scope?.deferred ?? []).map((one) => ({ mark: 'deferred', text: deferredText(one), tone: 'bad' as const })),
      ...(scope?.achievable ?? []).map((one) => ({ mark: 'can do', text: achievableText(one), tone: 'warn' as const })),
      ...done.map((text) => ({ mark: 'done', text, tone: 'good' as const })),
    ],
    2,
  ),
});

const deferredText = ({ task, blockers }: DeferredReport): string => {
  const outs = blockers.map(({ tool, reason }) => `${named(tool)} (${because(reason)})`);
  const unblocks = [...new Set(blockers.map(({ unblock }) => unblock))];
  const byHand = [...new Set(blockers.flatMap(({ fallback }) => fallback ?? []))];
  const instead = byHand.length === 0 ? '' : ` By hand: ${byHand.join('; ')}.`;
  return `${task}: waits for ${listed(outs)}. It can go on once ${listed(unblocks)}.${instead}`;
};

const achievableText = ({ task, degraded }: AchievableReport): string => {
  const standIns = degraded.map(({ tool, alternative, degradation, note }) => {
    const loss = `degradation ${degradation}${note === null ? '' : `: ${note}`}`;
    return `${named(alternative)} for ${named(tool)} (${loss})`;
  });
  return standIns.length === 0 ? task : `${task}: with ${listed(standIns)}`;
};

const BECAUSE: Readonly<Partial<Record<Reason, string>>> = {
  open: 'circuit open',
  group_open: 'circuit of its group open',
  probe_in_flight: 'probe under way',
  forced_open: 'switched off by hand',
  not_allowed: 'not allowed',
  unavailable: 'its pre-call check says unavailable',
  repeat: 'same call failed repeatedly',
  budget_exhausted: 'budget spent',
  systemic: 'systemic failure',
};

const because = (reason: Reason): string => BECAUSE[reason] ?? reason.replaceAll('_', ' ');

const INSTEAD: Readonly<Record<Exclude<Route['kind'], 'alternative'>, string>> = {
  stale: 'last good result',
  manual: 'by hand',
  defer: 'nothing, put off',
};

/** W2: calls that were not made, and results that may not be current. Tasks have a section of their own. */
export const leftOutSection = ({ leftOut }: SessionReport, sheet: Sheet): Section => ({
  title: 'Not done as asked',
  lines: leftOut.flatMap((one) => {
    const text = leftOutText(one);
    return text === undefined ? [] : marked(within(sheet), [{ mark: '-', text }]);
  }),
});

const leftOutText = (one: LeftOut): string | undefined => {
  if (one.kind === 'label') return `${named(one.tool)}: ${counted(one.times, 'result')} labelled ${one.label}.`;
  if (one.kind !== 'held_up') return undefined;
  const { skipped, paused, reasons, routes, alternatives } = one;
  const whys = entriesOf(reasons);
  const why = whys.map(([reason, times]) =>
    whys.length === 1 ? because(reason) : `${because(reason)} ${figure(times)}`,
  );
  const what = skipped === 0 ? 'paused' : paused === 0 ? 'skipped' : 'skipped or paused';
  const ways: readonly (readonly [string, number])[] = [
    ...alternatives.map(({ tool, times }) => [named(tool), times] as const),
    ...entriesOf(routes).flatMap(([kind, times]) => (kind === 'alternative' ? [] : [[INSTEAD[kind], times] as const])),
  ];
  const [only, ...others] = ways;
  const all = others.length === 0 ? only?.[0] : ways.map(([way, times]) => `${way} ${figure(times)}`).join(', ');
  const instead = all === undefined ? '' : ` Instead: ${all}.`;
  return `${named(one.tool)}: ${counted(skipped + paused, 'call')} ${what} (${why.join(', ')}).${instead}`;
};
