import type { RuleSettings } from '../../limits.ts';
import { dashboardLinks, tracesLink } from '../../links.ts';
import { ATTR, legend } from '../../names.ts';
import { CATEGORY_COLOURS, COLOUR, DECISION_COLOURS, OUTCOME_COLOURS, REASON_COLOURS } from '../../palette.ts';
import {
  bars,
  coloured,
  EVENT_POINTS,
  legendOfNames,
  lines,
  NONE,
  type Row,
  stacked,
  thresholdLines,
  thresholds,
} from '../../panels.ts';
import type { Window } from '../../promql.ts';
import { decisionRate, grown, notRunByReason, outcomeRate, toolsFailed } from '../../recorded-forms.ts';
import { orGroupNamed, orZero } from '../../zeros.ts';
import { SPANS } from '../spans.ts';

const half = { width: 12, height: 8, unit: 'ops' } as const;
const third = { width: 8, height: 8, unit: 'ops' } as const;
/** Counts, not a rate: the series appears with its first event, which a rate would miss. */
const COUNTED = 'Each is drawn for one rate interval.';

const decided = () =>
  coloured(
    stacked(
      {
        ...half,
        title: 'Decisions',
        description:
          'The decisions on calls of the selected tools: call it, probe whether it works again, skip it, or pause the session. Skips are normal work of the breaker. Pauses wait for a person, and other tools may have caused them. Only tools have decisions, not groups.',
      },
      {
        expr: orGroupNamed(decisionRate([ATTR.decision]), ATTR.decision, NONE),
        legend: legend(ATTR.decision),
      },
    ),
    DECISION_COLOURS,
  );

const reasons = () =>
  coloured(
    bars(
      {
        ...half,
        unit: 'none',
        title: 'Why calls were not run',
        description: `Skips and pauses by reason. ${COUNTED} With All agents and the recording rules, each is drawn for 5 minutes. open and probe_in_flight: the circuit of the tool. group_open: the circuit of its group; select it by its name, group:NAME. key_open: the circuit of the key that the call uses, such as one host; other keys continue. unavailable (a pre-call check says so), not_allowed (not on the list of tools) and repeat (the model repeats itself) do not change the circuit. budget_exhausted and systemic stop all tools of a session; in scope process, systemic only skips the affected tools.`,
      },
      {
        expr: orGroupNamed(`${notRunByReason()} > 0`, ATTR.reason, NONE),
        legend: legend(ATTR.reason),
      },
    ),
    REASON_COLOURS,
  ).links(dashboardLinks([tracesLink('Traces of skips and pauses', SPANS.notRun)]));

const cameOf = () =>
  coloured(
    stacked(
      {
        ...third,
        title: 'Outcomes',
        description:
          'Outcomes of the executed calls, including probes. Failures count for the circuit and the budget. Ignored outcomes, such as wrong arguments, a denied call or a business error, count for neither.',
      },
      {
        expr: orGroupNamed(outcomeRate([ATTR.outcome]), ATTR.outcome, NONE),
        legend: legend(ATTR.outcome),
      },
    ),
    OUTCOME_COLOURS,
  );

const categories = () =>
  coloured(
    bars(
      {
        ...third,
        unit: 'none',
        title: 'Error categories',
        description: `Calls that did not succeed, by category. ${COUNTED} Grey categories are ignored by default: the model or the user caused them, and they are not outages.`,
      },
      {
        expr: orGroupNamed(`${grown([ATTR.errorType], 'errors', '$__rate_interval')} > 0`, ATTR.errorType, NONE),
        legend: legend(ATTR.errorType),
      },
    ),
    CATEGORY_COLOURS,
  ).links(dashboardLinks([tracesLink('Traces of failed calls', SPANS.failed)]));

const failedOver = (window: Window): string => orZero(toolsFailed([], window));

const failureRate = (limit: number) =>
  coloured(
    lines(
      {
        ...third,
        title: 'Failure rate',
        description:
          'Failures divided by executed calls, without ignored outcomes, in the 5 minutes and in the hour before each point. BreakerboxToolErrorRateHigh fires for a tool of an agent while both are above the line, unless its circuit is open. The lines combine all selected agents and tools. A group has no calls of its own.',
        unit: 'percentunit',
      },
      { expr: failedOver('5m'), legend: '5 min' },
      { expr: failedOver('1h'), legend: '1 h' },
    ),
    { '5 min': COLOUR.sky, '1 h': COLOUR.blue },
  )
    .max(1)
    .maxDataPoints(EVENT_POINTS)
    .thresholds(thresholds([limit, COLOUR.orange]))
    .thresholdsStyle(thresholdLines())
    .legend(legendOfNames())
    .links(dashboardLinks([tracesLink('Traces of failed calls', SPANS.failed)]));

/** The decisions before the calls, and the outcomes. */
export const callsRow = ({ errorRatio }: RuleSettings): Row => ({
  title: 'Calls',
  panels: [decided(), reasons(), cameOf(), categories(), failureRate(errorRatio)],
});
