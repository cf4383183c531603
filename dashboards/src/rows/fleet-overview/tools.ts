import { AGENT_TOOL, CIRCUIT_STATES, CIRCUIT_STATES_IN_TABLE, worstOverTime } from '../../circuit-state.ts';
import { dashboardLinks, fromRow, fromSeries, UID } from '../../links.ts';
import { ATTR, label, legend, METRIC } from '../../names.ts';
import { COLOUR } from '../../palette.ts';
import { sized } from '../../panels.ts';
import { notCountedShare, series, sumBy } from '../../promql.ts';
import { either, recorded } from '../../recorded.ts';
import { agentToolFailed, agentToolNotRun } from '../../recorded-forms.ts';
import { stateTimeline } from '../../state-timeline.ts';
import { AGENT_COLUMNS, AGENT_TOOL_COLUMNS, HIDDEN_JOB, table, tight } from '../../table.ts';
import { worstFirst } from '../../worst-first.ts';
import { tracesOfTool } from '../spans.ts';

const { circuits, openedTime, unavailableTime } = METRIC;
const TOOLS_IN_TABLE = 100;
const TOOLS_IN_TIMELINE = 5;

/** How many seconds each tool has been unavailable, with the category of its last opening; 0 for one that is not. */
const unavailableFor = (): string => {
  const by = AGENT_TOOL.map(label).join(', ');
  const latest = `topk by (${by}) (1, max by (${by}, ${label(ATTR.errorType)}) (${series(openedTime)} > 0))`;
  const now = `min by (${by}) (${series(unavailableTime)} > 0)`;
  // The recorded series remembers the time before a restart, but only of tools that have been unavailable for a minute.
  const lasts = `(time() - (min by (${by}) (${recorded('unavailableSince')}) or ${now}))`;
  return `${latest} * 0 + on (${by}) group_left () ${lasts} or on (${by}) ${lasts} or on (${by}) ${latest} * 0 or on (${by}) ${either('byAgent', sumBy(AGENT_TOOL, recorded('circuits')), sumBy(AGENT_TOOL, series(circuits)))} * 0`;
};

const { state, inTable } = worstFirst(TOOLS_IN_TABLE);

/** Each tool of each agent, its last opening, and the error. */
export const health = () =>
  tight(
    table(
      {
        title: 'Tool health',
        description: `Each tool of each agent, the worst first, and of those the newest; at most ${TOOLS_IN_TABLE}. State: its worst circuit. For: since the first opening that lasts, in any session. Failed: failures divided by calls that succeeded or failed in the last 5 minutes, without ignored outcomes. Not run: share of the decisions in those 5 minutes. Ignored: share of the calls of the last hour that came back with an error that counts in no circuit; if it is high, look at the tool, because it may be broken. A name that begins with group: is the circuit of a group of tools, which has no calls of its own. While it is open, calls of all of its tools are skipped. Click a tool for its details.`,
        ...sized(14, 7, 'none'),
      },
      [
        {
          label: label(ATTR.agent),
          title: 'Agent',
          side: 'left',
          links: [fromRow(UID.failureBudget, 'Failure budget of the agent', AGENT_COLUMNS)],
        },
        {
          label: label(ATTR.tool),
          title: 'Tool',
          side: 'left',
          links: [fromRow(UID.toolDetail, 'Tool detail', AGENT_TOOL_COLUMNS), ...tracesOfTool(AGENT_TOOL_COLUMNS)],
        },
        HIDDEN_JOB,
        { label: label(ATTR.errorType), title: 'Last error', side: 'right', width: 90, absent: '–' },
      ],
      [
        {
          title: 'State',
          expr: state,
          states: CIRCUIT_STATES_IN_TABLE,
          width: 86,
        },
        {
          title: 'Failed 5m',
          expr: inTable(agentToolFailed('5m')),
          unit: 'percentunit',
          decimals: 0,
          absent: '–',
          gauge: COLOUR.orange,
          width: 78,
        },
        {
          title: 'Not run 5m',
          expr: inTable(agentToolNotRun('5m')),
          unit: 'percentunit',
          decimals: 0,
          absent: '–',
          gauge: COLOUR.sky,
          width: 82,
        },
        {
          title: 'For',
          expr: inTable(unavailableFor()),
          unit: 's',
          decimals: 1,
          zero: '–',
          width: 78,
        },
        {
          title: 'Ignored 1h',
          expr: inTable(notCountedShare(AGENT_TOOL, '1h')),
          unit: 'percentunit',
          decimals: 0,
          absent: '–',
          gauge: COLOUR.grey,
          width: 78,
        },
      ],
      'State',
    ),
  );

/** When each circuit opened, and which others opened at the same time. */
export const states = () =>
  stateTimeline(
    {
      title: 'Circuits over time',
      description: `The worst state of each tool's circuits: ${TOOLS_IN_TIMELINE} of the worst tools. Of tools that are equally bad and equally new, the table above may begin with others. By hand: no circuit is open, and one is switched off or only observes, so calls always run. An opening between two scrapes is not shown here.`,
      ...sized(14, 5, 'none'),
    },
    {
      expr: worstOverTime(TOOLS_IN_TIMELINE),
      legend: legend(ATTR.agent, ATTR.tool),
    },
    CIRCUIT_STATES,
  ).dataLinks(dashboardLinks([fromSeries(UID.toolDetail, 'Tool detail', ...AGENT_TOOL)]));
