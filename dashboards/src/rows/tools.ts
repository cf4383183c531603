import type { ReportedState } from '@breakerbox/core';
import { ATTR, label, legend, MANUAL_STATES, METRIC, OPEN_STATES } from '../names.ts';
import { CATEGORY_COLOURS, COLOUR } from '../palette.ts';
import { bars, coloured, lines, type Row } from '../panels.ts';
import {
  circuitsIn,
  gained,
  highest,
  type Matchers,
  orZeroNamed,
  overall,
  rate,
  series,
  share,
  sumBy,
  trouble,
  type Window,
} from '../promql.ts';
import { stateTimeline } from '../state-timeline.ts';
import { table } from '../table.ts';

const { circuits, decisions, openedTime, outcomes, transitions } = METRIC;
const AGENT_TOOL = [ATTR.agent, ATTR.tool] as const;
const TOOL = [ATTR.tool] as const;
const TOOLS_IN_TABLE = 100;
const TOOLS_IN_TIMELINE = 20;
const TOOLS_IN_GRAPH = 10;

const FAILURE = { [ATTR.outcome]: ['failure'] } satisfies Matchers;

const failureShare = (by: typeof AGENT_TOOL | typeof TOOL, window: Window): string =>
  share(sumBy(by, rate(outcomes, window, FAILURE)), sumBy(by, rate(outcomes, window)));

const skipShare = (window: Window): string =>
  share(
    sumBy(AGENT_TOOL, rate(decisions, window, { [ATTR.decision]: ['skip', 'pause'] })),
    sumBy(AGENT_TOOL, rate(decisions, window)),
  );

/** When it opened last and with which category, in ms as Grafana's dates want it; 0 for never. */
const lastOpened = (): string => {
  const by = AGENT_TOOL.map(label).join(', ');
  const latest = `topk by (${by}) (1, max by (${by}, ${label(ATTR.errorType)}) (${series(openedTime)}))`;
  return `${latest} * 1000 or on (${by}) ${sumBy(AGENT_TOOL, series(circuits))} * 0`;
};

const inTable = (expr: string): string => highest(expr, TOOLS_IN_TABLE, AGENT_TOOL, trouble(AGENT_TOOL));

const health = () =>
  table(
    {
      title: 'Tool health',
      description: `Each tool of each agent, open circuits first; at most ${TOOLS_IN_TABLE}, those whose circuits were open longest. Calls, failed and not run are of the time range shown; failed is a share of the calls that were run, not run a share of the decisions.`,
      unit: 'none',
      width: 24,
      height: 9,
    },
    [
      { label: label(ATTR.agent), title: 'Agent', side: 'left' },
      { label: label(ATTR.tool), title: 'Tool', side: 'left' },
      { label: label(ATTR.errorType), title: 'Last error', side: 'right' },
    ],
    [
      {
        title: 'Open',
        expr: inTable(circuitsIn(AGENT_TOOL, OPEN_STATES)),
        alarm: { from: 1, colour: COLOUR.orange },
        width: 80,
      },
      {
        title: 'Half-open',
        expr: inTable(circuitsIn(AGENT_TOOL, ['half_open'])),
        alarm: { from: 1, colour: COLOUR.sky },
        width: 90,
      },
      { title: 'Closed', expr: inTable(circuitsIn(AGENT_TOOL, ['closed'])), width: 80 },
      {
        title: 'By hand',
        expr: inTable(circuitsIn(AGENT_TOOL, MANUAL_STATES)),
        alarm: { from: 1, colour: COLOUR.purple },
        width: 80,
      },
      { title: 'Calls', expr: inTable(sumBy(AGENT_TOOL, rate(outcomes, '$__range'))), unit: 'reqps' },
      {
        title: 'Failed',
        expr: inTable(failureShare(AGENT_TOOL, '$__range')),
        unit: 'percentunit',
        decimals: 1,
        gauge: COLOUR.orange,
      },
      { title: 'Not run', expr: inTable(skipShare('$__range')), unit: 'percentunit', decimals: 1, gauge: COLOUR.sky },
      { title: 'Last opened', expr: inTable(lastOpened()), unit: 'dateTimeFromNow', zero: 'never' },
    ],
    'Open',
  );

const anyOf = (states: readonly ReportedState[]): string => `clamp_max((${circuitsIn(AGENT_TOOL, states)}), 1)`;

/** 1: a circuit is half-open. 2: one is open. 3: both. Else 4: one passes calls by hand. 0: all are closed. */
const worstState = (): string =>
  `(${anyOf(['half_open'])} + 2 * ${anyOf(OPEN_STATES)}) > 0 or 4 * ${anyOf(MANUAL_STATES)}`;

const states = () =>
  stateTimeline(
    {
      title: 'Circuits over time',
      description: `The worst state of each tool's circuits: the ${TOOLS_IN_TIMELINE} tools whose circuits were open longest. By hand: none is open, and somebody has switched one off or only observes it; calls pass whatever happens. An opening between two scrapes isn't here; the openings below have it.`,
      unit: 'none',
      width: 12,
      height: 10,
    },
    {
      expr: highest(worstState(), TOOLS_IN_TIMELINE, AGENT_TOOL, trouble(AGENT_TOOL)),
      legend: legend(ATTR.agent, ATTR.tool),
    },
    [
      { value: 0, text: 'closed', colour: COLOUR.green },
      { value: 4, text: 'by hand', colour: COLOUR.purple },
      { value: 1, text: 'half-open', colour: COLOUR.sky },
      { value: 2, text: 'open', colour: COLOUR.orange },
      { value: 3, text: 'open, others half-open', colour: COLOUR.yellow },
    ],
  );

const failureRates = () =>
  lines(
    {
      title: 'Failure rate by tool',
      description: `Failed calls over calls that were run; 0 while nothing runs. The ${TOOLS_IN_GRAPH} tools with the highest rate over the time range shown.`,
      unit: 'percentunit',
      width: 12,
      height: 10,
    },
    {
      expr: highest(
        failureShare(TOOL, '$__rate_interval'),
        TOOLS_IN_GRAPH,
        TOOL,
        share(sumBy(TOOL, overall(outcomes, FAILURE)), sumBy(TOOL, overall(outcomes))),
      ),
      legend: legend(ATTR.tool),
    },
  ).max(1);

const categories = () => {
  const shown = sumBy([ATTR.errorType], rate(outcomes, '$__rate_interval', { [ATTR.outcome]: ['failure', 'ignored'] }));
  return coloured(
    bars(
      {
        title: 'Errors by category',
        description:
          'Calls that did not succeed. Grey ones are ignored by default: they are no outage, and count neither for the circuit nor for the budget.',
        unit: 'ops',
        width: 12,
        height: 9,
      },
      // A dozen categories are always exported; only those that occur are drawn.
      { expr: orZeroNamed(`${shown} > 0`, ATTR.errorType, 'none'), legend: legend(ATTR.errorType) },
    ),
    CATEGORY_COLOURS,
  );
};

const openings = () => {
  const opened = { [ATTR.stateTo]: ['open'] } satisfies Matchers;
  return bars(
    {
      title: 'Circuit openings by tool',
      description: `From the counter, so that an opening between two scrapes is here too; a failed probe opens a circuit anew. Each one is drawn as long as the rate interval, and at most ${TOOLS_IN_GRAPH} tools.`,
      unit: 'none',
      width: 12,
      height: 9,
    },
    {
      expr: orZeroNamed(
        highest(
          `${sumBy(TOOL, gained(transitions, '$__rate_interval', opened))} > 0`,
          TOOLS_IN_GRAPH,
          TOOL,
          sumBy(TOOL, overall(transitions, opened)),
        ),
        ATTR.tool,
        'none',
      ),
      legend: legend(ATTR.tool),
    },
  );
};

/** Which tool it is, since when, and with what error. */
export const toolsRow = (): Row => ({
  title: 'Tools',
  panels: [health(), states(), failureRates(), categories(), openings()],
});
