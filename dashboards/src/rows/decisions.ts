import { ATTR, legend, METRIC } from '../names.ts';
import { DECISION_COLOURS } from '../palette.ts';
import { bars, coloured, type Row, stacked } from '../panels.ts';
import { orZeroNamed, rate, sumBy } from '../promql.ts';

/** What the agents were told before their tool calls. */
export const decisionsRow = (): Row => ({
  title: 'Decisions',
  panels: [
    coloured(
      stacked(
        {
          title: 'Decisions by kind',
          description:
            'Before each tool call: call it, probe whether it is back, skip this tool, or pause the session. Skips are the breaker at work; pauses wait for a person.',
          unit: 'ops',
          width: 12,
          height: 8,
        },
        {
          expr: sumBy([ATTR.decision], rate(METRIC.decisions, '$__rate_interval')),
          legend: legend(ATTR.decision),
        },
      ),
      DECISION_COLOURS,
    ),
    bars(
      {
        title: 'Why calls were not made',
        description:
          'Skips and pauses by reason. The budget and a systemic event stop all tools of a session, healthy ones too. With unavailable (says a pre-call check), not_allowed (not on the list of tools) and repeat (the model is stuck) the circuit stays as it is.',
        unit: 'ops',
        width: 12,
        height: 8,
      },
      {
        expr: orZeroNamed(
          `${sumBy([ATTR.reason], rate(METRIC.decisions, '$__rate_interval', { [ATTR.decision]: ['skip', 'pause'] }))} > 0`,
          ATTR.reason,
          'none',
        ),
        legend: legend(ATTR.reason),
      },
    ),
  ],
});
