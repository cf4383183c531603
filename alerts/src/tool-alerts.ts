import { GROUP_PREFIX } from '@breakerbox/core';
import { type AlertDefinition, LOOK, SWITCH_OFF, type TextGround } from './alert.ts';
import { toolTroubleSince, unavailableSince } from './began.ts';
import { ofAll } from './dialect.ts';
import { durationOf, inWords, seconds } from './duration.ts';
import { failingWith, failuresOfKeys } from './failing.ts';
import { gained } from './gained.ts';
import {
  AGENT,
  ATTR,
  aggregated,
  BY_AGENT,
  BY_TOOL,
  bracketed,
  ERROR,
  indented,
  joined,
  label,
  type Matchers,
  METRIC,
  MODELS,
  matching,
  NOT_CLOSED,
  TOOL,
} from './promql.ts';
import type { Ground } from './record.ts';
import { asSeconds } from './recording-correlation.ts';
import { WINDOW } from './settings.ts';

const SUBJECT = ({ dialect: { label } }: TextGround): string =>
  `${label('tool')} of agent ${label('agent')} (job ${label('job')})`;

/** A title: `research-agent: web_search is out of use (network)`. */
const title =
  (problem: string) =>
  ({ dialect, andSelector }: TextGround): string =>
    `${dialect.label('agent')}: ${dialect.label('tool')} ${problem}${failingWith(dialect, andSelector)}`;

const OF_TOOL = ['job', 'agent', 'tool'] as const;
const MATCH_TOOL = `job=%q, ${AGENT}=%q, ${TOOL}=%q`;

const NOT_CLOSED_STATE = `${label(ATTR.state)}=~"${NOT_CLOSED.join('|')}"`;

const common = {
  severity: 'warning',
  dashboard: 'breakerbox-tool-detail',
  labels: ['job', 'agent', 'tool'],
} as const;

/** BreakerboxCircuitOpen fires for the tool, or did so recently, and the windows of other alerts still contain the outage. */
const spokenOf = ({ read, settings: { afterOpen } }: Ground): string =>
  `max_over_time(${read.over('outOfUseAllAlong', afterOpen)})`;

/** The same for the tool's group. No label names the group, but decisions skipped or probed calls of the tool for it. */
const groupSpokenOf = (ground: Ground): string => {
  const { series, settings, recorded } = ground;
  const forGroup = series(METRIC.decisions, { [ATTR.reason]: ['group_open', 'group_probe_due'] });
  const decided = `${gained(ground, forGroup, BY_TOOL, settings.afterOpen)} > 0`;
  const groups = `${TOOL}=~"${GROUP_PREFIX}.+"`;
  if (!recorded) {
    const open = aggregated('sum', BY_AGENT, series(METRIC.circuits, { [ATTR.state]: NOT_CLOSED }, groups));
    const allAlong = `min_over_time((${open})[${settings.openFor}:15s]) > 0`;
    return `${decided}\nand on (${BY_AGENT}) max_over_time((${allAlong})[${settings.afterOpen}:1m])`;
  }
  const group = series(METRIC.circuits, {}, groups);
  return [decided, `and on (${BY_AGENT}) (`, indented(`${spokenOf(ground)}\nand on (${BY_TOOL}) ${group}`), ')'].join(
    '\n',
  );
};

/** Silent in that case, and while BreakerboxCircuitOpen is about to fire, so that no other alert fires before it. */
const unlessOpen = (ground: Ground): string =>
  `unless ${bracketed(joined('or', `${ground.read.now('outOfUse')} > 0`, spokenOf(ground), groupSpokenOf(ground)))}`;

const circuitOpen: AlertDefinition = {
  ...common,
  name: 'BreakerboxCircuitOpen',
  says: ({ openFor, openShare, keyOpenShare }) =>
    `a tool has been out of use (open or half open, neither forced open by an operator nor in a wait that its service asked for) for ${inWords(openFor)}, short gaps aside, in at least ${openShare * 100} % of its circuits, or at least ${keyOpenShare * 100} % of its calls are skipped for their keys`,
  comment:
    'The comment above the recorded series defines out of use and the gaps that are bridged. This rule requires that it has lasted. The alert keeps firing, because otherwise a tool that works for a minute between two outages would cause a new alert each time.',
  expr: ({ read }) => `${read.now('outOfUse')} > 0`,
  for: ({ openFor }) => openFor,
  keepFiringFor: ({ openKeep }) => openKeep,
  summary: ({ dialect, andSelector }) => {
    const of = `${MATCH_TOOL}${andSelector}`;
    const ofKeys = failuresOfKeys(andSelector);
    const opened = `${METRIC.openedTime.prometheus}{${of}} > 0`;
    const isOpen = `sum by (${BY_TOOL}) (${METRIC.circuits.prometheus}{${of}, ${NOT_CLOSED_STATE}}) > 0`;
    // The circuit of the tool itself may have opened long before those of its keys, and have closed since. Between two sessions none is open.
    const found = (by: string, whole: (query: string) => string, keys: string): string => {
      const all = `max by (${by}) (${whole(opened)})`;
      const on = by === ERROR ? 'on ()' : `on (${BY_TOOL})`;
      return `(max by (${by}) (${whole(`${opened} and on (${BY_TOOL}) ${isOpen}`)}) or ${on} ${keys} or ${on} ${all})`;
    };
    const openedBy = dialect.query({
      before: ' (',
      ofAll: { by: BY_TOOL, query: found(`${BY_TOOL}, ${ERROR}`, ofAll, ofKeys.ofAll.query), isOne: true },
      query: `topk(1, ${found(ERROR, (query) => query, ofKeys.query)})`,
      args: [...OF_TOOL, ...OF_TOOL, ...ofKeys.args, ...OF_TOOL],
      list: 'error',
      after: ')',
    });
    return `${dialect.label('agent')}: ${dialect.label('tool')} is out of use${openedBy}`;
  },
  began: unavailableSince,
  description: (ground) => {
    const { dialect, andSelector, settings } = ground;
    const of = `${MATCH_TOOL}${andSelector}`;
    const keys = `${METRIC.circuits.prometheus}{${of}, ${NOT_CLOSED_STATE}}`;
    const kept = durationOf(seconds(settings.openKeep) + seconds(settings.gap));
    const circuits = dialect.count({
      query: `sum(${keys}) > 0`,
      args: OF_TOOL,
      // Grafana writes the text also while the alert is only kept.
      ofAll: { by: BY_TOOL, query: `sum by (${BY_TOOL}) (max_over_time(${ofAll(keys)}[${kept}])) > 0` },
      one: '1 circuit',
      many: '%.0f circuits',
      none: 'circuits of its keys, such as hosts',
    });
    const wait = dialect.time(
      ' The service asked to wait until ',
      { query: `max(${METRIC.retryAfterTime.prometheus}{${of}}) > time()`, args: OF_TOOL },
      ' (Retry-After), so no probe is made before that.',
    );
    const skipped = dialect.ofGroup('Calls of all tools of the group are skipped.', 'Its calls are skipped.');
    return `${dialect.label('tool')} of agent ${dialect.label('agent')} (job ${dialect.label('job')}) has been out of use for more than ${inWords(settings.openFor)}. Affected within the last ${inWords(settings.openKeep)}: ${circuits}. ${skipped}${wait} Check the service behind it. A probe closes the circuit once it works. ${LOOK}`;
  },
};

const circuitFlapping: AlertDefinition = {
  ...common,
  every: '1m',
  name: 'BreakerboxCircuitFlapping',
  says: ({ flappingOpenings }) =>
    `the circuits of a tool opened at least ${flappingOpenings} times each on average within 15 minutes, and none stayed open for long`,
  comment:
    'The circuit opens, closes, and opens again. Or the tool is down, and sessions are so short that its circuit is open for less than half of the time, which BreakerboxCircuitOpen does not see. Silent while that alert fires or is about to fire.',
  expr: (ground) =>
    `${ground.read.now('openingsPerCircuit')} >= ${ground.settings.flappingOpenings}\n${unlessOpen(ground)}`,
  keepFiringFor: ({ flappingKeep }) => flappingKeep,
  began: () => toolTroubleSince('circuits', 'openingsPerCircuit'),
  summary: title('opens again and again'),
  description: (ground) =>
    `Circuits of tool ${SUBJECT(ground)} have opened ${ground.dialect.value('count')} times each on average within 15 minutes. Either the tool fails and recovers again and again, or it is down and the circuit of each new session opens again. ${LOOK}`,
};

/** Open circuits. Few of them have a recorded series, and all have one of their own. */
const openOf = ({ series, read, recorded }: Ground): string => {
  const open = { [ATTR.state]: ['open'] } satisfies Matchers;
  return recorded ? `${read.now('notClosedByState')}${matching(open)}` : series(METRIC.circuits, open);
};

/** Half of the time between two evaluations of the recorded decisions: on average, the range then covers the window. */
const HALF_BETWEEN = 60;

/** Decisions in a window: the most in any 5 minutes of it, if they are recorded for as long. */
const decided = ({ series, read, recorded }: Ground, which: Matchers, window: string): string => {
  const recent = seconds(window) - seconds(WINDOW.short);
  if (!recorded || recent < 0)
    return aggregated('sum', BY_TOOL, `increase(${series(METRIC.decisions, which)}[${window}])`);
  const decisions = `${read.now('decisions5m')}${matching(which)}`;
  return aggregated(
    'sum',
    BY_TOOL,
    recent === 0 ? decisions : `max_over_time(${decisions}[${durationOf(recent + HALF_BETWEEN)}])`,
  );
};

const probeStarved: AlertDefinition = {
  ...common,
  every: '1m',
  name: 'BreakerboxProbeStarved',
  says: ({ starvedFor }) =>
    `a circuit has been open for ${inWords(starvedFor)}, calls are skipped, and no probe was made`,
  comment:
    'The circuit must be open now and at the beginning, with no opening in between. Then it was open all the time, regardless of other sessions. Only skips in the latter half count, because by then the longest wait (300 s) is over and the next call should have been a probe. Several skips are required, because probes can be due by steps. forced_open does not count, because it is meant to stop probes. A wait that the service asked for (Retry-After) does not count either, nor the first minutes after it.',
  expr: (ground) => {
    const { series, settings } = ground;
    const { gap, starvedFor, starvedLeastSkips } = settings;
    const openings = series(METRIC.transitions, { [ATTR.stateTo]: ['open'] });
    const open = `${openOf(ground)}[${gap}]`;
    return [
      `${aggregated('sum', BY_TOOL, `last_over_time(${open})`)} > 0`,
      `and ${aggregated('sum', BY_TOOL, `last_over_time(${open} offset ${starvedFor})`)} > 0`,
      `and round(${decided(ground, { [ATTR.decision]: ['skip'], [ATTR.reason]: ['open'] }, durationOf(seconds(starvedFor) / 2))}) >= ${starvedLeastSkips}`,
      `unless ${decided(ground, { [ATTR.decision]: ['probe'] }, starvedFor)} > 0`,
      `unless ${aggregated('sum', BY_TOOL, `increase(${openings}[${starvedFor}])`)} > 0`,
      // The next call after the wait should be a probe.
      `unless ${aggregated('max', BY_TOOL, `last_over_time(${series(METRIC.retryAfterTime)}[${gap}])`)} > time() - ${asSeconds(durationOf(seconds(starvedFor) / 2))}`,
    ].join('\n');
  },
  summary: title('is open and not probed'),
  // Few circuits are no outage of the tool.
  began: ({ andSelector }) => ({
    query: `min(${METRIC.unavailableTime.prometheus}{${MATCH_TOOL}${andSelector}} > 0)`,
    args: OF_TOOL,
  }),
  description: (ground) =>
    `Tool ${SUBJECT(ground)}: ${ground.dialect.counted('circuit has', 'circuits have')} been open for ${inWords(ground.settings.starvedFor)}. The agent asks for the tool, but its calls are skipped and none runs as a probe. The service did not ask for this wait. Without a probe, Breakerbox cannot see that the tool works again. ${LOOK}`,
};

const toolErrorRateHigh: AlertDefinition = {
  ...common,
  every: '1m',
  name: 'BreakerboxToolErrorRateHigh',
  says: ({ errorRatio, errorLeastCalls, errorLeastFailures }) =>
    `more than ${errorRatio * 100} % of a tool’s executed calls have failed, over 5 minutes and over 1 hour (at least ${errorLeastCalls} calls and ${errorLeastFailures} failures), and neither BreakerboxCircuitOpen nor BreakerboxCircuitFlapping fires for it`,
  comment:
    'The hour says that it matters, the 5 minutes that it continues. Silent while BreakerboxCircuitOpen or BreakerboxCircuitFlapping fires for the tool, and until an outage has left the windows, because otherwise it would fire after the outage. This alert also covers a tool that is out of use again and again, but never for long enough. So `for` is longer than that of BreakerboxCircuitOpen, which fires first for a tool that stays out of use.',
  expr: (ground) => {
    const { read, settings } = ground;
    return [
      `round(${read.now('errorRatio5m')}, 0.01) > ${settings.errorRatio}`,
      `and ${read.now('errorRatio1h')} > ${settings.errorRatio}`,
      `and round(${read.now('executions1h')}) >= ${settings.errorLeastCalls}`,
      `and round(${read.now('failures5m')}) >= ${settings.errorLeastFailures}`,
      `unless ${bracketed(joined('or', spokenOf(ground), groupSpokenOf(ground)))}`,
      `unless ${read.now('openingsPerCircuit')} >= ${settings.flappingOpenings}`,
    ].join('\n');
  },
  for: ({ errorFor }) => errorFor,
  began: ({ settings }) => toolTroubleSince('executions5m', 'errorRatio5m', ` > ${settings.errorRatio}`),
  summary: title('fails too often'),
  description: (ground) =>
    `${ground.dialect.value('percentage')} of the calls to tool ${SUBJECT(ground)} have failed over the last 5 minutes, and more than ${ground.settings.errorRatio * 100} % over the last hour. Too few fail in a row to keep a circuit open, so the agent continues, and each failure costs it time and budget. Check the service behind it. ${SWITCH_OFF}`,
};

const toolSlow: AlertDefinition = {
  ...common,
  every: '1m',
  name: 'BreakerboxToolSlow',
  says: ({ slowFactor, slowFloor, slowLeastCalls, slowFor, slowLeastHistory }) =>
    `the p95 of a tool has been above ${slowFactor} times its usual value of the last week and above ${slowFloor} s for ${inWords(slowFor)}, with at least ${slowLeastCalls} calls in 15 minutes and ${inWords(slowLeastHistory)} of history`,
  comment:
    'Compared with the tool’s own week, because slow for a calculator is fast for a search. The 15 minutes say how slow, the 5 minutes that it continues. Without them, a few slow minutes would stay in the window for as long as `for`. The histogram ends at 81.92 s, so a tool that usually takes more than a third of that cannot become three times slower.',
  expr: (ground) => `${ground.read.now('slow')}\n${unlessOpen(ground)}`,
  for: ({ slowFor }) => slowFor,
  began: () => toolTroubleSince('p95', 'slow'),
  summary: ({ dialect }) => `${dialect.label('agent')}: ${dialect.label('tool')} is much slower than usual`,
  description: (ground) =>
    `The p95 of the calls to tool ${SUBJECT(ground)} is ${ground.dialect.value('duration')} over 15 minutes: one call in twenty takes longer. That is more than ${ground.settings.slowFactor} times its usual p95 of the last week. Check the service behind it. ${SWITCH_OFF}`,
};

/** Models, also for as long as other alerts still see those of a process that ended. */
const models = ({ series, read, recorded }: Ground): string => {
  const circuits = recorded
    ? `${read.now('circuits')}{${MODELS}}`
    : series(METRIC.circuits, { [ATTR.state]: ['closed'] }, MODELS);
  return `last_over_time(${circuits}[${WINDOW.hour}])`;
};

/** L7: models have alerts of their own. */
const ofTools = (alert: AlertDefinition): AlertDefinition => ({
  ...alert,
  expr: (ground) => `${alert.expr(ground)}\nunless on (${BY_TOOL}) ${models(ground)}`,
});

/** Alerts about one tool of one agent. */
export const TOOL_ALERTS: readonly AlertDefinition[] = [
  circuitOpen,
  circuitFlapping,
  probeStarved,
  toolErrorRateHigh,
  toolSlow,
].map(ofTools);
