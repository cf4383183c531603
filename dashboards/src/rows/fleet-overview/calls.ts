import { dashboardLinks, fromSeries, UID } from '../../links.ts';
import { ATTR, legend, METRIC } from '../../names.ts';
import { COLOUR, DECISION_COLOURS, REASON_COLOURS } from '../../palette.ts';
import {
  bars,
  coloured,
  EVENT_POINTS,
  legendBeside,
  lines,
  NONE,
  stacked,
  thresholdLines,
  thresholds,
} from '../../panels.ts';
import { failedOverall, failedShare, highest, notRun, orZeroNamed, rate, sumBy } from '../../promql.ts';

const { decisions } = METRIC;
const TOOL = [ATTR.tool] as const;
/** The fifth colour of Grafana's palette is a red, which would say that somebody has to act. */
const TOOLS_IN_GRAPH = 4;
const size = { width: 8, height: 5 } as const;

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
    .maxDataPoints(EVENT_POINTS);

/** @param limit share from which an alert is due */
export const failureRates = (limit: number) =>
  lines(
    {
      ...size,
      title: 'Failure rate by tool',
      description: `Failures over calls that succeeded or failed; 0 while nothing runs, and what was ignored says nothing of the tool. The ${TOOLS_IN_GRAPH} tools with the highest rate over the time range shown. A tool that stays over the line, and whose circuit doesn't open, is what the alert on error rates is for.`,
      unit: 'percentunit',
    },
    {
      expr: highest(failedShare(TOOL, '$__rate_interval'), TOOLS_IN_GRAPH, TOOL, failedOverall(TOOL)),
      legend: legend(ATTR.tool),
    },
  )
    .max(1)
    .legend(legendBeside())
    .maxDataPoints(EVENT_POINTS)
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
          'Skips and pauses by reason. The budget stops all tools of a session, healthy ones too, and so does a systemic event; in scope process that one skips the affected tools alone. group_open: the circuit of the group that the tool is in. key_open: the circuit of the key that the call names, such as one host. With unavailable (says a pre-call check), not_allowed (not on the list of tools) and repeat (the model is stuck) the circuit stays as it is.',
        unit: 'ops',
      },
      {
        expr: orZeroNamed(`${sumBy([ATTR.reason], notRun('$__rate_interval'))} > 0`, ATTR.reason, NONE),
        legend: legend(ATTR.reason),
      },
    ),
    REASON_COLOURS,
  )
    .legend(legendBeside())
    .maxDataPoints(EVENT_POINTS);
