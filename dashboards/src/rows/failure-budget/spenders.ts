import { AGENT_TOOL } from '../../circuit-state.ts';
import { dashboardLinks, fromRow, fromSeries, UID } from '../../links.ts';
import { ATTR, label, legend, METRIC } from '../../names.ts';
import { CATEGORY_COLOURS, COLOUR } from '../../palette.ts';
import { bars, coloured, type Row } from '../../panels.ts';
import { gained, highest, type Matchers, orZeroNamed, overall, sumBy } from '../../promql.ts';
import { table } from '../../table.ts';

const { outcomes } = METRIC;
const FAILURE = { [ATTR.outcome]: ['failure'] } satisfies Matchers;
const CAUSE = [...AGENT_TOOL, ATTR.errorType] as const;
const TOOL = [ATTR.tool] as const;
const LINES = 10;
const ROWS = 50;
const NAMED = { [ATTR.agent]: 'Agent', [ATTR.tool]: 'Tool' } as const;
const CHARGES =
  'Failures alone are charged; those of a tool that is switched off or only observed are not, and all of a systemic event cost one.';

const byTool = () =>
  bars(
    {
      title: 'Failures by tool',
      description: `Which tools the failures came from, of the ${LINES} with the most. ${CHARGES} Each one is drawn as long as the rate interval.`,
      unit: 'none',
      width: 12,
      height: 8,
    },
    {
      expr: orZeroNamed(
        highest(
          `${sumBy(TOOL, gained(outcomes, '$__rate_interval', FAILURE))} > 0`,
          LINES,
          TOOL,
          sumBy(TOOL, overall(outcomes, FAILURE)),
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
        description: `What kind of failures they were. ${CHARGES} Each one is drawn as long as the rate interval.`,
        unit: 'none',
        width: 12,
        height: 8,
      },
      {
        expr: orZeroNamed(
          `${sumBy([ATTR.errorType], gained(outcomes, '$__rate_interval', FAILURE))} > 0`,
          ATTR.errorType,
          'none',
        ),
        legend: legend(ATTR.errorType),
      },
    ),
    CATEGORY_COLOURS,
  );

const causes = () => {
  const failures = sumBy(CAUSE, gained(outcomes, '$__range', FAILURE));
  const all = sumBy([], gained(outcomes, '$__range', FAILURE));
  return table(
    {
      title: 'What burns the budget',
      description: `Failures in the time range shown by agent, tool and error category: the ${ROWS} with the most. ${CHARGES}`,
      unit: 'none',
      width: 24,
      height: 8,
    },
    [
      {
        label: label(ATTR.agent),
        title: NAMED[ATTR.agent],
        side: 'left',
        links: [fromRow(UID.failureBudget, 'This agent alone', { [ATTR.agent]: 'Agent' })],
      },
      {
        label: label(ATTR.tool),
        title: NAMED[ATTR.tool],
        side: 'left',
        links: [fromRow(UID.toolDetail, 'Tool detail', NAMED)],
      },
      { label: label(ATTR.errorType), title: 'Error category', side: 'left' },
    ],
    [
      {
        title: 'Failures',
        expr: orZeroNamed(`topk(${ROWS}, ${failures} > 0)`, ATTR.agent, 'none'),
        decimals: 0,
        width: 110,
      },
      {
        title: 'Of all failures',
        expr: orZeroNamed(
          `topk(${ROWS}, ${failures} > 0) * on () group_left () ((${all} > 0) ^ -1)`,
          ATTR.agent,
          'none',
        ),
        unit: 'percentunit',
        decimals: 0,
        gauge: COLOUR.orange,
      },
    ],
    'Failures',
  );
};

/** Where it goes. */
export const spendersRow = (): Row => ({
  title: 'What burns it',
  panels: [byTool(), byCategory(), causes()],
});
