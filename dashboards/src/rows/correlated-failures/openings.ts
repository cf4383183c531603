import { AGENT_TOOL, CIRCUIT_STATES_IN_TABLE, worstState } from '../../circuit-state.ts';
import { LOOKS, openedBy, openedIn, orNothingOpened, shortestStep, togetherAt } from '../../correlation.ts';
import type { Together } from '../../limits.ts';
import { dashboardLinks, fromRow, fromSeries, UID } from '../../links.ts';
import { ATTR, label, legend } from '../../names.ts';
import { CATEGORY_COLOURS, COLOUR } from '../../palette.ts';
import { bars, coloured, sized } from '../../panels.ts';
import { highest } from '../../promql.ts';
import { AGENT_COLUMNS, AGENT_TOOL_COLUMNS, JOB_KEY, table } from '../../table.ts';
import { orZeroNamed } from '../../zeros.ts';
import { tracesOfTool } from '../spans.ts';
import { WHAT_ALERTS_LEAVE_OUT } from './leave-out.ts';

const TOOLS_IN_TABLE = 100;
const AGENTS_IN_GRAPH = 10;

/** The rows of the table, with the time of each opening. */
const rows = (): string => `topk(${TOOLS_IN_TABLE}, ${openedIn('$__range')})`;

/** The current state, for each error that opened the tool. */
const stateNow = (): string => {
  const by = AGENT_TOOL.map(label).join(', ');
  return `${rows()} * 0 + on (${by}) group_left () (${worstState()})`;
};

/** Openings side by side, by their time. */
export const lastOpenings = ({ seconds, tools, agents }: Together) =>
  table(
    {
      title: 'Last openings in range',
      description: `The last opening of each tool in the time range shown, by error, newest first; at most ${TOOLS_IN_TABLE}. "Tools together": the most tools of this agent that opened with this error within ${seconds} s. "Agents together": the most agents on which this tool did. ${tools} tools or ${agents} agents or more count as one cause. ${WHAT_ALERTS_LEAVE_OUT}`,
      ...sized(24, 9, 'none'),
    },
    [
      {
        label: label(ATTR.agent),
        title: 'Agent',
        side: 'left',
        absent: '–',
        links: [fromRow(UID.failureBudget, 'Failure budget of the agent', AGENT_COLUMNS)],
      },
      {
        label: label(ATTR.tool),
        title: 'Tool',
        side: 'left',
        links: [fromRow(UID.toolDetail, 'Tool detail', AGENT_TOOL_COLUMNS), ...tracesOfTool(AGENT_TOOL_COLUMNS)],
      },
      { ...JOB_KEY, absent: '–' },
      { label: label(ATTR.errorType), title: 'Error', side: 'left', absent: '–', width: 130 },
    ],
    [
      {
        title: 'Opened at',
        expr: orNothingOpened(`${rows()} * 1000`, ATTR.errorType),
        unit: 'dateTimeAsLocal',
        zero: '–',
        width: 190,
      },
      {
        title: 'Tools together',
        expr: togetherAt(ATTR.agent, seconds, TOOLS_IN_TABLE),
        alarm: { from: tools, colour: COLOUR.orange },
        absent: '–',
      },
      {
        title: 'Agents together',
        expr: togetherAt(ATTR.tool, seconds, TOOLS_IN_TABLE),
        alarm: { from: agents, colour: COLOUR.orange },
        absent: '–',
      },
      { title: 'State now', expr: stateNow(), states: CIRCUIT_STATES_IN_TABLE, absent: '–', width: 170 },
    ],
    'Opened at',
  )
    .interval(shortestStep(seconds))
    .maxDataPoints(LOOKS);

/** Which cause. */
export const byError = () =>
  coloured(
    bars(
      {
        title: 'Tools that opened, by error',
        description:
          'Tools whose circuit opened. Each counts once, even if it opened in many sessions, and is drawn for one rate interval. One tall bar of one colour suggests one cause. Low bars of many colours do not.',
        ...sized(12, 8, 'none'),
      },
      {
        expr: orZeroNamed(openedBy(ATTR.errorType, '$__rate_interval'), ATTR.errorType, 'none'),
        legend: legend(ATTR.errorType),
      },
    ),
    CATEGORY_COLOURS,
  );

/** Which agents. */
export const byAgent = () =>
  bars(
    {
      title: 'Tools that opened, by agent',
      description: `The same tools by agent: the ${AGENTS_IN_GRAPH} agents with the most openings in the time range shown. If one bar has several agents, look for what they share.`,
      ...sized(12, 8, 'none'),
    },
    {
      expr: orZeroNamed(
        highest(
          openedBy(ATTR.agent, '$__rate_interval'),
          AGENTS_IN_GRAPH,
          [ATTR.agent],
          openedBy(ATTR.agent, '$__range', ' @ end()'),
        ),
        ATTR.agent,
        'none',
      ),
      legend: legend(ATTR.agent),
    },
  ).dataLinks(dashboardLinks([fromSeries(UID.failureBudget, 'Failure budget of the agent', ATTR.agent)]));
