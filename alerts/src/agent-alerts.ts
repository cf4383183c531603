import type { SessionState } from '@breakerbox/core';
import { type AlertDefinition, SWITCH_OFF } from './alert.ts';
import { failTogetherSince, fallingLowSince, outOfBudgetSince } from './began.ts';
import { type Dialect, ofAll } from './dialect.ts';
import { durationOf, inWords, seconds } from './duration.ts';
import {
  categoryOfEvents,
  failingInTitle,
  failingTools,
  failingToolsSince,
  suspectOfEvents,
  toolsOfEvents,
} from './failing.ts';
import { isOrWas } from './gained.ts';
import { AGENT, ATTR, aggregated, BY_AGENT, joined, label, METRIC } from './promql.ts';
import type { Reader, RecordKey } from './record.ts';
import { exhausted } from './recording-budget.ts';

const common = { labels: ['job', 'agent'] } as const;

const REPAIR = `Repair the tools that fail. ${SWITCH_OFF}`;

/** The share, while the burn is to be reported or was a while ago, with no worse alert since. */
const burns = (read: Reader, share: RecordKey, alone: RecordKey, kept: string): string =>
  `round(${read.now(share)}, 0.01)\nand last_over_time(${read.over(alone, kept)}) > 0`;

const burnFast: AlertDefinition = {
  ...common,
  name: 'BreakerboxBudgetBurnFast',
  severity: 'critical',
  dashboard: 'breakerbox-failure-budget',
  says: ({ burnFastRatio, burnFastLeastSessions }) =>
    `more than ${burnFastRatio * 100} % of the sessions fell to at most one failure left in their budget, over 1 hour and over 5 minutes (at least ${burnFastLeastSessions} sessions)`,
  comment:
    'The comments above the recorded series say how the share is measured. One dead tool costs a session one failure, so it does not fire this alert. Silent while BreakerboxBudgetExhausted reports the same sessions, and after that unless the burn lasts. The alert stays for a while after it was last true. The expression does that, not `keep_firing_for`, which would also keep what it saw before sessions ran out.',
  expr: ({ read, settings }) => burns(read, 'burn1h', 'burnFastAlone', settings.burnFastKeep),
  began: fallingLowSince,
  summary: ({ dialect, andSelector }) =>
    `${dialect.label('agent')}: sessions use up their failure budgets${failingInTitle(dialect, andSelector)}`,
  description: ({ dialect, settings, andSelector }) =>
    `${dialect.value('percentage')} of the sessions that agent ${dialect.label('agent')} (job ${dialect.label('job')}) had in the last hour ran low: at most one failure is left in their budget. Over 5 minutes, this share was also more than ${settings.burnFastRatio * 100} %, now or at most ${inWords(settings.burnFastKeep)} ago. The next failure that is charged pauses such a session.${failingToolsSince(dialect, andSelector)} ${REPAIR}`,
};

const burnSlow: AlertDefinition = {
  ...common,
  name: 'BreakerboxBudgetBurnSlow',
  severity: 'warning',
  dashboard: 'breakerbox-failure-budget',
  says: ({ burnSlowRatio, burnSlowLeastSessions }) =>
    `more than ${burnSlowRatio * 100} % of the sessions fell to at most one failure left in their budget, over 6 hours and over 30 minutes (at least ${burnSlowLeastSessions} sessions), with no fast burn in the last 30 minutes`,
  comment:
    'Silent while BreakerboxBudgetBurnFast or BreakerboxBudgetExhausted is true and for 30 minutes after. Otherwise it would fire when they end. It is kept in the same way.',
  expr: ({ read, settings }) => burns(read, 'burn6h', 'burnSlowAlone', settings.burnSlowKeep),
  began: fallingLowSince,
  summary: ({ dialect, andSelector }) =>
    `${dialect.label('agent')}: sessions have been short of failure budget for hours${failingInTitle(dialect, andSelector)}`,
  description: ({ dialect, settings, andSelector }) =>
    `${dialect.value('percentage')} of the sessions that agent ${dialect.label('agent')} (job ${dialect.label('job')}) had in the last 6 hours ran low: at most one failure is left in their budget. Over 30 minutes, this share was also more than ${settings.burnSlowRatio * 100} %, now or at most ${inWords(settings.burnSlowKeep)} ago. The next failure that is charged pauses such a session.${failingToolsSince(dialect, andSelector)} ${REPAIR}`,
};

const STATE = label(ATTR.sessionState);

/** How many sessions of the agent are in this state, and when: the alert is kept, and then this text is not evaluated again. */
export const sessionsNow = (
  dialect: Dialect,
  state: SessionState,
  andSelector: string,
  one: string,
  many: string,
  none: string,
): string => {
  const sessions = `${METRIC.sessions.prometheus}{job=%q, ${AGENT}=%q, ${STATE}="${state}"${andSelector}}`;
  const count = dialect.count({
    query: `sum(${sessions}) > 0`,
    args: ['job', 'agent'],
    ofAll: { by: BY_AGENT, query: `sum by (${BY_AGENT}) (${ofAll(sessions)}) > 0` },
    one: `1 session ${one}`,
    many: `%.0f sessions ${many}`,
    none,
  });
  return count + dialect.time(' (at ', { query: 'vector(time())', args: [] }, ')');
};

const budgetExhausted: AlertDefinition = {
  ...common,
  name: 'BreakerboxBudgetExhausted',
  severity: 'critical',
  dashboard: 'breakerbox-failure-budget',
  says: ({ exhaustedWithin, exhaustedKeep }) =>
    `sessions are paused because their failure budget is used up, or one ran out within ${inWords(exhaustedWithin)}; kept firing for ${inWords(exhaustedKeep)} after`,
  comment:
    'Reads the gauge and the counter. An unattended agent often ends its session as soon as it is paused, so the gauge may never show that session between two scrapes. The alert keeps firing, because an unattended agent runs out every few minutes and each time would be a new alert. Its text is not evaluated during that time, so it says when it was. The gauge is read across one missed scrape.',
  expr: exhausted,
  keepFiringFor: ({ exhaustedKeep }) => exhaustedKeep,
  began: outOfBudgetSince,
  summary: ({ dialect, andSelector }) =>
    `${dialect.label('agent')}: sessions are out of failure budget${failingInTitle(dialect, andSelector)}`,
  description: ({ dialect, settings, andSelector }) => {
    const within = inWords(durationOf(seconds(settings.exhaustedWithin) + seconds(settings.exhaustedKeep)));
    const paused = sessionsNow(
      dialect,
      'paused_budget',
      andSelector,
      'is paused, because its failure budget is used up',
      'are paused, because their failure budgets are used up',
      `Sessions ran out within the last ${within}, and were resumed or ended since. None is paused now`,
    );
    return `Agent ${dialect.label('agent')} (job ${dialect.label('job')}): ${paused}. A paused session calls no tool until you resume it.${failingToolsSince(dialect, andSelector)} Repair the tools that fail, then: breakerbox ctl list, and breakerbox ctl resume SESSION.`;
  },
};

const systemicFailure: AlertDefinition = {
  ...common,
  name: 'BreakerboxSystemicFailure',
  severity: 'critical',
  dashboard: 'breakerbox-correlated-failures',
  says: ({ systemicWithin, systemicKeep }) =>
    `several tools failed together: a systemic event is active, or one began within the last ${inWords(systemicWithin)}; kept firing for ${inWords(systemicKeep)} after`,
  comment:
    'Reads the gauge of active events. The alert keeps firing after the last event is over, because probes need time to close the circuits, and Alertmanager mutes the alerts of single tools during that time. If it resolved too soon, all muted alerts would be sent at once. A tool that is still open after that has a separate fault. The counter catches an event that is over before a scrape sees it, as above. The texts list tools that failed, not open circuits, because an event may begin before any circuit opens. They read raw series: recorded ones may lag by one evaluation, and then the first notification would name no tool.',
  expr: (ground) =>
    isOrWas(
      ground,
      ground.series(METRIC.systemicActive),
      ground.series(METRIC.systemicEvents),
      ground.settings.systemicWithin,
    ),
  keepFiringFor: ({ systemicKeep }) => systemicKeep,
  began: failTogetherSince,
  summary: ({ dialect, andSelector }) =>
    `${dialect.label('agent')}: ${toolsOfEvents(dialect, andSelector)} fail together${categoryOfEvents(dialect, andSelector)}`,
  description: ({ dialect, andSelector }) => {
    const active = `${METRIC.systemicActive.prometheus}{job=%q, ${AGENT}=%q${andSelector}}`;
    const skipped = 'no session is paused, and calls of the affected tools are skipped until a probe succeeds';
    const withoutPause = dialect.count({
      query: `sum(${active}) > 0`,
      args: ['job', 'agent'],
      ofAll: { by: BY_AGENT, query: `sum by (${BY_AGENT}) (${ofAll(active)}) > 0` },
      one: `1 event is active, ${skipped}`,
      many: `%.0f events are active, ${skipped}`,
      none: 'No event is active any more, because its session ended or its tools work again',
    });
    const paused = sessionsNow(
      dialect,
      'paused_systemic',
      andSelector,
      'is paused for every tool',
      'are paused for every tool',
      withoutPause,
    );
    return `Agent ${dialect.label('agent')} (job ${dialect.label('job')}) has recognised failures of several tools as one event.${failingTools(dialect, andSelector)}${suspectOfEvents(dialect, andSelector)} ${paused}. Look for what these tools share. A paused session makes no probe: once the cause is repaired, breakerbox ctl list, and breakerbox ctl confirm SESSION.`;
  },
};

const telemetryAbsent: AlertDefinition = {
  ...common,
  name: 'BreakerboxTelemetryAbsent',
  severity: 'warning',
  dashboard: 'breakerbox-fleet-overview',
  says: ({ absentFor, absentLeastReported }) =>
    `an agent has reported nothing for ${inWords(absentFor)}, after it reported for at least ${inWords(absentLeastReported)} of the last hour, and it is not an agent that comes and goes`,
  comment:
    'The first operand remembers the last hour, so that the alert lasts for longer than the agent has to be absent. The second reads the raw series over a range, so that one missed scrape or push does not count as absence. The last operand leaves out agents that come and go, such as a nightly job: since they were first seen, they were absent for most of the time. The first hours do not count, because they are too short to show a habit. `for` gives a restarted Prometheus time to scrape first.',
  expr: ({ read, series, settings, recorded }) => {
    const { gap, absentLeastReported } = settings;
    // Recorded every 15 minutes, of which one may be missing.
    const comesAndGoes = recorded ? `last_over_time(${read.over('comesAndGoes', '30m')})` : read.now('comesAndGoes');
    return [
      `count_over_time(${read.now('sessions')}[1h:1m]) >= ${seconds(absentLeastReported) / 60}`,
      `unless ${aggregated('count', BY_AGENT, `last_over_time(${series(METRIC.sessions)}[${gap}])`)}`,
      `unless ${comesAndGoes}`,
    ].join('\n');
  },
  for: ({ absentFor, gap }) => durationOf(seconds(absentFor) - seconds(gap)),
  began: ({ andSelector }) => {
    const sessions = `${METRIC.sessions.prometheus}{job=%q, ${AGENT}=%q${andSelector}}`;
    return { query: `max(max_over_time(timestamp(${sessions})[1h:1m]))`, args: ['job', 'agent'] };
  },
  summary: ({ dialect }) => `${dialect.label('agent')} has stopped reporting`,
  description: ({ dialect, settings }) =>
    `Agent ${dialect.label('agent')} (job ${dialect.label('job')}) has reported nothing for ${inWords(settings.absentFor)}, after it reported for ${dialect.value('count')} of the last 60 minutes. It has ended, hangs, or cannot be reached. No other alert of this agent has data now. Look at its process, and at its target in Prometheus. On its machine, breakerbox ctl list shows whether it still answers. This alert resolves by itself within an hour, even if nothing was repaired.`,
};

const fleetDegraded: AlertDefinition = {
  ...common,
  name: 'BreakerboxFleetDegraded',
  severity: 'warning',
  dashboard: 'breakerbox-correlated-failures',
  says: ({ degradedFor }) =>
    `a process of the agent has been without the store of its shared circuits for ${inWords(degradedFor)}`,
  comment:
    'Each process counts by itself: the store has answered it at no scrape of that time, it reported before that time, and it still reports, with missed scrapes bridged. So a process that has just started does not count, and neither do several that each lose the store for a moment. Agents without a fleet have no such series.',
  expr: ({ series, settings: { degradedFor, gap } }) => {
    const up = series(METRIC.fleetUp);
    const without = joined(
      'and',
      `max_over_time(${up}[${degradedFor}]) == 0`,
      `last_over_time(${up}[${gap}])`,
      `last_over_time(${up}[${gap}] offset ${degradedFor})`,
    );
    return `${aggregated('count', BY_AGENT, without)} > 0`;
  },
  summary: ({ dialect }) =>
    `${dialect.label('agent')}: ${dialect.counted('process cannot reach the store of its', 'processes cannot reach the store of their')} shared circuits`,
  began: ({ andSelector }) => {
    const of = `{job=%q, ${AGENT}=%q${andSelector}}`;
    const query = `min(${METRIC.fleetReadTime.prometheus}${of} and ${METRIC.fleetUp.prometheus}${of} == 0)`;
    return { query, args: ['job', 'agent', 'job', 'agent'] };
  },
  description: ({ dialect, settings }) =>
    `The store (Redis) has not answered ${dialect.counted('process', 'processes')} of agent ${dialect.label('agent')} (job ${dialect.label('job')}) for ${inWords(settings.degradedFor)}. No call waits for it. Such a process decides by its own circuits: it finds out by its own calls that a tool has failed, and sends its own probes. Actions of operators for the whole fleet do not reach it. Check the store and the way to it. For the reason, on the machine of the agent: breakerbox ctl list.`,
};

/** Alerts about one agent. */
export const AGENT_ALERTS: readonly AlertDefinition[] = [
  burnFast,
  burnSlow,
  budgetExhausted,
  systemicFailure,
  telemetryAbsent,
  fleetDegraded,
];
