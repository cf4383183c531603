import { AGENT } from '../../circuit-state.ts';
import { dashboardLinks, fromSeries, UID } from '../../links.ts';
import { ATTR, JOB, legend, METRIC } from '../../names.ts';
import { CATEGORY_COLOURS } from '../../palette.ts';
import { bars, coloured, legendTableBeside, lines } from '../../panels.ts';
import { gained, highest, orZeroNamed, series, sumBy } from '../../promql.ts';

const AGENTS_IN_GRAPH = 10;

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

/** How long it lasted, and for whom. */
export const active = () =>
  lines(
    {
      title: 'Systemic events that last, by agent',
      description: `Events that are not over: the ${AGENTS_IN_GRAPH} agents with the most. In scope session each pauses its session until the recovery is confirmed; in scope process calls of the affected tools are skipped until a probe succeeds. Several agents at once point to what they share.`,
      unit: 'none',
      width: 12,
      height: 8,
    },
    {
      expr: highest(
        sumBy(AGENT, series(METRIC.systemicActive)),
        AGENTS_IN_GRAPH,
        AGENT,
        sumBy(AGENT, `avg_over_time(${series(METRIC.systemicActive)}[$__range] @ end())`),
      ),
      legend: legend(ATTR.agent, JOB),
    },
  )
    .legend(legendTableBeside())
    .dataLinks(dashboardLinks([fromSeries(UID.failureBudget, 'Failure budget of the agent', ...AGENT)]));
