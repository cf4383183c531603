import { ATTR, legend, METRIC } from '../../names.ts';
import { AVAILABILITY_COLOURS, FRESHNESS_COLOURS } from '../../palette.ts';
import { bars, coloured, NONE, type Row } from '../../panels.ts';
import { gained, rate, sumBy } from '../../promql.ts';
import { orGroupNamed } from '../../zeros.ts';
import { degradations, whereCallsWent } from '../rejected-calls.ts';
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
          'Results that the agent received with a label: older than the task or taken from the last good result (stale), the same as last time (cached), unverified, or of unknown age. Fresh results have no label and do not count. Each result is drawn for one rate interval.',
        unit: 'none',
      },
      {
        expr: orGroupNamed(
          `${sumBy([ATTR.freshnessLabel], gained(freshness, '$__rate_interval'))} > 0`,
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
          'Answers of the pre-call checks of the selected tools. Degraded: the circuit opens one failure earlier. Unavailable: the tool is not called, which costs no budget. A check that throws or is late counts as available.',
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

/** What the agents did instead, its quality, and the answers of pre-call checks. */
export const fallbacksRow = (): Row => ({
  title: 'Fallbacks',
  panels: [whereCallsWent(third), degradations(third), tokensBy(ATTR.tool, third), notCurrent(), checks()],
});
