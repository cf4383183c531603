import { dashboardLinks, fromSeries, UID } from '../../links.ts';
import { ATTR, legend } from '../../names.ts';
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
import { failedOverall, highest } from '../../promql.ts';
import { either } from '../../recorded.ts';
import { decisionRate, failedOfToolsOverall, notRunRate, toolsFailed } from '../../recorded-forms.ts';
import { orZeroNamed } from '../../zeros.ts';

const TOOL = [ATTR.tool] as const;
/** The fifth colour of Grafana's palette is a red, which would suggest that a person must act. */
const TOOLS_IN_GRAPH = 4;
const size = { width: 8, height: 4 } as const;

/** The decisions before tool calls. */
export const decisionsByKind = () =>
  coloured(
    stacked(
      {
        ...size,
        title: 'Decisions by kind',
        description:
          'The decision before each tool call: call it, probe whether it works again, skip it, or pause the session. Skips are normal work of the breaker. Pauses wait for a person.',
        unit: 'ops',
      },
      { expr: decisionRate([ATTR.decision]), legend: legend(ATTR.decision) },
    ),
    DECISION_COLOURS,
  )
    .legend(legendBeside())
    .maxDataPoints(EVENT_POINTS);

/** @param limit the share from which an alert fires */
export const failureRates = (limit: number) =>
  lines(
    {
      ...size,
      title: 'Failure rate by tool',
      description: `Failures divided by calls that succeeded or failed, without ignored outcomes; 0 without calls. The ${TOOLS_IN_GRAPH} tools with the highest rate in the time range shown. The alert on error rates fires for a tool that stays above the line while its circuit does not open.`,
      unit: 'percentunit',
    },
    {
      expr: highest(
        toolsFailed(TOOL, '$__rate_interval'),
        TOOLS_IN_GRAPH,
        TOOL,
        either('byTool', failedOfToolsOverall(TOOL), failedOverall(TOOL)),
      ),
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
          'Skips and pauses by reason. An exhausted budget stops all tools of a session, also healthy ones. A systemic event does the same, but in scope process it only skips the affected tools. group_open: the circuit of the group that the tool is in. key_open: the circuit of the key that the call uses, such as one host. unavailable (a pre-call check says so), not_allowed (not on the list of tools) and repeat (the model repeats itself) do not change the circuit.',
        unit: 'ops',
      },
      {
        expr: orZeroNamed(`${notRunRate([ATTR.reason])} > 0`, ATTR.reason, NONE),
        legend: legend(ATTR.reason),
      },
    ),
    REASON_COLOURS,
  )
    .legend(legendBeside())
    .maxDataPoints(EVENT_POINTS);
