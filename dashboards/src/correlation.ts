import { ATTR, type AttributeKey, label, METRIC } from './names.ts';
import { highest, series, type Window, zeroNamed } from './promql.ts';

/**
 * Openings that belong together, from the time of each tool's last opening: that gauge has the error, sees a circuit's first
 * opening ever, and lives through restarts and several instances, which counters don't.
 */

/** What stands in the place of a tool or an agent where nothing opened. */
const NOTHING = 'nothing opened';

const CIRCUIT = [ATTR.agent, ATTR.tool, ATTR.errorType].map(label).join(', ');

/** Where an expression is evaluated: at each step, or at the end of what is shown, the same for each step. */
type At = '' | ' @ end()';

/**
 * The tools that opened in the window: by agent, tool and error, the Unix time of the last opening in it. A tool counts
 * once, however many sessions it opened in.
 *
 * Opened means: the gauge shows a later time than in the hour before the window, or wasn't there then. As clocks aren't
 * compared, an agent's clock may be wrong, and a push be late.
 */
export const openedIn = (window: Window, at: At = ''): string => {
  const gauge = series(METRIC.openedTime);
  const latest = `max by (${CIRCUIT}) (max_over_time(${gauge}[${window}]${at}))`;
  const before = `max by (${CIRCUIT}) (max_over_time(${gauge}[1h]${at} offset ${window}))`;
  return `(${latest} > ${before} or ${latest} unless ${before})`;
};

/** What opens together: several tools of one agent, or one tool of several agents, with one error. */
export type Shared = typeof ATTR.agent | typeof ATTR.tool;

const groupOf = (shared: Shared): string => [shared, ATTR.errorType].map(label).join(', ');

/**
 * Of what opened in the last five minutes: those whose opening lies at most so many seconds before the latest one of the same
 * agent (or tool) with the same error. The alert on correlated openings counts in the same way.
 */
const nearTheLatest = (shared: Shared, seconds: number): string => {
  const opened = openedIn('5m');
  const group = groupOf(shared);
  return `${opened} >= on (${group}) group_left () (max by (${group}) (${opened}) - ${seconds})`;
};

const countedBy = (shared: Shared, seconds: number): string =>
  `count by (${groupOf(shared)}) (${nearTheLatest(shared, seconds)})`;

/** The most in the range, looked at each minute: what opens alone later doesn't hide that others opened together before. */
const mostInRange = (expr: string): string => `max_over_time((${expr})[$__range:1m])`;

/** How many tools of an agent (agents with a tool) opened together, by agent (tool) and error. */
export const togetherBy = (shared: Shared, seconds: number): string => mostInRange(countedBy(shared, seconds));

/** The same for a matrix: the highest first, at most `limit` agents (tools), and a zero where nothing opened. */
export const togetherMatrix = (shared: Shared, seconds: number, limit: number): string => {
  const figure = togetherBy(shared, seconds);
  const most = highest(figure, limit, [shared], `max by (${label(shared)}) (${figure})`);
  const none = `label_replace(${zeroNamed(label(shared), NOTHING)}, "${label(ATTR.errorType)}", "none", "", "")`;
  return `sort_desc(${most} or on () ${none})`;
};

/** The same figure at each tool that was one of them. */
export const togetherAt = (shared: Shared, seconds: number): string =>
  mostInRange(
    `(${nearTheLatest(shared, seconds)}) * 0 + on (${groupOf(shared)}) group_left () ${countedBy(shared, seconds)}`,
  );

/** Tools that opened in each window, counted by one attribute. */
export const openedBy = (attribute: AttributeKey, window: Window, at: At = ''): string =>
  `count by (${label(attribute)}) (${openedIn(window, at)})`;

/** The label by which {@link inOrderOfOpening} sorts: Prometheus gives series by their labels, and this is the first. */
export const OPENED_AT = 'at';

/**
 * The series of a graph, by agent and tool, for the `limit` tools that opened last in what is shown; those that opened first
 * come first. Grafana draws series in the order in which it gets them.
 */
export const inOrderOfOpening = (expr: string, limit: number): string => {
  const by = [ATTR.agent, ATTR.tool].map(label).join(', ');
  const lastOpened = `topk(${limit}, max by (${by}) (${openedIn('$__range', ' @ end()')}))`;
  return `(${expr}) * on (${by}) group_left (${OPENED_AT}) count_values by (${by}) ("${OPENED_AT}", ${lastOpened})`;
};

/** Where nothing opened: one zero that says so in the place of the tool. */
export const orNothingOpened = (expr: string): string => `(${expr}) or on () ${zeroNamed(label(ATTR.tool), NOTHING)}`;
