import { ATTR, legend, METRIC } from '../names.ts';
import { DEGRADATION_COLOURS, ROUTE_COLOURS } from '../palette.ts';
import { bars, coloured, type Face, NONE } from '../panels.ts';
import { gained, type Matchers, sumBy } from '../promql.ts';
import { orGroupNamed } from '../zeros.ts';

type Size = Pick<Face, 'width' | 'height'>;
const { routes } = METRIC;

/** Where rejected calls went. */
export const whereCallsWent = (size: Size) =>
  coloured(
    bars(
      {
        ...size,
        title: 'Where rejected calls went',
        description:
          'What the agents were asked to do instead of a call: use an alternative, follow the manual fallback, use the last good result, or defer the work. If many are deferred, configure an alternative or a fallback. Each call is drawn for one rate interval.',
        unit: 'none',
      },
      {
        expr: orGroupNamed(`${sumBy([ATTR.route], gained(routes, '$__rate_interval'))} > 0`, ATTR.route, NONE),
        legend: legend(ATTR.route),
      },
    ),
    ROUTE_COLOURS,
  );

/** What alternatives lack. */
export const degradations = (size: Size) => {
  const byAlternative = { [ATTR.route]: ['alternative'] } satisfies Matchers;
  return coloured(
    bars(
      {
        ...size,
        title: 'Alternatives by degradation',
        description:
          'Calls that were sent to another tool, by the degradation in the capability map. The work continues. With high degradation, the result may not be what was asked for. Each call is drawn for one rate interval.',
        unit: 'none',
      },
      {
        expr: orGroupNamed(
          `${sumBy([ATTR.degradation], gained(routes, '$__rate_interval', byAlternative))} > 0`,
          ATTR.degradation,
          NONE,
        ),
        legend: legend(ATTR.degradation),
      },
    ),
    DEGRADATION_COLOURS,
  );
};
