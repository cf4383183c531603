import { GROUP_PREFIX } from '@breakerbox/core';
import type { AlertDefinition, TextGround } from './alert.ts';
import { durationOf, inWords, seconds } from './duration.ts';
import { ATTR, aggregated, BY_AGENT, BY_TOOL, bracketed, ERROR, indented, joined, METRIC, TOOL } from './promql.ts';
import type { Ground } from './record.ts';
import { WINDOW } from './settings.ts';

const SUBJECT = ({ dialect: { label } }: TextGround): string =>
  `${label('tool')} of agent ${label('agent')} (job ${label('job')})`;

const common = {
  severity: 'warning',
  dashboard: 'breakerbox-tool-detail',
  labels: ['job', 'agent', 'tool'],
} as const;

/** BreakerboxCircuitOpen speaks of the tool, or has done so, and the windows of others still hold the outage. */
const spokenOf = ({ read, settings: { afterOpen } }: Ground): string =>
  `max_over_time(${read.over('outOfUseAllAlong', afterOpen)}) > 0`;

/** The same of the circuit of the tool's group: no label says which that is, but its calls were skipped, or probes, for the group. */
const groupSpokenOf = (ground: Ground): string => {
  const { series, settings } = ground;
  const forGroup = series(METRIC.decisions, { [ATTR.reason]: ['group_open', 'group_probe_due'] });
  const group = series(METRIC.circuits, {}, `${TOOL}=~"${GROUP_PREFIX}.+"`);
  return [
    `${aggregated('sum', BY_TOOL, `increase(${forGroup}[${settings.afterOpen}])`)} > 0`,
    `and on (${BY_AGENT}) (`,
    indented(`${spokenOf(ground)}\nand on (${BY_TOOL}) ${group}`),
    ')',
  ].join('\n');
};

/** Silent there, and where BreakerboxCircuitOpen is about to speak: nothing else fires before it. */
const unlessOpen = (ground: Ground): string =>
  `unless ${bracketed(joined('or', `${ground.read.now('outOfUse')} > 0`, spokenOf(ground), groupSpokenOf(ground)))}`;

const circuitOpen: AlertDefinition = {
  ...common,
  name: 'BreakerboxCircuitOpen',
  says: ({ openFor, openShare, keyOpenShare }) =>
    `a tool has been out of use (open, half open or forced open) for ${inWords(openFor)}, short holes aside, in ${openShare * 100} % of its circuits or more, or ${keyOpenShare * 100} % of its calls are skipped for their keys`,
  comment:
    'What out of use means, and what of it is bridged, stands above the recorded series. Here it must have lasted. Kept firing, for a tool that works for a minute between two outages would be an alert of its own each time.',
  expr: ({ read }) => `${read.now('outOfUse')} > 0`,
  for: ({ openFor }) => openFor,
  keepFiringFor: ({ openKeep }) => openKeep,
  summary: ({ settings, dialect }) =>
    `Tools of agent ${dialect.label('agent')} have been out of use for ${inWords(settings.openFor)}, short gaps aside`,
  description: (ground) => {
    const { dialect, andSelector, settings } = ground;
    const of = `job=%q, gen_ai_agent_name=%q, gen_ai_tool_name=%q${andSelector}`;
    const openedBy = dialect.query({
      before: '; last opened by errors of category',
      // What somebody took out by hand was opened by nothing.
      query: `topk(1, max by (${ERROR}) (${METRIC.openedTime.prometheus}{${of}} > 0)) and on () (sum(${METRIC.circuits.prometheus}{${of}, breakerbox_state=~"open|half_open"}) > 0)`,
      args: ['job', 'agent', 'tool', 'job', 'agent', 'tool'],
      list: 'error',
      after: '',
    });
    return `${dialect.value('count')} circuit(s) of tool ${SUBJECT(ground)} are open, probing without success, or taken out by hand, or were so within the last ${inWords(settings.openKeep)}${openedBy}. Calls to it are skipped meanwhile. A name that begins with ${GROUP_PREFIX} is the circuit of a group: calls of all of its tools are skipped. If no circuit of the tool is open, calls are skipped for their keys, such as hosts.`;
  },
};

const circuitFlapping: AlertDefinition = {
  ...common,
  name: 'BreakerboxCircuitFlapping',
  says: ({ flappingOpenings }) =>
    `the circuits of a tool have opened ${flappingOpenings} times each within 15 minutes, without being out of use for long`,
  comment:
    'It opens, closes, and opens again. Or the tool is dead, and used only in sessions so short that its circuit is open for less than half of the time, which BreakerboxCircuitOpen doesn’t see. Where that one fires or is about to, this one is silent.',
  expr: (ground) =>
    `${ground.read.now('openingsPerCircuit')} >= ${ground.settings.flappingOpenings}\n${unlessOpen(ground)}`,
  keepFiringFor: ({ flappingKeep }) => flappingKeep,
  summary: ({ dialect }) => `Circuits of agent ${dialect.label('agent')} open again and again`,
  description: (ground) =>
    `Each circuit of tool ${SUBJECT(ground)} has opened ${ground.dialect.value('count')} times within 15 minutes. Either the tool fails and recovers by turns, or it is dead and every new session finds that out for itself.`,
};

const probeStarved: AlertDefinition = {
  ...common,
  name: 'BreakerboxProbeStarved',
  says: ({ starvedFor }) =>
    `a circuit has been open for ${inWords(starvedFor)}, calls are skipped, and not one probe has been made`,
  comment:
    'The circuit must be open now and have been so at the beginning, with no opening in between: then no circuit is open that wasn’t all along, whatever other sessions do. Skips in the latter half alone, for by then the longest wait (300 s) is over and the next call should have been a probe; and some of them, for probes can be due by steps. forced_open is left out: who did that wants no probes. A Retry-After of the service may be longer than this.',
  expr: ({ series, settings }) => {
    const { gap, starvedFor, starvedLeastSkips } = settings;
    const open = series(METRIC.circuits, { [ATTR.state]: ['open'] });
    const increase = (selector: string, window: string): string =>
      aggregated('sum', BY_TOOL, `increase(${selector}[${window}])`);
    const skips = series(METRIC.decisions, { [ATTR.decision]: ['skip'], [ATTR.reason]: ['open'] });
    const probes = series(METRIC.decisions, { [ATTR.decision]: ['probe'] });
    const openings = series(METRIC.transitions, { [ATTR.stateTo]: ['open'] });
    return [
      `${aggregated('sum', BY_TOOL, `last_over_time(${open}[${gap}])`)} > 0`,
      `and ${aggregated('sum', BY_TOOL, `last_over_time(${open}[${gap}] offset ${starvedFor})`)} > 0`,
      `and round(${increase(skips, durationOf(seconds(starvedFor) / 2))}) >= ${starvedLeastSkips}`,
      `unless ${increase(probes, starvedFor)} > 0`,
      `unless ${increase(openings, starvedFor)} > 0`,
    ].join('\n');
  },
  summary: ({ dialect }) => `Open circuits of agent ${dialect.label('agent')} are not probed`,
  description: (ground) =>
    `${ground.dialect.value('count')} circuit(s) of tool ${SUBJECT(ground)} have been open for ${inWords(ground.settings.starvedFor)}. The agent asks for the tool, its calls are skipped, and none is let through as a probe, so that nothing can find out that the tool works again.`,
};

const toolErrorRateHigh: AlertDefinition = {
  ...common,
  name: 'BreakerboxToolErrorRateHigh',
  says: ({ errorRatio, errorLeastCalls, errorLeastFailures }) =>
    `more than ${errorRatio * 100} % of a tool’s executed calls have failed, over 5 minutes and over 1 hour (${errorLeastCalls} calls and ${errorLeastFailures} failures at least), and BreakerboxCircuitOpen and BreakerboxCircuitFlapping don’t say it already`,
  comment:
    'Two windows: the hour says that it is worth a word, the 5 minutes that it is still going on. Silent where BreakerboxCircuitOpen or BreakerboxCircuitFlapping say it already, and until an outage has left the windows: it would burst out when that is over. A tool that is out of use by turns, and never for long enough, is told of here: so `for` is longer than that of BreakerboxCircuitOpen, which speaks first of one that is out for good.',
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
  summary: ({ dialect }) => `Tools of agent ${dialect.label('agent')} fail too often`,
  description: (ground) =>
    `${ground.dialect.value('percentage')} of the calls of tool ${SUBJECT(ground)} have failed over the last 5 minutes, and more than ${ground.settings.errorRatio * 100} % over the last hour. Too few in a row to keep a circuit open for long: the agent works on, and pays for each.`,
};

const toolSlow: AlertDefinition = {
  ...common,
  name: 'BreakerboxToolSlow',
  says: ({ slowFactor, slowFloor, slowLeastCalls, slowFor, slowLeastHistory }) =>
    `the p95 of a tool has been above ${slowFactor} times its usual one of the week and above ${slowFloor} s for ${inWords(slowFor)}, with ${slowLeastCalls} calls in 15 minutes at least and ${inWords(slowLeastHistory)} of history`,
  comment:
    'Measured by its own week, for what is slow for a calculator is fast for a search. The 15 minutes say how slow, the 5 that it still is: without them a few slow minutes would stay in the window for as long as `for`. The histogram ends at 81.92 s: a tool that usually takes more than a third of that can’t be three times slower.',
  expr: (ground) => {
    const { read, series, settings } = ground;
    const calls = aggregated(
      'sum',
      BY_TOOL,
      `increase(${series(METRIC.duration, {}, '', '_count')}[${WINDOW.quarter}])`,
    );
    return [
      `${read.now('p95')} > ${settings.slowFactor} * ${read.now('p95Usual')}`,
      `and ${read.now('p95Short')} > ${settings.slowFactor} * ${read.now('p95Usual')}`,
      `and ${read.now('p95')} > ${settings.slowFloor}`,
      `and round(${calls}) >= ${settings.slowLeastCalls}`,
      unlessOpen(ground),
    ].join('\n');
  },
  for: ({ slowFor }) => slowFor,
  summary: ({ dialect }) => `Tools of agent ${dialect.label('agent')} are much slower than usual`,
  description: (ground) =>
    `One call in twenty of tool ${SUBJECT(ground)} takes ${ground.dialect.value('duration')} or longer, which is more than ${ground.settings.slowFactor} times what was usual in the last week.`,
};

/** Alerts about one tool of one agent. */
export const TOOL_ALERTS: readonly AlertDefinition[] = [
  circuitOpen,
  circuitFlapping,
  probeStarved,
  toolErrorRateHigh,
  toolSlow,
];
