import { dashboardLinks, fromSeries, UID } from '../../links.ts';
import { ATTR, legend, METRIC } from '../../names.ts';
import { DISPOSITION_COLOURS } from '../../palette.ts';
import { bars, coloured, EVENT_POINTS, legendTableBeside, lines, type Row } from '../../panels.ts';
import { gained, highest, overall, share, sumBy } from '../../promql.ts';
import { orZeroNamed } from '../../zeros.ts';
import { degradations, whereCallsWent } from '../rejected-calls.ts';
import { tokens, tokensBy } from '../tokens.ts';

const { tasks } = METRIC;
const AGENT = [ATTR.agent] as const;
const LINES = 10;
const third = { width: 8, height: 8 } as const;
const half = { width: 12, height: 8 } as const;
const DEFERRED = { [ATTR.disposition]: ['deferred'] } as const;

const planned = () =>
  coloured(
    bars(
      {
        ...half,
        title: 'Tasks planned',
        description:
          'Tasks that agents planned with planScope(): achievable with the available tools and alternatives, or deferred until a tool works again. Each task is drawn for one rate interval. A task that is planned again counts again.',
        unit: 'none',
      },
      {
        expr: orZeroNamed(
          `${sumBy([ATTR.disposition], gained(tasks, '$__rate_interval'))} > 0`,
          ATTR.disposition,
          'none',
        ),
        legend: legend(ATTR.disposition),
      },
    ),
    DISPOSITION_COLOURS,
  );

const deferred = () =>
  lines(
    {
      ...half,
      title: 'Share of tasks deferred, by agent',
      description: `The share of planned tasks that had to wait for a tool; 0 without planned tasks. The ${LINES} agents that deferred most. If the share stays high, configure an alternative for the missing tools.`,
      unit: 'percentunit',
    },
    {
      expr: highest(
        share(
          sumBy(AGENT, gained(tasks, '$__rate_interval', DEFERRED)),
          sumBy(AGENT, gained(tasks, '$__rate_interval')),
        ),
        LINES,
        AGENT,
        `(${sumBy(AGENT, overall(tasks, DEFERRED))} or ${sumBy(AGENT, overall(tasks))} * 0)`,
      ),
      legend: legend(ATTR.agent),
    },
  )
    .max(1)
    .noValue('No planned tasks')
    .maxDataPoints(EVENT_POINTS)
    .legend(legendTableBeside())
    .dataLinks(dashboardLinks([fromSeries(UID.toolDetail, 'Tools of the agent', ATTR.agent)]));

/** Deferred tasks, and where rejected calls went. */
export const deferredRow = (): Row => ({
  title: 'Deferred work',
  panels: [planned(), deferred(), whereCallsWent(half), degradations(half)],
});

/** The tokens that failures cost, and that skips saved. */
export const tokensRow = (): Row => ({
  title: 'Tokens',
  panels: [tokens(third), tokensBy(ATTR.tool, third), tokensBy(ATTR.agent, third)],
});
