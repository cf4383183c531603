import { ATTR, JOB, label, METRIC } from './names.ts';
import { COLOUR } from './palette.ts';
import { orZero, series, sumBy, zeroNamed } from './promql.ts';
import type { StateName } from './state-timeline.ts';

/**
 * What alerts a Prometheus has of the rules that it evaluates itself. These series are Prometheus' own, and so no names of
 * the telemetry contract: `ALERTS` is 1 for each alert that is pending or firing, `ALERTS_FOR_STATE` is since when, in Unix
 * time. A panel of Grafana's own for alerts would show those of a ruler only where the data source has one to ask.
 */
export type AlertSeries = 'ALERTS' | 'ALERTS_FOR_STATE';

/** The recorded series by which one sees that the rules are loaded: it is there as soon as an agent has circuits. */
export const RULES_LOADED = 'job_agent_tool:breakerbox_circuits_not_closed:sum';

/** Labels of an alert. */
export const ALERT = { name: 'alertname', severity: 'severity', state: 'alertstate' } as const;

/** Alerts of several tools at once. */
export const SHARED_CAUSE = 'BreakerboxSystemicFailure|BreakerboxCorrelatedOpenings';
const ANY = 'Breakerbox.+';

const alertSeries = (
  of: AlertSeries,
  names: string,
  matchers: Readonly<Partial<Record<keyof typeof ALERT, string>>>,
): string =>
  `${of}{${[
    // An alert about one tool of several agents has no agent and no job, one about an agent no tool: hence the empty ones.
    `${JOB}=~"$job|"`,
    `${label(ATTR.agent)}=~"$agent|"`,
    `${label(ATTR.tool)}=~"$tool|"`,
    `${ALERT.name}=~"${names}"`,
    ...Object.entries(matchers).map(([key, value]) => `${ALERT[key as keyof typeof ALERT]}${value}`),
  ].join(', ')}}`;

const FIRING = '="firing"';
const BY = [ALERT.name, label(ATTR.agent), label(ATTR.tool)].join(', ');

const rulesLoaded = (): string => `${sumBy([], `${RULES_LOADED}{${JOB}=~"$job"}`)} * 0`;

/** What stands in the place of an alert's name where there is none. */
const NONE = 'none';
export const NO_RULES = 'no rules here';

/** Where there are no alerts: one zero that says so, or that nothing here evaluates the rules. */
const orNone = (expr: string): string =>
  `${expr} or on () label_replace(${rulesLoaded()}, "${ALERT.name}", "${NONE}", "", "") or on () ${zeroNamed(ALERT.name, NO_RULES)}`;

/** The numbers of {@link firingAlerts}. */
export const SEVERITIES: readonly StateName[] = [
  { value: 0, text: '–', colour: 'transparent' },
  { value: 1, text: 'warning', colour: COLOUR.orange },
  { value: 2, text: 'critical', colour: COLOUR.vermilion },
];

/** Each alert that fires by name, agent and tool, with the number of its severity. */
export const firingAlerts = (): string => {
  const firing = (severity: string): string =>
    `max by (${BY}) (${alertSeries('ALERTS', ANY, { state: FIRING, severity })})`;
  return orNone(`2 * ${firing('="critical"')} or ${firing('!="critical"')}`);
};

/** For how many seconds the reason of each alert that fires has been there; 0 where there is none. */
export const firingFor = (): string => {
  const since = alertSeries('ALERTS_FOR_STATE', ANY, {});
  const firing = alertSeries('ALERTS', ANY, { state: FIRING });
  return orNone(`time() - min by (${BY}) (${since} and ignoring (${ALERT.state}) ${firing})`);
};

/** How many alerts of {@link SHARED_CAUSE} fire. */
export const sharedCauseCount = (): string =>
  orZero(`count(${alertSeries('ALERTS', SHARED_CAUSE, { state: FIRING })})`);

/** The numbers of {@link sharedCause}. */
export const ALERT_STATES: readonly StateName[] = [
  { value: 0, text: 'none', colour: COLOUR.grey },
  { value: 1, text: 'pending', colour: COLOUR.orange },
  { value: 2, text: 'firing', colour: COLOUR.vermilion },
];

/** Alerts of several tools at once, over time. */
export const sharedCause = (): string => {
  const inState = (state: string): string => `max by (${BY}) (${alertSeries('ALERTS', SHARED_CAUSE, { state })})`;
  return orNone(`2 * ${inState(FIRING)} or ${inState('="pending"')}`);
};

/**
 * For a mark: how many alerts of several tools at once fire, by name. Where this Prometheus has none of them, the sessions
 * that are paused as systemic stand in, so that the mark is there without rules, too.
 */
export const sharedCauseMark = (): string => {
  const firing = `count by (${ALERT.name}) (${alertSeries('ALERTS', SHARED_CAUSE, { state: FIRING })})`;
  const paused = sumBy([], series(METRIC.sessions, { [ATTR.sessionState]: ['paused_systemic'] }));
  return `${firing} or on () label_replace(${paused}, "${ALERT.name}", "Sessions paused as systemic", "", "")`;
};
