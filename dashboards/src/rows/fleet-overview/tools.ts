import { AGENT_TOOL, CIRCUIT_STATES, CIRCUIT_STATES_IN_TABLE, worstState } from '../../circuit-state.ts';
import { dashboardLinks, fromRow, fromSeries, UID } from '../../links.ts';
import { ATTR, label, legend, METRIC, OPEN_STATES } from '../../names.ts';
import { COLOUR } from '../../palette.ts';
import { circuitsIn, highest, type Matchers, rate, series, share, sumBy, trouble, type Window } from '../../promql.ts';
import { stateTimeline } from '../../state-timeline.ts';
import { table } from '../../table.ts';

const { circuits, decisions, openedTime, outcomes } = METRIC;
const TOOLS_IN_TABLE = 100;
const TOOLS_IN_TIMELINE = 10;

const FAILURE = { [ATTR.outcome]: ['failure'] } satisfies Matchers;
const NOT_RUN = { [ATTR.decision]: ['skip', 'pause'] } satisfies Matchers;

const failed = (window: Window): string =>
  share(sumBy(AGENT_TOOL, rate(outcomes, window, FAILURE)), sumBy(AGENT_TOOL, rate(outcomes, window)));

const notRun = (window: Window): string =>
  share(sumBy(AGENT_TOOL, rate(decisions, window, NOT_RUN)), sumBy(AGENT_TOOL, rate(decisions, window)));

/** When it opened last and with which category, in ms as Grafana's dates want it; 0 for never. */
const lastOpened = (): string => {
  const by = AGENT_TOOL.map(label).join(', ');
  const latest = `topk by (${by}) (1, max by (${by}, ${label(ATTR.errorType)}) (${series(openedTime)}))`;
  return `${latest} * 1000 or on (${by}) ${sumBy(AGENT_TOOL, series(circuits))} * 0`;
};

/** Those that aren't closed now come before all that were open for long and are closed again. */
const worst = (): string => `1e6 * (${worstState()}) + ${trouble(AGENT_TOOL)}`;

/**
 * State, in the order of what is worst. Grafana sorts by the state and leaves those of one state as they come; the first query
 * says how they come.
 */
const worstFirst = (): string => `topk(${TOOLS_IN_TABLE}, ${worst()}) * 0 + (${worstState()})`;

const inTable = (expr: string): string => highest(expr, TOOLS_IN_TABLE, AGENT_TOOL, worst());

/** Which tool of which agent, since when, with what error. */
export const health = () =>
  table(
    {
      title: 'Tool health',
      description: `Each tool of each agent, the worst first; at most ${TOOLS_IN_TABLE}. State is that of its worst circuit, open how many reject calls now. Failed is a share of the calls that were run in the time range shown, not run a share of the decisions. A click on a tool leads to its details.`,
      unit: 'none',
      width: 15,
      height: 7,
    },
    [
      {
        label: label(ATTR.agent),
        title: 'Agent',
        side: 'left',
        links: [fromRow(UID.failureBudget, 'Failure budget of the agent', { [ATTR.agent]: 'Agent' })],
      },
      {
        label: label(ATTR.tool),
        title: 'Tool',
        side: 'left',
        links: [fromRow(UID.toolDetail, 'Tool detail', { [ATTR.agent]: 'Agent', [ATTR.tool]: 'Tool' })],
      },
      { label: label(ATTR.errorType), title: 'Last error', side: 'right', width: 125, absent: '–' },
    ],
    [
      {
        title: 'State',
        expr: worstFirst(),
        states: CIRCUIT_STATES_IN_TABLE,
        width: 130,
      },
      { title: 'Open', expr: inTable(circuitsIn(AGENT_TOOL, OPEN_STATES)), width: 70 },
      {
        title: 'Failed',
        expr: inTable(failed('$__range')),
        unit: 'percentunit',
        decimals: 0,
        gauge: COLOUR.orange,
        width: 112,
      },
      {
        title: 'Not run',
        expr: inTable(notRun('$__range')),
        unit: 'percentunit',
        decimals: 0,
        gauge: COLOUR.sky,
        width: 112,
      },
      { title: 'Last opened', expr: inTable(lastOpened()), unit: 'dateTimeFromNow', zero: 'never', width: 150 },
    ],
    'State',
  );

/** The same order, but one for all steps of a graph. */
const worstAtTheEnd = (): string => {
  const notClosed = series(circuits, { [ATTR.state]: ['open', 'half_open', 'forced_open'] });
  return `1e6 * ${sumBy(AGENT_TOOL, `${notClosed} @ end() > bool 0`)} + ${trouble(AGENT_TOOL)}`;
};

/** Since when, and what else at the same time. */
export const states = () =>
  stateTimeline(
    {
      title: 'Circuits over time',
      description: `The worst state of each tool's circuits: the ${TOOLS_IN_TIMELINE} tools that aren't closed now or were open longest. By hand: none is open, and somebody has switched one off or only observes it; calls pass whatever happens. An opening between two scrapes isn't here; "Last opened" above has it.`,
      unit: 'none',
      width: 15,
      height: 7,
    },
    {
      expr: highest(worstState(), TOOLS_IN_TIMELINE, AGENT_TOOL, worstAtTheEnd()),
      legend: legend(ATTR.agent, ATTR.tool),
    },
    CIRCUIT_STATES,
  ).dataLinks(dashboardLinks([fromSeries(UID.toolDetail, 'Tool detail', ATTR.agent, ATTR.tool)]));
