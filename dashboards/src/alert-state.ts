import { ALERTS } from '@breakerbox/alerts';
import { AGENT, AGENT_TOOL } from './circuit-state.ts';
import { UID } from './links.ts';
import { ATTR, type GroupKey, JOB, label, METRIC } from './names.ts';
import { COLOUR } from './palette.ts';
import { series, sumBy } from './promql.ts';
import { RECORDED, type RecordedKey } from './recorded.ts';
import type { StateName } from './state-timeline.ts';
import { orZero, zeroNamed } from './zeros.ts';

/**
 * The alerts of the rules that a Prometheus evaluates itself. These series belong to Prometheus, so they are not in the telemetry contract.
 * `ALERTS` is 1 for each pending or firing alert. `ALERTS_FOR_STATE` is the Unix time since when. Grafana's own alert panel would show
 * alerts of a ruler only if the data source can query one.
 */
export type AlertSeries = 'ALERTS' | 'ALERTS_FOR_STATE';

/** The recorded series that shows that the rules are loaded: it exists as soon as an agent reports. */
export const RULES_LOADED = RECORDED.sessions;

/** Labels of an alert. */
export const ALERT = { name: 'alertname', severity: 'severity', state: 'alertstate' } as const;

/** Alerts about several tools at once. */
export const SHARED_CAUSE = 'BreakerboxSystemicFailure|BreakerboxCorrelatedOpenings';
const ANY = 'Breakerbox.+';

const alertSeries = (
  of: AlertSeries,
  names: string,
  matchers: Readonly<Partial<Record<keyof typeof ALERT, string>>>,
): string =>
  `${of}{${[
    // An alert about one tool of several agents has no agent and no job, and an alert about an agent has no tool. So empty values match too.
    `${JOB}=~"$job|"`,
    `${label(ATTR.agent)}=~"$agent|"`,
    `${label(ATTR.tool)}=~"$tool|"`,
    `${ALERT.name}=~"${names}"`,
    ...Object.entries(matchers).map(([key, value]) => `${ALERT[key as keyof typeof ALERT]}${value}`),
  ].join(', ')}}`;

const FIRING = '="firing"';
const BY = [ALERT.name, ...AGENT_TOOL.map(label)].join(', ');

const rulesLoaded = (): string => `${sumBy([], `${RULES_LOADED}{${JOB}=~"$job"}`)} * 0`;

/** Shown instead of an alert's name if no alert fires. */
const NONE = 'none';
export const NO_RULES = 'no rules here';

/** If there are no alerts: one zero that says so, or says that this Prometheus does not evaluate the rules. */
const orNone = (expr: string): string =>
  `${expr} or on () label_replace(${rulesLoaded()}, "${ALERT.name}", "${NONE}", "", "") or on () ${zeroNamed(ALERT.name, NO_RULES)}`;

/** Labels that only links use: the runbook, the uid of the dashboard that an alert links to, and the values to select there. */
export const LINK = {
  runbook: 'link_runbook',
  dashboard: 'link_dashboard',
  [JOB]: 'link_job',
  [ATTR.agent]: 'link_agent',
  [ATTR.tool]: 'link_tool',
} as const;

/** The URL value for all values of a variable in Grafana. Not `.*`, which Grafana would escape for a variable with several values. */
const ALL = 'All';

/** The list of the runbooks, for the row that says that there is no alert. */
const ALL_RUNBOOKS = 'README';

const withRunbook = (expr: string): string =>
  `label_replace(label_join(${expr}, "${LINK.runbook}", "", "${ALERT.name}"), "${LINK.runbook}", "${ALL_RUNBOOKS}", "${ALERT.name}", "${NONE}|${NO_RULES}")`;

/** Adds labels for links: all values for every label that the alert does not have. */
const linked = (expr: string): string => {
  const chosen = AGENT_TOOL.reduce(
    (built, one) =>
      `label_replace(label_join(${built}, "${LINK[one]}", "", "${label(one)}"), "${LINK[one]}", "${ALL}", "${LINK[one]}", "")`,
    expr,
  );
  const uids = [...new Set(ALERTS.map(({ dashboard }) => dashboard))];
  return uids.reduce(
    (built, uid) =>
      `label_replace(${built}, "${LINK.dashboard}", "${uid}", "${ALERT.name}", "${ALERTS.filter(
        ({ dashboard }) => dashboard === uid,
      )
        .map(({ name }) => name)
        .join('|')}")`,
    `label_replace(${withRunbook(chosen)}, "${LINK.dashboard}", "${UID.fleetOverview}", "", "")`,
  );
};

/** Alerts of several tools or agents say so where they have no name. Links have their own labels. */
const SEVERAL = 'several';
const named = (expr: string): string => {
  const shown = [label(ATTR.agent), label(ATTR.tool)].reduce(
    (built, one) =>
      `label_replace(label_join(${built}, "of", "/", "${ALERT.name}", "${one}"), "${one}", "${SEVERAL}", "of", "(?:${SHARED_CAUSE})/")`,
    expr,
  );
  return `label_replace(${shown}, "of", "", "", "")`;
};

/** The values of {@link firingAlerts}. Over: the alert is only kept, because what it reports has ended. */
export const SEVERITIES: readonly StateName[] = [
  { value: 0, text: '–', colour: 'transparent' },
  { value: 1, text: 'over', colour: COLOUR.grey },
  { value: 2, text: 'warning', colour: COLOUR.orange },
  { value: 3, text: 'critical', colour: COLOUR.vermilion },
];

const listed = (keys: readonly string[]): string => keys.join(', ');
const BY_AGENT = listed(AGENT.map(label));
const BY_TOOL = listed(AGENT_TOOL.map(label));

/** A recorded series as the alerts read it, whatever instance is selected. */
const ofJob = (key: RecordedKey): string => `${RECORDED[key]}{${JOB}=~"$job"}`;

/** What shows that an alert is not only kept: the state that it reports, or another such event within minutes. */
export const LASTING = {
  BreakerboxBudgetExhausted: [
    series(METRIC.sessions, { [ATTR.sessionState]: ['paused_budget'] }),
    `sum_over_time(${ofJob('ranOut')}[5m])`,
  ],
  BreakerboxSystemicFailure: [series(METRIC.systemicActive), `sum_over_time(${ofJob('systemicEvents')}[5m])`],
  BreakerboxLimitReached: [
    series(METRIC.sessions, { [ATTR.sessionState]: ['paused_limit'] }),
    `increase(${series(METRIC.limits, { [ATTR.limitLevel]: ['reached'] })}[5m])`,
  ],
  BreakerboxBudgetBurnFast: [ofJob('burnFast')],
  BreakerboxCircuitOpen: [ofJob('outOfUse')],
  // Of one agent, and of one tool in all jobs.
  BreakerboxCorrelatedOpenings: [ofJob('correlatedToolsHeld'), `${RECORDED.correlatedAgentsHeld}{${JOB}=~"$job|"}`],
} as const;

/** Firing alerts by name, agent and tool that are only kept. */
const over = (): string => {
  const lasting = Object.entries(LASTING).map(
    ([name, signs]) => `label_replace((${signs.join(' or ')}) > 0, "${ALERT.name}", "${name}", "", "")`,
  );
  const kept = alertSeries('ALERTS', Object.keys(LASTING).join('|'), { state: FIRING });
  return `max by (${BY}) (${kept}) unless on (${BY}) (${lasting.join(' or ')})`;
};

const severityOf = (): string => {
  const firing = (severity: string): string =>
    `max by (${BY}) (${alertSeries('ALERTS', ANY, { state: FIRING, severity })})`;
  return `(${over()} or 3 * ${firing('="critical"')} or 2 * ${firing('!="critical"')})`;
};

/** Since when the trouble of each active alert lasts: a tool is unavailable for minutes before an alert says so. */
const since = (): string => {
  const began = `min by (${BY}) (${alertSeries('ALERTS_FOR_STATE', ANY, {})})`;
  return `(${began} * 0 + on (${BY_TOOL}) group_left () min by (${BY_TOOL}) (${ofJob('unavailableSince')}) or ${began})`;
};

/** The most alerts in a table. */
const ALERTS_IN_TABLE = 100;

/** Alerts whose trouble began in the same five minutes are equally new: then the one that affects more comes first. */
const AS_NEW = 300;
/** What a second counts in the order. So a difference of five minutes counts more than any number of affected circuits. */
const SECOND = 1000;

/** How many circuits of the alert's tool or agent are not closed, or how many of the agent's sessions are paused, if that is more. */
const affected = (firing: string): string => {
  const circuits = (by: readonly GroupKey[]): string => sumBy(by, `${ofJob('notClosedByState')}`);
  const paused = sumBy(AGENT, ofJob('paused'));
  const onAgent = `max by (${BY_AGENT}) (${circuits(AGENT)} or label_replace(${paused}, "at", "paused", "", ""))`;
  const of = (by: string, number: string): string => `${firing} * 0 + on (${by}) group_left () ${number}`;
  return [
    of(BY_TOOL, circuits(AGENT_TOOL)),
    of(BY_AGENT, onAgent),
    // Of one tool on several agents.
    of(label(ATTR.tool), circuits([ATTR.tool])),
    `${firing} * 0`,
  ].join(' or ');
};

/**
 * The alerts of the table. Within one severity the newest come first, and of those the widest: Grafana keeps the order of rows with the same
 * value.
 */
const ranked = (): string => {
  const firing = `max by (${BY}) (${alertSeries('ALERTS', ANY, { state: FIRING })})`;
  const newest = `${SECOND} * round(${since()}, ${AS_NEW})`;
  const wide = `clamp_max(${affected(firing)}, ${AS_NEW * SECOND - 1})`;
  return `topk(${ALERTS_IN_TABLE}, 1e13 * ${severityOf()} + ${newest} + ${wide})`;
};

/** Each firing alert by name, agent and tool, with the number of its severity. */
export const firingAlerts = (): string => named(linked(orNone(`floor(1e-13 * ${ranked()})`)));

/**
 * How many seconds the trouble of each such alert lasts, at least one; 0 without a firing alert. Of no other alert, which would be a row
 * without a severity. The table takes the labels of links from {@link firingAlerts}.
 */
export const firingFor = (): string => named(orNone(`clamp_min(time() - ${since()}, 1) and on (${BY}) ${ranked()}`));

/** How many alerts fire that are not only kept. */
export const firingCount = (): string => orZero(`count(${severityOf()} > 1)`);

/** How many alerts of {@link SHARED_CAUSE} fire. One about several agents counts if the tool opened on a selected one. */
export const sharedCauseCount = (): string => {
  const firing = alertSeries('ALERTS', SHARED_CAUSE, { state: FIRING });
  const everywhere = `${label(ATTR.agent)}=""`;
  const opened = `max by (${label(ATTR.tool)}) (${series(METRIC.openedTime)} > 0)`;
  return orZero(
    `count(${firing.replace('}', `, ${label(ATTR.agent)}!=""}`)} or ${firing.replace('}', `, ${everywhere}}`)} and on (${label(ATTR.tool)}) ${opened})`,
  );
};

/** The values of {@link sharedCause}. */
export const ALERT_STATES: readonly StateName[] = [
  { value: 0, text: 'none', colour: COLOUR.grey },
  { value: 1, text: 'pending', colour: COLOUR.orange },
  { value: 2, text: 'firing', colour: COLOUR.vermilion },
];

/**
 * Alerts about several tools at once, over time: those that were active longest. If the time range has none, one band that says so.
 * @param bands the most alerts
 */
export const sharedCause = (bands: number): string => {
  const inState = (state: string): string => `max by (${BY}) (${alertSeries('ALERTS', SHARED_CAUSE, { state })})`;
  const active = `count_over_time(${alertSeries('ALERTS', SHARED_CAUSE, {})}[$__range] @ end())`;
  const longest = `topk(${bands}, sum by (${BY}) (${active}))`;
  const loaded = `sum(last_over_time(${RULES_LOADED}{${JOB}=~"$job"}[$__range] @ end())) * 0`;
  const none = `label_replace(${loaded}, "${ALERT.name}", "${NONE}", "", "") or on () ${zeroNamed(ALERT.name, NO_RULES)}`;
  const states = `2 * ${inState(FIRING)} or ${inState('="pending"')}`;
  return `(${states}) and on (${BY}) ${longest} or (${none}) unless on () count(${active})`;
};

/**
 * For a mark: how many alerts about several tools at once fire, by name. If this Prometheus has no such alerts, it counts active systemic
 * events, so that the mark exists without rules too.
 */
export const sharedCauseMark = (): string => {
  const firing = `count by (${ALERT.name}) (${alertSeries('ALERTS', SHARED_CAUSE, { state: FIRING })})`;
  const active = sumBy([], series(METRIC.systemicActive));
  return `${firing} or on () label_replace(${active}, "${ALERT.name}", "Systemic event", "", "")`;
};
