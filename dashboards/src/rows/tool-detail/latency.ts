import { heatmap } from '../../heatmap.ts';
import { dashboardLinks, tracesLink } from '../../links.ts';
import { METRIC } from '../../names.ts';
import { COLOUR } from '../../palette.ts';
import { coloured, lines, type Row } from '../../panels.ts';
import { buckets, exemplarsOf, native } from '../../promql.ts';
import { either, recorded } from '../../recorded.ts';
import { durationQuantile } from '../../recorded-forms.ts';
import { orZero } from '../../zeros.ts';

const size = { unit: 's', width: 12, height: 9 } as const;
const NAMES = { p50: COLOUR.sky, p95: COLOUR.blue, p99: COLOUR.purple } as const;

const percentile = (percent: 50 | 95 | 99) => ({
  expr: orZero(durationQuantile(percent / 100, '$__rate_interval')),
  legend: `p${percent}`,
});

const percentiles = () =>
  coloured(
    lines(
      {
        ...size,
        title: 'Latency percentiles',
        description:
          'Duration of executed calls, including failed ones: half of them took at most p50, all but one in twenty at most p95, all but one in a hundred at most p99. A rising p95 often comes before timeouts. 0 without calls, and for a group, which has no calls of its own. The highest bucket ends at 81.92 s.',
      },
      percentile(50),
      percentile(95),
      percentile(99),
      // Also of all agents, whose percentiles are recorded series without exemplars.
      { expr: exemplarsOf(METRIC.duration), legend: 'call', exemplars: true },
    ),
    NAMES,
  ).links(dashboardLinks([tracesLink('Traces of calls', 'duration > 1s')]));

const spread = () =>
  heatmap(
    {
      ...size,
      title: 'Latency heatmap',
      description:
        'Executed calls per second by duration. Each row is a bucket, named by its upper bound. Two bands are two kinds of calls, such as cached and not cached, which percentiles hide. A band at a timeout shows calls that hang. Empty before the first call, and for a group.',
    },
    `${either('byTool', `sum by (le) (${recorded('bucketsOfTool')})`, buckets(METRIC.duration, [], '$__rate_interval'))} or ${native(METRIC.duration, [], '$__rate_interval')}`,
    'No calls',
  );

/** How long calls take. */
export const latencyRow = (): Row => ({ title: 'Latency', panels: [percentiles(), spread()] });
