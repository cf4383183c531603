import { AGENT } from '../../circuit-state.ts';
import { dashboardLinks, fromRow, fromSeries, UID } from '../../links.ts';
import { ATTR, JOB, label, legend, METRIC } from '../../names.ts';
import { CATEGORY_COLOURS } from '../../palette.ts';
import { bars, coloured, legendTableBeside, lines, sized } from '../../panels.ts';
import { gained, sumBy } from '../../promql.ts';
import { grown, rarely } from '../../recorded-forms.ts';
import { AGENT_COLUMNS, JOB_KEY, table, tight } from '../../table.ts';
import { orZeroNamed } from '../../zeros.ts';

const AGENTS_IN_GRAPH = 10;
const ROWS = 50;
const CAUSE = [...AGENT, ATTR.errorType, ATTR.suspect] as const;

/** Events that sessions recognised by themselves. */
export const events = () =>
  coloured(
    bars(
      {
        title: 'Systemic events by category',
        description:
          'Failures of several tools that an agent recognised as one event, because they share a network, a host or a credential. Each event is drawn for one rate interval. _MIXED: the tools failed in different ways.',
        ...sized(12, 8, 'none'),
      },
      {
        expr: orZeroNamed(
          `${grown([ATTR.errorType], 'systemicEvents', '$__rate_interval')} > 0`,
          ATTR.errorType,
          'none',
        ),
        legend: legend(ATTR.errorType),
      },
    ),
    CATEGORY_COLOURS,
  );

/** How long events last, and on which agents. */
export const active = () =>
  lines(
    {
      title: 'Systemic events that last, by agent',
      description: `Active events: the ${AGENTS_IN_GRAPH} agents with the most. In scope session, each pauses its session until the recovery is confirmed. In scope process, calls of the affected tools are skipped until a probe succeeds. If several agents are affected at once, look for what they share.`,
      ...sized(12, 8, 'none'),
    },
    { expr: rarely('systemicActive', AGENTS_IN_GRAPH, METRIC.systemicActive), legend: legend(ATTR.agent, JOB) },
  )
    .legend(legendTableBeside())
    .dataLinks(dashboardLinks([fromSeries(UID.failureBudget, 'Failure budget of the agent', ...AGENT)]));

/** What agents suspect behind their events. */
export const suspects = () =>
  tight(
    table(
      {
        title: 'Suspected causes in range',
        description: `Systemic events in the time range shown, by agent, error and what the agent suspects behind them: a dependency or a group that all of the tools have, or else the layer that the errors point to. The ${ROWS} with the most events.`,
        ...sized(10, 7, 'none'),
      },
      [
        {
          label: label(ATTR.agent),
          title: AGENT_COLUMNS[ATTR.agent],
          side: 'left',
          links: [fromRow(UID.failureBudget, 'Failure budget of the agent', AGENT_COLUMNS)],
        },
        { ...JOB_KEY, width: 75 },
        { label: label(ATTR.errorType), title: 'Error', side: 'left', absent: '–', width: 85 },
        { label: label(ATTR.suspect), title: 'Suspected', side: 'left', absent: '–' },
      ],
      [
        {
          title: 'Events',
          expr: orZeroNamed(
            `topk(${ROWS}, ${sumBy(CAUSE, gained(METRIC.systemicEvents, '$__range'))} > 0)`,
            ATTR.agent,
            'none',
          ),
          decimals: 0,
          width: 65,
        },
      ],
      'Events',
    ),
  );
