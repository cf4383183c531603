import { OTHER_TOOL } from '@breakerbox/core';
import { AGENT_TOOL, worstOf } from './circuit-state.ts';
import { ATTR, type AttributeKey, type GroupKey, label, METRIC } from './names.ts';
import { series, type Window } from './promql.ts';
import { either, recorded } from './recorded.ts';
import { zeroNamed } from './zeros.ts';

/**
 * Openings that belong together, from the gauge with the time of each tool's last opening. That gauge has the error, shows a circuit's
 * first opening, and survives restarts and several instances. Counters do not.
 */

/** Shown instead of a tool or an agent if nothing opened. */
const NOTHING = 'nothing opened';

/** One opened tool of an agent, with the error that opened it. */
export const OPENING = [...AGENT_TOOL, ATTR.errorType] as const;

/** Where an expression is evaluated: at each step, or at the end of the time range, with the same result for each step. */
type At = '' | ' @ end()';

const listed = (keys: readonly GroupKey[]): string => keys.map(label).join(', ');

/** What opened in the window, and the Unix time of the last opening in it. `which`: matchers in PromQL. */
type Opened = (by: readonly GroupKey[], window: Window, which?: readonly string[], at?: At) => string;

const openedOfSeries: Opened = (by, window, which = [], at = '') => {
  const gauge = series(METRIC.openedTime, {}, '', which);
  const latest = `max by (${listed(by)}) (max_over_time(${gauge}[${window}]${at}))`;
  const before = `max by (${listed(by)}) (max_over_time(${gauge}[1h]${at} offset ${window}))`;
  // 0 is an opening that was taken back.
  return `(${latest} > 0 unless ${before} >= ${latest})`;
};

/** The rule compares the gauge with the hour before in the same way, once a minute. */
const openedOfRecorded: Opened = (by, window, which = [], at = '') =>
  `max by (${listed(by)}) (max_over_time(${recorded('opened', {}, which)}[${window}]${at}))`;

const fromOpenings = (expr: (opened: Opened) => string): string =>
  either('byAgent', expr(openedOfRecorded), expr(openedOfSeries));

/**
 * The tools that opened in the window: by job, agent, tool and error, the Unix time of the last opening in it. A tool counts
 * once, even if it opened in many sessions.
 *
 * A tool opened if the gauge shows a later time than in the hour before the window, or did not exist then. Clocks are not
 * compared, so an agent's clock may be wrong and a push may be late.
 */
export const openedIn = (window: Window, at: At = ''): string =>
  fromOpenings((opened) => opened(OPENING, window, [], at));

/**
 * Openings that belong together, with one error: several tools of one agent, or one tool of several agents. Like the alert, it counts
 * an agent in two jobs as two agents when it counts tools, and as one when it counts agents.
 */
export type Shared = typeof ATTR.agent | typeof ATTR.tool;

const MEMBER = { [ATTR.agent]: OPENING, [ATTR.tool]: [ATTR.agent, ATTR.tool, ATTR.errorType] } as const;

/** What tells the members of a group apart. */
const memberOf = (shared: Shared): string => label(shared === ATTR.agent ? ATTR.tool : ATTR.agent);

/**
 * The most points that panels of {@link togetherBy} and {@link togetherAt} evaluate. Their shortest interval is the longest time between
 * the openings of one event. Grafana also uses a panel's shortest interval as the scrape interval. So each point looks back by one
 * step and one more shortest interval: if an event crosses the border of two steps, the second one sees all of it.
 */
export const LOOKS = 60;
/** The lower limit of a panel's shortest interval, in seconds between samples, because it replaces the interval of the data source. */
const LONGEST_SCRAPE = 60;
export const shortestStep = (seconds: number): string => `${Math.max(seconds, LONGEST_SCRAPE)}s`;

/**
 * The openings that are at most this many seconds before the latest one of the same agent (or tool) with the same error. The alert on
 * correlated openings counts in the same way.
 */
const nearTheLatest = (opened: Opened, shared: Shared, seconds: number): string => {
  // The series that collects all tools beyond the limit of labels is not a tool.
  const members = opened(MEMBER[shared], '$__rate_interval', [`${label(ATTR.tool)}!="${OTHER_TOOL}"`]);
  const member = memberOf(shared);
  return `${members} >= ignoring (${member}) group_left () (max without (${member}) (${members}) - ${seconds})`;
};

const countedBy = (opened: Opened, shared: Shared, seconds: number): string =>
  `count without (${memberOf(shared)}) (${nearTheLatest(opened, shared, seconds)})`;

/**
 * The highest value in the time range, so that a later single opening does not hide an event. The steps of a subquery are at fixed times, so
 * the last one may be a minute ago, and the newest opening matters most. Evaluated one step late, the last step is never before now. It
 * also sees all of an event that the steps before it see only a part of. A second expression for now would double the length of the
 * query, and proxies and VictoriaMetrics reject long ones.
 */
const mostInRange = (expr: string): string => `max_over_time((${expr})[$__range:$__interval] offset -$__interval)`;

/** How many tools of an agent (agents with a tool) opened together, by job, agent (tool) and error. */
export const togetherBy = (shared: Shared, seconds: number): string =>
  fromOpenings((opened) => mostInRange(countedBy(opened, shared, seconds)));

/**
 * The same for a matrix of agents (tools) by error: the `limit` highest values, sorted, and a zero if nothing opened. For an agent in two
 * jobs, the higher value.
 */
export const togetherMatrix = (shared: Shared, seconds: number, limit: number): string => {
  const most = `max by (${listed([shared, ATTR.errorType])}) (${togetherBy(shared, seconds)})`;
  const none = `label_replace(${zeroNamed(label(shared), NOTHING)}, "${label(ATTR.errorType)}", "none", "", "")`;
  return `sort_desc(topk(${limit}, ${most}) or on () ${none})`;
};

/** The same number at each of the `limit` last openings in the time range, if it counted for it. */
export const togetherAt = (shared: Shared, seconds: number, limit: number): string =>
  fromOpenings((opened) => {
    const near = nearTheLatest(opened, shared, seconds);
    const members = `(${near}) * 0 + ignoring (${memberOf(shared)}) group_left () ${countedBy(opened, shared, seconds)}`;
    const last = `topk(${limit}, ${opened(OPENING, '$__range')})`;
    return `${last} * 0 + on (${listed(MEMBER[shared])}) group_left () ${mostInRange(members)}`;
  });

/** Tools that opened in each window, counted by one attribute. */
export const openedBy = (attribute: AttributeKey, window: Window, at: At = ''): string =>
  `count by (${label(attribute)}) (${openedIn(window, at)})`;

/** The label that {@link inOrderOfOpening} sorts by. Prometheus sorts series by their labels, and this label comes first. */
export const OPENED_AT = 'at';

/**
 * The series of a graph, by job, agent and tool, for the `limit` tools that opened last in the time range. The tools that opened first
 * come first, because Grafana draws series in the order in which it receives them.
 */
export const inOrderOfOpening = (limit: number): string => {
  const by = listed(AGENT_TOOL);
  const lastOpened = `topk(${limit}, max by (${by}) (${openedIn('$__range', ' @ end()')}))`;
  return `(${worstOf(lastOpened)}) * on (${by}) group_left (${OPENED_AT}) count_values by (${by}) ("${OPENED_AT}", ${lastOpened})`;
};

/** If nothing opened: one zero with a label that says so. In a table, of a column without links. */
export const orNothingOpened = (expr: string, says: AttributeKey = ATTR.tool): string =>
  `(${expr}) or on () ${zeroNamed(label(says), NOTHING)}`;
