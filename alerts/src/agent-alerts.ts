import type { AlertDefinition } from './alert.ts';
import { durationOf, inWords, seconds } from './duration.ts';
import { AGENT, ATTR, aggregated, BY_AGENT, bracketed, gained, joined, METRIC, NOT_CLOSED, TOOL } from './promql.ts';
import type { Ground } from './record.ts';

const common = { labels: ['job', 'agent'] } as const;

const BURN_COMMENT =
  'Two windows: the long one says that it is worth a word, the short one that it is still going on. Least traffic, for one session that fails is 100 % too. And turnover: where sessions last longer than the window, what they use up was granted before it.';

const burnFast: AlertDefinition = {
  ...common,
  name: 'BreakerboxBudgetBurnFast',
  severity: 'critical',
  dashboard: 'breakerbox-failure-budget',
  says: ({ burnFastRatio, burnFastLeastGranted, burnFastLeastCharged }) =>
    `more than ${burnFastRatio * 100} % of the granted failures are used up, over 1 hour and over 5 minutes (${burnFastLeastGranted} granted and ${burnFastLeastCharged} charged at least)`,
  comment: `${BURN_COMMENT} One dead tool costs a short session 3 of 5, which is less.`,
  expr: ({ read, settings }) =>
    [
      `round(${read.now('burn1h')}, 0.01) > ${settings.burnFastRatio}`,
      `and ${read.now('burn5m')} > ${settings.burnFastRatio}`,
      `and round(${read.now('granted1h')}) >= ${settings.burnFastLeastGranted}`,
      `and round(${read.now('consumed1h')}) >= ${settings.burnFastLeastCharged}`,
      `and ${read.now('granted1h')} >= ${settings.burnLeastTurnover} * avg_over_time(${read.over('sessions', '1h')})`,
    ].join('\n'),
  keepFiringFor: ({ burnFastKeep }) => burnFastKeep,
  summary: ({ dialect }) => `Sessions of agent ${dialect.label('agent')} use up their failure budgets`,
  description: ({ dialect, settings }) =>
    `Agent ${dialect.label('agent')} (job ${dialect.label('job')}) has used up ${dialect.value('percentage')} of the failures that its sessions were granted in the last hour, and goes on at more than ${settings.burnFastRatio * 100} %. Most sessions stop before they are done.`,
};

const burnSlow: AlertDefinition = {
  ...common,
  name: 'BreakerboxBudgetBurnSlow',
  severity: 'warning',
  dashboard: 'breakerbox-failure-budget',
  says: ({ burnSlowRatio, burnSlowLeastGranted, burnSlowLeastCharged }) =>
    `more than ${burnSlowRatio * 100} % of the granted failures are used up, over 6 hours and over 30 minutes (${burnSlowLeastGranted} granted and ${burnSlowLeastCharged} charged at least)`,
  comment: `${BURN_COMMENT} Half of the traffic must lie before the last hour: an agent that has just been started has only one short outage in its 6 hours.`,
  expr: ({ read, settings }) =>
    [
      `round(${read.now('burn6h')}, 0.01) > ${settings.burnSlowRatio}`,
      `and ${read.now('burn30m')} > ${settings.burnSlowRatio}`,
      `and round(${read.now('granted6h')}) >= ${settings.burnSlowLeastGranted}`,
      `and round(${read.now('granted6h')} - ${read.now('granted1h')}) >= ${settings.burnSlowLeastGranted / 2}`,
      `and round(${read.now('consumed6h')}) >= ${settings.burnSlowLeastCharged}`,
      `and ${read.now('granted6h')} >= ${settings.burnLeastTurnover} * avg_over_time(${read.over('sessions', '6h')})`,
    ].join('\n'),
  keepFiringFor: ({ burnSlowKeep }) => burnSlowKeep,
  summary: ({ dialect }) => `Sessions of agent ${dialect.label('agent')} have been short of failure budget for hours`,
  description: ({ dialect, settings }) =>
    `Agent ${dialect.label('agent')} (job ${dialect.label('job')}) has used up ${dialect.value('percentage')} of the failures that its sessions were granted in the last 6 hours, and goes on at more than ${settings.burnSlowRatio * 100} %. A bad moment more, and sessions stop before they are done.`,
};

/** Sessions paused for a reason, and the counter beside them: the state is of now, the counter of a moment ago. */
const pausedOrCounted = (
  { series, settings }: Ground,
  state: 'paused_budget' | 'paused_systemic',
  counter: typeof METRIC.budgetExhaustions | typeof METRIC.systemicEvents,
  within: string,
): string => {
  const paused = `last_over_time(${series(METRIC.sessions, { [ATTR.sessionState]: [state] })}[${settings.gap}])`;
  return joined(
    'or',
    bracketed(`${aggregated('sum', BY_AGENT, paused)} > 0`),
    bracketed(`${gained(series, series(counter), BY_AGENT, within)} > 0`),
  );
};

const budgetExhausted: AlertDefinition = {
  ...common,
  name: 'BreakerboxBudgetExhausted',
  severity: 'critical',
  dashboard: 'breakerbox-failure-budget',
  says: ({ exhaustedWithin }) =>
    `sessions are paused because their failure budget is used up, or one ran out of it within ${inWords(exhaustedWithin)}`,
  comment:
    'The state, and the counter beside it: an unattended agent often ends its session the moment it is paused, and between two scrapes that session is never seen in the gauge. The first side of `or` wins where both have data. The counter also keeps the alert for a while after a resume: the texts must be true then too. The state is looked at across a missed scrape.',
  expr: (ground) => pausedOrCounted(ground, 'paused_budget', METRIC.budgetExhaustions, ground.settings.exhaustedWithin),
  summary: ({ dialect }) => `Sessions of agent ${dialect.label('agent')} have used up their failure budget`,
  description: ({ dialect, settings }) =>
    `${dialect.value('count')} session(s) of agent ${dialect.label('agent')} (job ${dialect.label('job')}) are paused with no failure budget left, or ran out of it within the last ${inWords(settings.exhaustedWithin)} and have been resumed or ended since. A paused session calls no tool until somebody resumes it.`,
};

const systemicFailure: AlertDefinition = {
  ...common,
  name: 'BreakerboxSystemicFailure',
  severity: 'critical',
  dashboard: 'breakerbox-correlated-failures',
  says: ({ systemicWithin, systemicKeep }) =>
    `a session is paused because several tools failed together, or one was within ${inWords(systemicWithin)}; kept for ${inWords(systemicKeep)} after`,
  comment:
    'Kept firing after the last session has left the state: Alertmanager mutes the alerts of single tools meanwhile, and the tools need time for the probes that close them. When it lapses too soon, every muted alert goes out at once. A tool that is still open after that is a fault of its own. The counter is for a session that ends between two scrapes, as above. The list of tools comes from the raw series: the recorded one may lag by an evaluation, and the first notification would name none.',
  expr: (ground) => pausedOrCounted(ground, 'paused_systemic', METRIC.systemicEvents, ground.settings.systemicWithin),
  keepFiringFor: ({ systemicKeep }) => systemicKeep,
  summary: ({ dialect }) => `Several tools of agent ${dialect.label('agent')} have failed together`,
  description: ({ dialect, andSelector }) => {
    const open = dialect.query({
      before: ' Open:',
      query: `sum by (${TOOL}) (${METRIC.circuits.prometheus}{job=%q, ${AGENT}=%q, breakerbox_state=~"${NOT_CLOSED.join('|')}"${andSelector}}) > 0`,
      args: ['job', 'agent'],
      list: 'tool',
      after: '.',
    });
    return `${dialect.value('count')} session(s) of agent ${dialect.label('agent')} (job ${dialect.label('job')}) were paused for every tool, because several tools failed together.${open} Look for what they share. A session that is still paused probes nothing until somebody confirms the recovery.`;
  },
};

const telemetryAbsent: AlertDefinition = {
  ...common,
  name: 'BreakerboxTelemetryAbsent',
  severity: 'warning',
  dashboard: 'breakerbox-fleet-overview',
  says: ({ absentFor, absentLeastReported }) =>
    `an agent that reported for ${inWords(absentLeastReported)} of the last hour or more reports nothing for ${inWords(absentFor)}, and isn’t one that comes and goes`,
  comment:
    'The first side remembers the hour, so that the alert doesn’t lapse the moment the agent is gone for as long as it had to be there. The second is the raw series over a range: with a scrape that fails and with a push that doesn’t come, nothing is nothing, and a missed one is bridged. The last side knows agents that come and go, a nightly job for one: known for long enough, and mostly not there. `for` lets a Prometheus that was restarted scrape first.',
  expr: ({ read, series, settings }) => {
    const { gap, absentLeastReported, absentHabit, absentHabitShare } = settings;
    const habit = seconds(absentHabit);
    return [
      `count_over_time(${read.now('sessions')}[1h:1m]) >= ${seconds(absentLeastReported) / 60}`,
      `unless ${aggregated('count', BY_AGENT, `last_over_time(${series(METRIC.sessions)}[${gap}])`)}`,
      `unless ${bracketed(
        `count_over_time(${read.now('sessions')}[${absentHabit}:10m]) < ${Math.round((absentHabitShare * habit) / 600)}\nand last_over_time(${read.over('sessions', absentHabit)} offset ${durationOf(habit / 4)})`,
      )}`,
    ].join('\n');
  },
  for: ({ absentFor, gap }) => durationOf(seconds(absentFor) - seconds(gap)),
  summary: ({ dialect }) => `Agent ${dialect.label('agent')} reports nothing any more`,
  description: ({ dialect, settings }) =>
    `Agent ${dialect.label('agent')} (job ${dialect.label('job')}) has reported nothing for ${inWords(settings.absentFor)}, after it had for ${dialect.value('count')} of the last 60 minutes. It has ended, hangs, or can’t be reached; no other alert can speak of it now.`,
};

/** Alerts about one agent. */
export const AGENT_ALERTS: readonly AlertDefinition[] = [
  burnFast,
  burnSlow,
  budgetExhausted,
  systemicFailure,
  telemetryAbsent,
];
