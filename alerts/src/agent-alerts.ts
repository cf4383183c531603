import type { AlertDefinition } from './alert.ts';
import { durationOf, inWords, seconds } from './duration.ts';
import { AGENT, ATTR, aggregated, BY_AGENT, bracketed, gained, joined, METRIC, NOT_CLOSED, TOOL } from './promql.ts';
import type { Ground } from './record.ts';
import { asSeconds } from './recording-correlation.ts';
import { WINDOW } from './settings.ts';

const common = { labels: ['job', 'agent'] } as const;

const burnFast: AlertDefinition = {
  ...common,
  name: 'BreakerboxBudgetBurnFast',
  severity: 'critical',
  dashboard: 'breakerbox-failure-budget',
  says: ({ burnFastRatio, burnFastLeastSessions }) =>
    `more than ${burnFastRatio * 100} % of the sessions fell to one failure left in their budget or none, over 1 hour and over 5 minutes (${burnFastLeastSessions} sessions at least)`,
  comment:
    'How the share is measured is above the recorded series. One dead tool costs a session one failure, so it does not fire this alert.',
  expr: ({ read }) => `round(${read.now('burn1h')}, 0.01)\nand ${read.now('burnFast')} > 0`,
  keepFiringFor: ({ burnFastKeep }) => burnFastKeep,
  summary: ({ dialect }) => `Sessions of agent ${dialect.label('agent')} use up their failure budgets`,
  description: ({ dialect, settings }) =>
    `${dialect.value('percentage')} of the sessions that agent ${dialect.label('agent')} (job ${dialect.label('job')}) had in the last hour fell to one failure left in their budget, or none. At the pace of the last 5 minutes it is more than ${settings.burnFastRatio * 100} %. The next failure pauses such a session.`,
};

const burnSlow: AlertDefinition = {
  ...common,
  name: 'BreakerboxBudgetBurnSlow',
  severity: 'warning',
  dashboard: 'breakerbox-failure-budget',
  says: ({ burnSlowRatio, burnSlowLeastSessions }) =>
    `more than ${burnSlowRatio * 100} % of the sessions fell to one failure left in their budget or none, over 6 hours and over 30 minutes (${burnSlowLeastSessions} sessions at least), and no fast burn was in the last 30 minutes`,
  comment:
    'Silent while BreakerboxBudgetBurnFast is true, and until a fast burn has left the 30 minutes: otherwise it would fire when the fast burn is over. It is kept for a while after it was true. The expression keeps it, not `keep_firing_for`, so that what it saw of a fast burn is not kept.',
  expr: ({ read, settings: { burnSlowKeep } }) => {
    const fast = (range: string): string => `max_over_time(${read.over('burnFast', range)}) > 0`;
    const kept = durationOf(seconds(burnSlowKeep) + seconds(WINDOW.half));
    const either = joined(
      'or',
      bracketed(`${read.now('burnSlow')} > 0\nunless ${fast(WINDOW.half)}`),
      bracketed(`max_over_time(${read.over('burnSlow', burnSlowKeep)}) > 0\nunless ${fast(kept)}`),
    );
    return `round(${read.now('burn6h')}, 0.01)\nand ${bracketed(either)}`;
  },
  summary: ({ dialect }) => `Sessions of agent ${dialect.label('agent')} have been short of failure budget for hours`,
  description: ({ dialect, settings }) =>
    `${dialect.value('percentage')} of the sessions that agent ${dialect.label('agent')} (job ${dialect.label('job')}) had in the last 6 hours fell to one failure left in their budget, or none. At the pace of the last 30 minutes it is more than ${settings.burnSlowRatio * 100} %. The next failure pauses such a session.`,
};

/** What is true now, and the counter beside it: the state is of this moment, the counter of a few minutes ago. */
const isOrWas = (
  { series, settings }: Ground,
  state: string,
  counter: typeof METRIC.budgetExhaustions | typeof METRIC.systemicEvents,
  within: string,
): string =>
  joined(
    'or',
    bracketed(`${aggregated('sum', BY_AGENT, `last_over_time(${state}[${settings.gap}])`)} > 0`),
    bracketed(`${gained(series, series(counter), BY_AGENT, within)} > 0`),
  );

const budgetExhausted: AlertDefinition = {
  ...common,
  name: 'BreakerboxBudgetExhausted',
  severity: 'critical',
  dashboard: 'breakerbox-failure-budget',
  says: ({ exhaustedWithin, exhaustedKeep }) =>
    `sessions are paused because their failure budget is used up, or one ran out of it within ${inWords(exhaustedWithin)}; kept for ${inWords(exhaustedKeep)} after`,
  comment:
    'The state, and the counter beside it: an unattended agent often ends its session the moment it is paused, and between two scrapes that session is never seen in the gauge. Neither gives a number for the texts: what a counter gained is an estimate. Kept firing, for an unattended agent runs out of it every few minutes, and each would be an alert of its own: the texts must be true then too. The state is looked at across a missed scrape.',
  expr: (ground) => {
    const paused = ground.series(METRIC.sessions, { [ATTR.sessionState]: ['paused_budget'] });
    return isOrWas(ground, paused, METRIC.budgetExhaustions, ground.settings.exhaustedWithin);
  },
  keepFiringFor: ({ exhaustedKeep }) => exhaustedKeep,
  summary: ({ dialect }) => `Sessions of agent ${dialect.label('agent')} have used up their failure budget`,
  description: ({ dialect, settings }) =>
    `At least one session of agent ${dialect.label('agent')} (job ${dialect.label('job')}) is paused with no failure budget left, or ran out of it within the last ${inWords(durationOf(seconds(settings.exhaustedWithin) + seconds(settings.exhaustedKeep)))} and has been resumed or ended since. A paused session calls no tool until you resume it.`,
};

const systemicFailure: AlertDefinition = {
  ...common,
  name: 'BreakerboxSystemicFailure',
  severity: 'critical',
  dashboard: 'breakerbox-correlated-failures',
  says: ({ systemicWithin, systemicKeep }) =>
    `a systemic event is active: several tools failed together; or one was within ${inWords(systemicWithin)}; kept for ${inWords(systemicKeep)} after`,
  comment:
    'Rests on the state: how many events are not over. Kept firing after the last of them is over: Alertmanager mutes the alerts of single tools meanwhile, and the tools need time for the probes that close them. When it lapses too soon, every muted alert goes out at once. A tool that is still open after that is a fault of its own. The counter is for an event that is over before a scrape sees it, as above. The list of tools comes from the raw series: the recorded one may lag by an evaluation, and the first notification would name none.',
  expr: (ground) =>
    isOrWas(ground, ground.series(METRIC.systemicActive), METRIC.systemicEvents, ground.settings.systemicWithin),
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
    return `Agent ${dialect.label('agent')} (job ${dialect.label('job')}) has recognised failures of several tools as one event.${open} Look for what they share. In scope session, the session of the event is paused and probes nothing until you confirm the recovery. In scope process, calls of the affected tools are skipped, and a probe ends the event when it succeeds.`;
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
    'The first side remembers the hour, so that the alert doesn’t lapse the moment the agent is gone for as long as it had to be there. The second is the raw series over a range: with a scrape that fails and with a push that doesn’t come, nothing is nothing, and a missed one is bridged. The last side knows agents that come and go, a nightly job for one: mostly not there in the time since they were first seen, of which the first hours are left out, for nothing is a habit yet. `for` lets a Prometheus that was restarted scrape first.',
  expr: ({ read, series, settings }) => {
    const { gap, absentLeastReported, absentHabit, absentHabitShare } = settings;
    const habit = seconds(absentHabit);
    // Nothing is a habit before; and the hour that is still remembered of an agent that has gone lies within.
    const grace = Math.max(habit / 4, seconds(WINDOW.hour));
    const firstSeen = `min_over_time(timestamp(${read.now('sessions')})[${durationOf(2 * habit)}:10m])`;
    const known = `clamp_max((time() - ${asSeconds(durationOf(grace))} - ${firstSeen}) / (10 * 60), ${habit / 600})`;
    return [
      `count_over_time(${read.now('sessions')}[1h:1m]) >= ${seconds(absentLeastReported) / 60}`,
      `unless ${aggregated('count', BY_AGENT, `last_over_time(${series(METRIC.sessions)}[${gap}])`)}`,
      `unless ${bracketed(`count_over_time(${read.now('sessions')}[${absentHabit}:10m])\n< ${absentHabitShare} * ${known}`)}`,
    ].join('\n');
  },
  for: ({ absentFor, gap }) => durationOf(seconds(absentFor) - seconds(gap)),
  summary: ({ dialect }) => `Agent ${dialect.label('agent')} reports nothing any more`,
  description: ({ dialect, settings }) =>
    `Agent ${dialect.label('agent')} (job ${dialect.label('job')}) has reported nothing for ${inWords(settings.absentFor)}, after it had for ${dialect.value('count')} of the last 60 minutes. It has ended, hangs, or can’t be reached; no other alert can speak of it now. This one resolves by itself within the hour, though nobody mended it.`,
};

/** Alerts about one agent. */
export const AGENT_ALERTS: readonly AlertDefinition[] = [
  burnFast,
  burnSlow,
  budgetExhausted,
  systemicFailure,
  telemetryAbsent,
];
