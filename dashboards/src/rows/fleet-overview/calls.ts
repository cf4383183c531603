import { dashboardLinks, fromSeries, UID } from '../../links.ts';
import { ATTR, legend, METRIC } from '../../names.ts';
import { COLOUR, DECISION_COLOURS, REASON_COLOURS } from '../../palette.ts';
import {
  bars,
  coloured,
  legendBeside,
  lines,
  SHORTEST_STEP,
  stacked,
  thresholdLines,
  thresholds,
} from '../../panels.ts';
import { highest, type Matchers, orZeroNamed, overall, rate, share, sumBy, type Window } from '../../promql.ts';

const { decisions, outcomes } = METRIC;
const TOOL = [ATTR.tool] as const;
const TOOLS_IN_GRAPH = 5;
const FAILURE = { [ATTR.outcome]: ['failure'] } satisfies Matchers;
const size = { width: 8, height: 6 } as const;

/** What the agents were told before their tool calls. */
export const decisionsByKind = () =>
  coloured(
    stacked(
      {
        ...size,
        title: 'Decisions by kind',
        description:
          'Before each tool call: call it, probe whether it is back, skip this tool, or pause the session. Skips are the breaker at work; pauses wait for a person.',
        unit: 'ops',
      },
      { expr: sumBy([ATTR.decision], rate(decisions, '$__rate_interval')), legend: legend(ATTR.decision) },
    ),
    DECISION_COLOURS,
  )
    .legend(legendBeside())
    .interval(SHORTEST_STEP);

const failureShare = (window: Window): string =>
  share(sumBy(TOOL, rate(outcomes, window, FAILURE)), sumBy(TOOL, rate(outcomes, window)));

/** @param limit share from which an alert is due */
export const failureRates = (limit: number) =>
  lines(
    {
      ...size,
      title: 'Failure rate by tool',
      description: `Failed calls over calls that were run; 0 while nothing runs. The ${TOOLS_IN_GRAPH} tools with the highest rate over the time range shown. A tool that stays over the line, and whose circuit doesn't open, is what the alert on error rates is for.`,
      unit: 'percentunit',
    },
    {
      expr: highest(
        failureShare('$__rate_interval'),
        TOOLS_IN_GRAPH,
        TOOL,
        share(sumBy(TOOL, overall(outcomes, FAILURE)), sumBy(TOOL, overall(outcomes))),
      ),
      legend: legend(ATTR.tool),
    },
  )
    .max(1)
    .legend(legendBeside())
    .interval(SHORTEST_STEP)
    .thresholds(thresholds([limit, COLOUR.orange]))
    .thresholdsStyle(thresholdLines())
    .dataLinks(dashboardLinks([fromSeries(UID.toolDetail, 'Tool detail', ATTR.tool)]));

/** Skips and pauses. */
export const whyNotMade = () =>
  coloured(
    bars(
      {
        ...size,
        title: 'Why calls were not made',
        description:
          'Skips and pauses by reason. The budget and a systemic event stop all tools of a session, healthy ones too. With unavailable (says a pre-call check), not_allowed (not on the list of tools) and repeat (the model is stuck) the circuit stays as it is.',
        unit: 'ops',
      },
      {
        expr: orZeroNamed(
          `${sumBy([ATTR.reason], rate(decisions, '$__rate_interval', { [ATTR.decision]: ['skip', 'pause'] }))} > 0`,
          ATTR.reason,
          'none',
        ),
        legend: legend(ATTR.reason),
      },
    ),
    REASON_COLOURS,
  )
    .legend(legendBeside())
    .interval(SHORTEST_STEP);
