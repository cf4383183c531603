import { AGENT } from '../../circuit-state.ts';
import { dashboardLinks, fromRow, fromSeries, UID } from '../../links.ts';
import { ATTR, label, legend, METRIC, type MetricDefinition } from '../../names.ts';
import { COLOUR } from '../../palette.ts';
import { bars, lines, type Row, sized } from '../../panels.ts';
import { gained, gainedAbout, highest, type Matchers, overall, series, sumBy } from '../../promql.ts';
import { AGENT_COLUMNS, HIDDEN_JOB, table, tight } from '../../table.ts';

/* What agents spend, and the limits of their runs (D7). Only agents that report spending, or that have limits, have these series. */

const ROWS = 50;
/** The fifth colour of Grafana's palette is a red. */
const LINES = 4;
const NO_SPENDING = 'No spending';
const NO_LIMITS = 'No limits';
const size = sized(8, 8, 'short');
const toAgent = dashboardLinks([fromSeries(UID.failureBudget, 'This agent alone', ...AGENT)]);

/** Not rounded, because money has fractions. The first value of a new process counts. */
const inLastHour = (metric: MetricDefinition): string => {
  const counter = series(metric);
  const born = `min_over_time(${counter}[1h]) unless last_over_time(${counter}[1h] offset 1h)`;
  return `(increase(${counter}[1h]) or label_replace(${born}, "born", "yes", "", ""))`;
};

const BY_CURRENCY = [...AGENT, ATTR.currency];

const tokensPerHour = highest(
  sumBy(AGENT, inLastHour(METRIC.spentTokens)),
  LINES,
  AGENT,
  sumBy(AGENT, overall(METRIC.spentTokens)),
);
const costPerHour = highest(
  sumBy(BY_CURRENCY, inLastHour(METRIC.spentCost)),
  LINES,
  BY_CURRENCY,
  sumBy(BY_CURRENCY, overall(METRIC.spentCost)),
);

const reached = (matchers: Matchers): string => sumBy(AGENT, gained(METRIC.limits, '$__range', matchers));
const paused = sumBy(AGENT, series(METRIC.sessions, { [ATTR.sessionState]: ['paused_limit'] }));
const spent = (metric: MetricDefinition): string => sumBy(AGENT, gained(metric, '$__range'));
/** Agents whose limits were reached come first, then those that use the most. */
const rank = `(${[
  `1e12 * ${sumBy(AGENT, gainedAbout(METRIC.limits, '$__range', { [ATTR.limitLevel]: ['reached'] }))}`,
  ...[METRIC.spentTokens, METRIC.spentCalls, METRIC.circles].map((one) => sumBy(AGENT, gainedAbout(one, '$__range'))),
].join(' or ')})`;
const inTable = (expr: string): string => highest(expr, ROWS, AGENT, rank);

const agents = () =>
  tight(
    table(
      {
        title: 'Spend and limits by agent in range',
        description: `What each agent used in the time range shown, and how often its runs came near a limit or reached one; at most ${ROWS} agents. Observed: reached, but the limit pauses nothing. Paused: sessions that a limit pauses now. Circles: how often a run began to make the same calls with the same results again and again. Calls are those of runs with limits or sub-agents.`,
        ...sized(24, 7, 'short'),
      },
      [
        {
          label: label(ATTR.agent),
          title: AGENT_COLUMNS[ATTR.agent],
          side: 'left',
          links: [fromRow(UID.failureBudget, 'This agent alone', AGENT_COLUMNS)],
        },
        HIDDEN_JOB,
      ],
      [
        { title: 'Reached', expr: inTable(reached({ [ATTR.limitLevel]: ['reached'] })), absent: '–', width: 90 },
        { title: 'Advised', expr: inTable(reached({ [ATTR.limitLevel]: ['advised'] })), absent: '–', width: 90 },
        { title: 'Observed', expr: inTable(reached({ [ATTR.limitLevel]: ['observed'] })), absent: '–', width: 95 },
        {
          title: 'Paused',
          expr: inTable(paused),
          absent: '–',
          alarm: { from: 1, colour: COLOUR.orange },
          width: 80,
        },
        { title: 'Circles', expr: inTable(spent(METRIC.circles)), absent: '–', width: 80 },
        { title: 'Tokens', expr: inTable(spent(METRIC.spentTokens)), absent: '–', width: 90 },
        { title: 'Calls', expr: inTable(spent(METRIC.spentCalls)), absent: '–', width: 90 },
      ],
      'Reached',
    ),
  ).noValue(NO_LIMITS);

/** Spend per agent and hour, and limits. */
export const spendRow = (): Row => ({
  title: 'Spend and limits',
  collapsed: true,
  panels: [
    agents(),
    lines(
      {
        ...size,
        title: 'Tokens per hour',
        description: `Tokens that an agent used in the hour before each point, as calls and models report them: the ${LINES} agents with the most in the time range shown.`,
      },
      { expr: tokensPerHour, legend: legend(ATTR.agent) },
    )
      .dataLinks(toAgent)
      .noValue(NO_SPENDING),
    lines(
      {
        ...size,
        title: 'Cost per hour',
        description: `Money that an agent used in the hour before each point, by currency: the ${LINES} agents with the most in the time range shown. Without a currency: no limit of money and no price of a model names one.`,
      },
      { expr: costPerHour, legend: legend(ATTR.agent, ATTR.currency) },
    )
      .decimals(2)
      .dataLinks(toAgent)
      .noValue(NO_SPENDING),
    bars(
      {
        ...size,
        title: 'Limits advised and reached',
        description:
          'Limits of runs that came to 80 %, and limits that were reached, by what they count. A limit counts again once it was extended. The events breakerbox.limit.reached name the sessions.',
      },
      {
        expr: `${sumBy([ATTR.limit, ATTR.limitLevel], gained(METRIC.limits, '$__rate_interval'))} > 0`,
        legend: legend(ATTR.limit, ATTR.limitLevel),
      },
    ).noValue(NO_LIMITS),
  ],
});
