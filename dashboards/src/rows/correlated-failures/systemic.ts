import { AGENT } from '../../circuit-state.ts';
import { dashboardLinks, fromSeries, UID } from '../../links.ts';
import { ATTR, JOB, legend, METRIC } from '../../names.ts';
import { CATEGORY_COLOURS } from '../../palette.ts';
import { bars, coloured, legendTableBeside, lines } from '../../panels.ts';
import { gained, highest, type Matchers, orZeroNamed, series, sumBy } from '../../promql.ts';

const AGENTS_IN_GRAPH = 10;
const PAUSED = { [ATTR.sessionState]: ['paused_systemic'] } satisfies Matchers;

/** What sessions recognised by themselves. */
export const events = () =>
  coloured(
    bars(
      {
        title: 'Systemic events by category',
        description:
          'Failures of several tools that an agent recognised as one event: a network, a host or a credential that they share. Each one is drawn as long as the rate interval. _MIXED: the tools failed in different ways.',
        unit: 'none',
        width: 12,
        height: 8,
      },
      {
        expr: orZeroNamed(
          `${sumBy([ATTR.errorType], gained(METRIC.systemicEvents, '$__rate_interval'))} > 0`,
          ATTR.errorType,
          'none',
        ),
        legend: legend(ATTR.errorType),
      },
    ),
    CATEGORY_COLOURS,
  );

/** How long it held up whom. */
export const paused = () =>
  lines(
    {
      title: 'Sessions paused as systemic, by agent',
      description: `How long a systemic event holds up whom: the ${AGENTS_IN_GRAPH} agents with the most paused sessions. Several agents at once point to what they share.`,
      unit: 'none',
      width: 12,
      height: 8,
    },
    {
      expr: highest(
        sumBy(AGENT, series(METRIC.sessions, PAUSED)),
        AGENTS_IN_GRAPH,
        AGENT,
        sumBy(AGENT, `avg_over_time(${series(METRIC.sessions, PAUSED)}[$__range] @ end())`),
      ),
      legend: legend(ATTR.agent, JOB),
    },
  )
    .legend(legendTableBeside())
    .dataLinks(dashboardLinks([fromSeries(UID.failureBudget, 'Failure budget of the agent', ...AGENT)]));
