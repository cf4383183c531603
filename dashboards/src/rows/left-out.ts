import { ATTR, legend, METRIC } from '../names.ts';
import {
  AVAILABILITY_COLOURS,
  COLOUR,
  DEGRADATION_COLOURS,
  DISPOSITION_COLOURS,
  FRESHNESS_COLOURS,
  ROUTE_COLOURS,
} from '../palette.ts';
import { bars, coloured, lines, type Row } from '../panels.ts';
import { gained, type Matchers, orZero, orZeroNamed, rate, sumBy } from '../promql.ts';

const { freshness, prechecks, routes, tasks, tokensAvoided, tokensWasted } = METRIC;
const size = { width: 8, height: 8 } as const;

const whereCallsWent = () =>
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
        expr: orZeroNamed(`${sumBy([ATTR.route], rate(routes, '$__rate_interval'))} > 0`, ATTR.route, 'none'),
        legend: legend(ATTR.route),
      },
    ),
    ROUTE_COLOURS,
  );

const degradations = () => {
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
        expr: orZeroNamed(
          `${sumBy([ATTR.degradation], rate(routes, '$__rate_interval', byAlternative))} > 0`,
          ATTR.degradation,
          'none',
        ),
        legend: legend(ATTR.degradation),
      },
    ),
    DEGRADATION_COLOURS,
  );
};

const plannedTasks = () =>
  coloured(
    bars(
      {
        ...size,
        title: 'Tasks planned',
        description:
          'Tasks that agents planned with planScope(): achievable with the tools there are, alternatives among them, or deferred until a tool is back. Each one is drawn as long as the rate interval; a task that is planned again counts again.',
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

const notCurrent = () =>
  coloured(
    bars(
      {
        ...size,
        title: 'Results that may not be current',
        description:
          'Results that reached the agent with a label: older than its task or served from the last good one (stale), the same as last time (cached), unverified, or of unknown age. Fresh ones have no label and are not here.',
        unit: 'ops',
      },
      {
        expr: orZeroNamed(
          `${sumBy([ATTR.freshnessLabel], rate(freshness, '$__rate_interval'))} > 0`,
          ATTR.freshnessLabel,
          'none',
        ),
        legend: legend(ATTR.freshnessLabel),
      },
    ),
    FRESHNESS_COLOURS,
  );

const perMinute = (metric: typeof tokensWasted | typeof tokensAvoided): string =>
  orZero(`${sumBy([], rate(metric, '$__rate_interval'))} * 60`);

const tokens = () =>
  coloured(
    lines(
      {
        ...size,
        title: 'Tokens wasted and avoided per minute',
        description:
          "Wasted: spent on calls that failed. Avoided is an estimate: each skipped call taken for what the tool's failed calls cost on average. Both are 0 where nobody says what calls cost.",
        unit: 'short',
      },
      { expr: perMinute(tokensWasted), legend: 'wasted' },
      { expr: perMinute(tokensAvoided), legend: 'avoided (estimate)' },
    ),
    { wasted: COLOUR.orange, 'avoided (estimate)': COLOUR.green },
  );

const checks = () =>
  coloured(
    bars(
      {
        ...size,
        title: 'Pre-call checks by answer',
        description:
          'What pre-call checks said of their tools. Degraded: the circuit opens one failure earlier. Unavailable: the tool is not called, and that costs no budget. A check that throws or is late counts as available.',
        unit: 'ops',
      },
      {
        expr: orZeroNamed(
          `${sumBy([ATTR.availability], rate(prechecks, '$__rate_interval'))} > 0`,
          ATTR.availability,
          'none',
        ),
        legend: legend(ATTR.availability),
      },
    ),
    AVAILABILITY_COLOURS,
  );

/** What was not done as it was asked for, and what took its place. */
export const leftOutRow = (): Row => ({
  title: 'Left out',
  panels: [whereCallsWent(), degradations(), plannedTasks(), notCurrent(), tokens(), checks()],
});
