import { ATTR, legend, METRIC } from '../names.ts';
import { lines, type PanelSource, type Row } from '../panels.ts';
import { highest, orZeroNamed, overall, quantile, sumBy } from '../promql.ts';

const TOOL = [ATTR.tool] as const;
const TOOLS_IN_GRAPH = 10;

const percentile = (percent: number, meaning: string): PanelSource =>
  lines(
    {
      title: `Tool duration, p${percent}`,
      description: `${meaning} Executed calls alone: skipped ones take no time. The ${TOOLS_IN_GRAPH} tools on which most time is spent; the highest bucket ends at 81.92 s.`,
      unit: 's',
      width: 8,
      height: 9,
    },
    {
      expr: orZeroNamed(
        highest(
          quantile(percent / 100, METRIC.duration, TOOL),
          TOOLS_IN_GRAPH,
          TOOL,
          sumBy(TOOL, overall(METRIC.duration, {}, '_sum')),
        ),
        ATTR.tool,
        'no calls',
      ),
      legend: legend(ATTR.tool),
    },
  );

/** How long tools take, failed calls too. */
export const latencyRow = (): Row => ({
  title: 'Latency',
  panels: [
    percentile(50, 'Half of the calls took no longer.'),
    percentile(95, 'One call in twenty took longer; a rise here often comes before the timeouts.'),
    percentile(99, 'One call in a hundred took longer.'),
  ],
});
