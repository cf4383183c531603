import { BigValueTextMode, ReduceDataOptionsBuilder } from '@grafana/grafana-foundation-sdk/common';
import { MappingType, type ValueMap } from '@grafana/grafana-foundation-sdk/dashboard';
import { CIRCUIT_STATES, worstState } from '../../circuit-state.ts';
import { dashboardLinks, fromSeries, UID } from '../../links.ts';
import { ATTR, label, legend, METRIC } from '../../names.ts';
import { CALM, COLOUR } from '../../palette.ts';
import { instantNamed, type Row, stat, thresholds } from '../../panels.ts';
import { circuitsIn, orZero, orZeroNamed, quantile, rate, series, share, sumBy } from '../../promql.ts';
import { timeToRecovery } from '../../recovery.ts';
import { stateMapping } from '../../state-timeline.ts';

const { decisions, duration, openedTime, outcomes } = METRIC;
const size = { width: 3, height: 4 } as const;

/** What to say instead of 0. */
const zeroIs = (text: string): ValueMap => ({ type: MappingType.ValueToText, options: { 0: { text, index: 0 } } });

const NOW_STATES = CIRCUIT_STATES.map((state) => ({
  ...state,
  // Open ones heal by themselves; they are marked, and nothing else is.
  colour: state.text.startsWith('open') ? COLOUR.orange : CALM,
}));

const state = () =>
  stat(
    {
      ...size,
      title: 'State',
      unit: 'none',
      description:
        'The worst state among the circuits of what is chosen. An open circuit probes the tool and closes by itself; act when it stays open.',
    },
    worstState([]),
    thresholds(),
  ).mappings([stateMapping(NOW_STATES)]);

/** The last time a circuit left the state closed, while one is out; the value is in ms, as Grafana's dates are. */
const openSince = (): string =>
  `(max(${series(openedTime)}) * 1000 and ((${circuitsIn([], ['open', 'half_open'])}) > 0)) or ${sumBy([], series(METRIC.circuits))} * 0`;

const since = () =>
  stat(
    {
      ...size,
      title: 'Out since',
      unit: 'dateTimeFromNow',
      description:
        'When a circuit of what is chosen went from closed to open, the latest one if several did. Failed probes do not make it later.',
    },
    openSince(),
    thresholds(),
  ).mappings([zeroIs('not out')]);

const lastError = () =>
  stat(
    {
      ...size,
      title: 'Last error',
      unit: 'none',
      description:
        'The error category with which a circuit of what is chosen opened last, whenever that was: of all time, not of the time range.',
    },
    '',
    thresholds(),
  )
    .textMode(BigValueTextMode.Name)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('').values(false))
    .targets([
      instantNamed('A', {
        expr: orZeroNamed(
          `topk(1, max by (${label(ATTR.errorType)}) (${series(openedTime)}))`,
          ATTR.errorType,
          'none yet',
        ),
        legend: legend(ATTR.errorType),
      }),
    ]);

const failed = () =>
  stat(
    {
      ...size,
      title: 'Failed',
      unit: 'percentunit',
      description:
        'Share of the executed calls that failed, in the time range shown. Ignored outcomes, such as bad arguments, are no failures.',
    },
    orZero(
      share(
        sumBy([], rate(outcomes, '$__range', { [ATTR.outcome]: ['failure'] })),
        sumBy([], rate(outcomes, '$__range')),
      ),
    ),
    thresholds(),
  ).decimals(1);

const p95 = () =>
  stat(
    {
      ...size,
      title: 'p95',
      unit: 's',
      description:
        'One executed call in twenty took longer, in the time range shown. Estimated from the buckets of the histogram, the last of which ends at 81.92 s.',
    },
    orZero(quantile(0.95, duration, [], '$__range')),
    thresholds(),
  ).mappings([zeroIs('no calls')]);

const skipped = () =>
  stat(
    {
      ...size,
      title: 'Not run',
      unit: 'percentunit',
      description:
        'Share of the decisions that were skip or pause, in the time range shown: what the breaker kept from being tried in vain.',
    },
    orZero(
      share(
        sumBy([], rate(decisions, '$__range', { [ATTR.decision]: ['skip', 'pause'] })),
        sumBy([], rate(decisions, '$__range')),
      ),
    ),
    thresholds(),
  ).decimals(1);

const agents = () =>
  stat(
    {
      ...size,
      title: 'Agents using it',
      unit: 'none',
      description:
        'Agents that asked for what is chosen, in the time range shown: those that an outage of it concerns. The table below has their names.',
    },
    orZero(`count(${sumBy([ATTR.agent], rate(decisions, '$__range'))} > 0)`),
    thresholds(),
  ).dataLinks(dashboardLinks([fromSeries(UID.fleetOverview, 'Fleet overview')]));

const recovery = () =>
  stat(
    {
      ...size,
      title: 'Time to recovery',
      unit: 's',
      description:
        'Mean time for which a circuit stayed out: Σ (mean number of circuits open or half-open × time for which they were reported) ÷ (circuits that went from closed to open in the time range shown + those out when it began). An outage that begins or ends outside the range counts with what lies inside; a session that ends takes its circuits along.',
    },
    timeToRecovery([]),
    thresholds(),
  )
    // So that `$__interval`, by which it is measured how long an agent reported, is short.
    .maxDataPoints(1000)
    .mappings([zeroIs('no outage')]);

/** One glance: is it out, since when, with what error, and how much does it matter. */
export const nowRow = (): Row => ({
  title: 'Now',
  panels: [state(), since(), lastError(), failed(), skipped(), p95(), recovery(), agents()],
});
