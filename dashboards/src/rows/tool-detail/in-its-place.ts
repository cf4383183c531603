import { ATTR, legend, METRIC } from '../../names.ts';
import { AVAILABILITY_COLOURS, FRESHNESS_COLOURS } from '../../palette.ts';
import { bars, coloured, NONE, type Row } from '../../panels.ts';
import { orGroupNamed, rate, sumBy } from '../../promql.ts';
import { degradations, whereCallsWent } from '../held-up.ts';
import { tokensBy } from '../tokens.ts';

const { freshness, prechecks } = METRIC;
const third = { width: 8, height: 8 } as const;
const half = { width: 12, height: 8 } as const;

const notCurrent = () =>
  coloured(
    bars(
      {
        ...half,
        title: 'Results that may not be current',
        description:
          'Results that reached the agent with a label: older than its task or served from the last good one (stale), the same as last time (cached), unverified, or of unknown age. Fresh ones have no label and are not here.',
        unit: 'ops',
      },
      {
        expr: orGroupNamed(
          `${sumBy([ATTR.freshnessLabel], rate(freshness, '$__rate_interval'))} > 0`,
          ATTR.freshnessLabel,
          NONE,
        ),
        legend: legend(ATTR.freshnessLabel),
      },
    ),
    FRESHNESS_COLOURS,
  );

const checks = () =>
  coloured(
    bars(
      {
        ...half,
        title: 'Pre-call checks by answer',
        description:
          'What pre-call checks said of what is chosen. Degraded: the circuit opens one failure earlier. Unavailable: the tool is not called, and that costs no budget. A check that throws or is late counts as available.',
        unit: 'ops',
      },
      {
        expr: orGroupNamed(
          `${sumBy([ATTR.availability], rate(prechecks, '$__rate_interval'))} > 0`,
          ATTR.availability,
          NONE,
        ),
        legend: legend(ATTR.availability),
      },
    ),
    AVAILABILITY_COLOURS,
  );

/** What the agents did instead, what that was worth, and what was known beforehand. */
export const inItsPlaceRow = (): Row => ({
  title: 'In its place',
  panels: [whereCallsWent(third), degradations(third), tokensBy(ATTR.tool, third), notCurrent(), checks()],
});
