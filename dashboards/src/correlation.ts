import { OTHER_TOOL } from '@breakerbox/core';
import { AGENT, AGENT_TOOL } from './circuit-state.ts';
import { ATTR, type AttributeKey, type GroupKey, label, METRIC } from './names.ts';
import { series, type Window, zeroNamed } from './promql.ts';

/**
 * Openings that belong together, from the time of each tool's last opening: that gauge has the error, sees a circuit's first
 * opening ever, and lives through restarts and several instances, which counters don't.
 */

/** What stands in the place of a tool or an agent where nothing opened. */
const NOTHING = 'nothing opened';

/** What opened: a tool of an agent, by the error with which it did. */
export const OPENING = [...AGENT_TOOL, ATTR.errorType] as const;

/** Where an expression is evaluated: at each step, or at the end of what is shown, the same for each step. */
type At = '' | ' @ end()';

const listed = (keys: readonly GroupKey[]): string => keys.map(label).join(', ');

const opened = (by: readonly GroupKey[], gauge: string, window: Window, at: At = ''): string => {
  const latest = `max by (${listed(by)}) (max_over_time(${gauge}[${window}]${at}))`;
  const before = `max by (${listed(by)}) (max_over_time(${gauge}[1h]${at} offset ${window}))`;
  // 0 is an opening that was taken back.
  return `(${latest} > 0 unless ${before} >= ${latest})`;
};

/**
 * The tools that opened in the window: by job, agent, tool and error, the Unix time of the last opening in it. A tool counts
 * once, however many sessions it opened in.
 *
 * Opened means: the gauge shows a later time than in the hour before the window, or wasn't there then. As clocks aren't
 * compared, an agent's clock may be wrong, and a push be late.
 */
export const openedIn = (window: Window, at: At = ''): string => opened(OPENING, series(METRIC.openedTime), window, at);

/**
 * What opens together, with one error: several tools of one agent, or one tool of several agents. As the alert has it, an agent
 * in two jobs is two agents where its tools are counted, and one where agents are.
 */
export type Shared = typeof ATTR.agent | typeof ATTR.tool;

const GROUP = {
  [ATTR.agent]: [...AGENT, ATTR.errorType],
  [ATTR.tool]: [ATTR.tool, ATTR.errorType],
} as const;
const MEMBER = { [ATTR.agent]: OPENING, [ATTR.tool]: [ATTR.agent, ATTR.tool, ATTR.errorType] } as const;

const groupOf = (shared: Shared): string => listed(GROUP[shared]);

/**
 * Panels of {@link togetherBy} and {@link togetherAt} look at so many moments of the range at most, and no more often than the
 * openings of one event may lie apart, which has to be their shortest interval. A panel's shortest interval is for Grafana the
 * scrape interval as well, and so each looks back by one step and another shortest interval: an event that lies across the
 * border of two steps is seen whole by the second one.
 */
export const LOOKS = 60;
/** Seconds between samples that a panel's shortest interval must not fall below, since it takes the place of the data source's. */
const LONGEST_SCRAPE = 60;
export const shortestStep = (seconds: number): string => `${Math.max(seconds, LONGEST_SCRAPE)}s`;

/**
 * Those whose opening lies at most so many seconds before the latest one of the same agent (or tool) with the same error. The
 * alert on correlated openings counts in the same way.
 */
const nearTheLatest = (shared: Shared, seconds: number): string => {
  // What stands for all tools beyond the limit of cardinality is no tool.
  const gauge = series(METRIC.openedTime, {}, '', [`${label(ATTR.tool)}!="${OTHER_TOOL}"`]);
  const members = opened(MEMBER[shared], gauge, '$__rate_interval');
  const group = groupOf(shared);
  return `${members} >= on (${group}) group_left () (max by (${group}) (${members}) - ${seconds})`;
};

const countedBy = (shared: Shared, seconds: number): string =>
  `count by (${groupOf(shared)}) (${nearTheLatest(shared, seconds)})`;

/**
 * The most in the range: what opens alone later doesn't hide that others opened together before. Looked at in steps, and now as
 * well: the last step may be a minute ago, and what has just opened is why somebody looks.
 */
const mostInRange = (expr: string): string => {
  const most = `max_over_time((${expr})[$__range:$__interval])`;
  return `((${expr}) >= ${most} or ${most} or (${expr}))`;
};

/** How many tools of an agent (agents with a tool) opened together, by job and agent (tool) and error. */
export const togetherBy = (shared: Shared, seconds: number): string => mostInRange(countedBy(shared, seconds));

/**
 * The same for a matrix of agents (tools) by error: the `limit` highest, the highest first, and a zero where nothing opened. Of
 * an agent in two jobs it is the higher one.
 */
export const togetherMatrix = (shared: Shared, seconds: number, limit: number): string => {
  const most = `max by (${listed([shared, ATTR.errorType])}) (${togetherBy(shared, seconds)})`;
  const none = `label_replace(${zeroNamed(label(shared), NOTHING)}, "${label(ATTR.errorType)}", "none", "", "")`;
  return `sort_desc(topk(${limit}, ${most}) or on () ${none})`;
};

/** The same figure at each opening in the range that was one of them. */
export const togetherAt = (shared: Shared, seconds: number): string => {
  const near = nearTheLatest(shared, seconds);
  const members = `(${near}) * 0 + on (${groupOf(shared)}) group_left () ${countedBy(shared, seconds)}`;
  return `${openedIn('$__range')} * 0 + on (${listed(MEMBER[shared])}) group_left () ${mostInRange(members)}`;
};

/** Tools that opened in each window, counted by one attribute. */
export const openedBy = (attribute: AttributeKey, window: Window, at: At = ''): string =>
  `count by (${label(attribute)}) (${openedIn(window, at)})`;

/** The label by which {@link inOrderOfOpening} sorts: Prometheus gives series by their labels, and this is the first. */
export const OPENED_AT = 'at';

/**
 * The series of a graph, by job, agent and tool, for the `limit` tools that opened last in what is shown; those that opened first
 * come first. Grafana draws series in the order in which it gets them.
 */
export const inOrderOfOpening = (expr: string, limit: number): string => {
  const by = listed(AGENT_TOOL);
  const lastOpened = `topk(${limit}, max by (${by}) (${openedIn('$__range', ' @ end()')}))`;
  return `(${expr}) * on (${by}) group_left (${OPENED_AT}) count_values by (${by}) ("${OPENED_AT}", ${lastOpened})`;
};

/** Where nothing opened: one zero that says so in the place of the tool. */
export const orNothingOpened = (expr: string): string => `(${expr}) or on () ${zeroNamed(label(ATTR.tool), NOTHING)}`;
