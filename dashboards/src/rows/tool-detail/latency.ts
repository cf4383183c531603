import { heatmap } from '../../heatmap.ts';
import { dashboardLinks, tracesLink } from '../../links.ts';
import { METRIC } from '../../names.ts';
import { COLOUR } from '../../palette.ts';
import { coloured, lines, type Row } from '../../panels.ts';
import { buckets, orZero, quantile } from '../../promql.ts';

const size = { unit: 's', width: 12, height: 9 } as const;
const NAMES = { p50: COLOUR.sky, p95: COLOUR.blue, p99: COLOUR.purple } as const;

const percentile = (percent: 50 | 95 | 99) => ({
  expr: orZero(quantile(percent / 100, METRIC.duration, [], '$__rate_interval')),
  legend: `p${percent}`,
});

const percentiles = () =>
  coloured(
    lines(
      {
        ...size,
        title: 'Latency percentiles',
        description:
          'How long executed calls took, failed ones too: p50, half of them took no longer; p95 and p99, all but one in twenty, or in a hundred. A rise of p95 often comes before the timeouts. 0 while nothing is called, and for a group, which has no calls of its own; the highest bucket ends at 81.92 s.',
      },
      percentile(50),
      percentile(95),
      percentile(99),
    ),
    NAMES,
  ).links(dashboardLinks([tracesLink('Traces of calls', 'duration > 1s')]));

const spread = () =>
  heatmap(
    {
      ...size,
      title: 'Latency heatmap',
      description:
        'Executed calls a second by how long they took: each row is a bucket, named by its upper bound. Two bands are two kinds of calls, such as cached and not, which percentiles blur; a band at a timeout is calls that hang. Empty until something is called, and for a group.',
    },
    buckets(METRIC.duration, [], '$__rate_interval'),
    'No calls',
  );

/** How long it takes to answer. */
export const latencyRow = (): Row => ({ title: 'Latency', panels: [percentiles(), spread()] });
