import { ATTR, legend, METRIC } from '../names.ts';
import { DEGRADATION_COLOURS, ROUTE_COLOURS } from '../palette.ts';
import { bars, coloured, type Face, NONE } from '../panels.ts';
import { type Matchers, orGroupNamed, rate, sumBy } from '../promql.ts';

type Size = Pick<Face, 'width' | 'height'>;
const { routes } = METRIC;

/** Where calls went that were not made. */
export const whereCallsWent = (size: Size) =>
  coloured(
    bars(
      {
        ...size,
        title: 'Where held-up calls went',
        description:
          'What the agents were told to do in place of a call: use an alternative, follow the fallback by hand, take the last good result, or put it off. Many deferred ones ask for an alternative or a fallback in the configuration.',
        unit: 'ops',
      },
      {
        expr: orGroupNamed(`${sumBy([ATTR.route], rate(routes, '$__rate_interval'))} > 0`, ATTR.route, NONE),
        legend: legend(ATTR.route),
      },
    ),
    ROUTE_COLOURS,
  );

/** What was lost on the way. */
export const degradations = (size: Size) => {
  const byAlternative = { [ATTR.route]: ['alternative'] } satisfies Matchers;
  return coloured(
    bars(
      {
        ...size,
        title: 'Alternatives by degradation',
        description:
          'Calls that were sent to another tool, by what is lost there according to the capability map. The work goes on; with high degradation somebody should know that it is not what was asked for.',
        unit: 'ops',
      },
      {
        expr: orGroupNamed(
          `${sumBy([ATTR.degradation], rate(routes, '$__rate_interval', byAlternative))} > 0`,
          ATTR.degradation,
          NONE,
        ),
        legend: legend(ATTR.degradation),
      },
    ),
    DEGRADATION_COLOURS,
  );
};
