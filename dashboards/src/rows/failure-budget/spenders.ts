import { AGENT_TOOL } from '../../circuit-state.ts';
import { dashboardLinks, fromRow, fromSeries, UID } from '../../links.ts';
import { ATTR, label, legend, METRIC } from '../../names.ts';
import { CATEGORY_COLOURS, COLOUR } from '../../palette.ts';
import { bars, coloured, type Row, sized } from '../../panels.ts';
import { grew, highest, type Matchers, overall, sumBy } from '../../promql.ts';
import { either, recorded } from '../../recorded.ts';
import { FAILED_OF_TOOLS, grown } from '../../recorded-forms.ts';
import { AGENT_COLUMNS, AGENT_TOOL_COLUMNS, JOB_KEY, table } from '../../table.ts';
import { orZeroNamed } from '../../zeros.ts';
import { tracesOfTool } from '../spans.ts';

const { outcomes } = METRIC;
const FAILURE = { [ATTR.outcome]: ['failure'] } satisfies Matchers;
const CAUSE = [...AGENT_TOOL, ATTR.errorType] as const;
const TOOL = [ATTR.tool] as const;
const LINES = 10;
const ROWS = 50;
const NAMED = AGENT_TOOL_COLUMNS;
const DRAWN = 'Each failure is drawn for one rate interval.';
const CHARGES =
  'Only failures are charged. Failures of a tool that is switched off or only observes are not charged, and all failures of a systemic event cost one.';

const byTool = () =>
  bars(
    {
      title: 'Failures by tool',
      description: `The ${LINES} tools with the most failures. ${CHARGES} ${DRAWN} With All agents and the recording rules, each is drawn for 5 minutes. Failures before the first scrape of a process are in the table below only.`,
      ...sized(12, 8, 'none'),
    },
    {
      expr: orZeroNamed(
        either(
          'byTool',
          highest(
            `round(${FAILED_OF_TOOLS}) > 0`,
            LINES,
            TOOL,
            `sum by (${label(ATTR.tool)}) (avg_over_time(${recorded('outcomesOfTool', FAILURE)}[$__range] @ end()))`,
          ),
          highest(`${sumBy(TOOL, grew(outcomes, FAILURE))} > 0`, LINES, TOOL, sumBy(TOOL, overall(outcomes, FAILURE))),
        ),
        ATTR.tool,
        'none',
      ),
      legend: legend(ATTR.tool),
    },
  ).dataLinks(dashboardLinks([fromSeries(UID.toolDetail, 'Tool detail', ATTR.tool)]));

const byCategory = () =>
  coloured(
    bars(
      {
        title: 'Failures by error category',
        description: `The error categories of the failures. ${CHARGES} ${DRAWN}`,
        ...sized(12, 8, 'none'),
      },
      {
        expr: orZeroNamed(
          `${grown([ATTR.errorType], 'errors', '$__rate_interval', FAILURE)} > 0`,
          ATTR.errorType,
          'none',
        ),
        legend: legend(ATTR.errorType),
      },
    ),
    CATEGORY_COLOURS,
  );

/** Failures by agent, tool and error category, for a dashboard that says in `why` what they tell. */
export const failuresTable = (title: string, why: string, size = sized(24, 8, 'none')) =>
  table(
    {
      title,
      description: `Failures in the time range shown by agent, tool and error category: the ${ROWS} with the most. The bars are relative to the first row. ${why}`,
      ...size,
    },
    [
      {
        label: label(ATTR.agent),
        title: NAMED[ATTR.agent],
        side: 'left',
        links: [fromRow(UID.failureBudget, 'Failure budget of the agent', AGENT_COLUMNS)],
      },
      {
        label: label(ATTR.tool),
        title: NAMED[ATTR.tool],
        side: 'left',
        links: [fromRow(UID.toolDetail, 'Tool detail', NAMED), ...tracesOfTool(NAMED)],
      },
      JOB_KEY,
      { label: label(ATTR.errorType), title: 'Error category', side: 'left' },
    ],
    [
      {
        title: 'Failures',
        // Not in a column with links, which would lead to dashboards of nothing.
        expr: orZeroNamed(`topk(${ROWS}, ${grown(CAUSE, 'errors', '$__range', FAILURE)} > 0)`, ATTR.errorType, 'none'),
        decimals: 0,
        bar: COLOUR.orange,
      },
    ],
    'Failures',
  );

/** What uses up the budget. */
export const spendersRow = (): Row => ({
  title: 'What burns it',
  panels: [byTool(), byCategory(), failuresTable('What burns the budget in range', CHARGES)],
});
