import type { SessionState } from '@breakerbox/core';
import { barGauge } from '../../bar-gauge.ts';
import { budgetLeft, budgetUsed } from '../../budget.ts';
import { AGENT } from '../../circuit-state.ts';
import { dashboardLinks, fromRow, fromSeries, UID } from '../../links.ts';
import { ATTR, JOB, label, legend, METRIC, type MetricDefinition } from '../../names.ts';
import { COLOUR, SESSION_COLOURS } from '../../palette.ts';
import { coloured, legendTableBeside, lines, type Row, stacked, thresholds } from '../../panels.ts';
import { gained, highest, series, sumBy } from '../../promql.ts';
import { AGENT_COLUMNS, JOB_KEY, table } from '../../table.ts';

const { budgetConsumed, budgetExhaustions, budgetLow, sessions, sessionsStarted } = METRIC;
const ROWS = 100;
const LINES = 10;
const BARS = 12;
const NAMED = AGENT_COLUMNS;

const sessionsOf = (...states: readonly SessionState[]): string =>
  sumBy(AGENT, series(sessions, { [ATTR.sessionState]: states }));
const PAUSED = sessionsOf('paused_budget', 'paused_systemic');

/** Paused sessions before all, then what is used of the budget. */
const rank = `1000 * ${PAUSED} + (${budgetUsed(AGENT)} or ${PAUSED} * 0)`;
const inTable = (expr: string): string => highest(expr, ROWS, AGENT, rank);
/** Grafana sorts by the paused ones and leaves the others as they come; the first query says how they come. */
const pausedFirst = `topk(${ROWS}, ${rank}) * 0 + ${PAUSED}`;
/** Of the time range shown. */
const counted = (title: string, metric: MetricDefinition) =>
  ({ title, expr: inTable(sumBy(AGENT, gained(metric, '$__range'))), decimals: 0, width: 95 }) as const;

const agents = () =>
  table(
    {
      title: 'Budget by agent',
      description: `Sessions and failure budget of each agent, paused ones first, then those with the least left; at most ${ROWS} agents. Paused is for either reason, systemic those of them that several tools' failing together has stopped. Left is of what the live sessions may fail in, now. Started, charged, fell low (to one failure left or none) and ran out are of the time range shown.`,
      unit: 'none',
      width: 17,
      height: 9,
    },
    [
      {
        label: label(ATTR.agent),
        title: NAMED[ATTR.agent],
        side: 'left',
        links: [
          fromRow(UID.failureBudget, 'This agent alone', NAMED),
          fromRow(UID.toolDetail, 'Tools of the agent', NAMED),
          fromRow(UID.correlatedFailures, 'Correlated failures of the agent', NAMED),
        ],
      },
      JOB_KEY,
    ],
    [
      {
        title: 'Paused',
        expr: pausedFirst,
        alarm: { from: 1, colour: COLOUR.vermilion },
        width: 90,
      },
      {
        title: 'Systemic',
        expr: inTable(sessionsOf('paused_systemic')),
        width: 100,
      },
      { title: 'Active', expr: inTable(sessionsOf('active')), width: 85 },
      { title: 'Left', expr: inTable(budgetLeft(AGENT)), unit: 'percentunit', decimals: 0, width: 75 },
      counted('Started', sessionsStarted),
      counted('Charged', budgetConsumed),
      counted('Fell low', budgetLow),
      counted('Ran out', budgetExhaustions),
    ],
    'Paused',
  );

const least = () =>
  barGauge(
    {
      title: 'Least budget left',
      description: `Of the failures that live sessions may have, the share that is left now: the ${BARS} agents with the least.`,
      unit: 'percentunit',
      width: 7,
      height: 9,
    },
    {
      expr: `sort(bottomk(${BARS}, ${budgetLeft(AGENT)}))`,
      legend: legend(ATTR.agent),
    },
    thresholds([0, COLOUR.orange], [0.1, COLOUR.yellow], [0.25, COLOUR.green]),
    1,
  )
    .decimals(0)
    .dataLinks(dashboardLinks([fromSeries(UID.failureBudget, 'This agent alone', ...AGENT)]));

const byState = () =>
  coloured(
    stacked(
      {
        title: 'Sessions by state',
        description: 'Live sessions. A paused session stays paused until it is resumed or ends.',
        unit: 'none',
        width: 12,
        height: 8,
      },
      { expr: sumBy([ATTR.sessionState], series(sessions)), legend: legend(ATTR.sessionState) },
    ),
    SESSION_COLOURS,
  );

const paused = () =>
  lines(
    {
      title: 'Sessions paused on budget, by agent',
      description: `Who waits for resume(), and for how long already: the ${LINES} agents with the most paused sessions. One agent: see what burns its budget below. Many: look for what they share.`,
      unit: 'none',
      width: 12,
      height: 8,
    },
    {
      expr: highest(
        sessionsOf('paused_budget'),
        LINES,
        AGENT,
        sumBy(
          AGENT,
          `avg_over_time(${series(sessions, { [ATTR.sessionState]: ['paused_budget'] })}[$__range] @ end())`,
        ),
      ),
      legend: legend(ATTR.agent, JOB),
    },
  )
    .legend(legendTableBeside())
    .dataLinks(dashboardLinks([fromSeries(UID.failureBudget, 'This agent alone', ...AGENT)]));

/** Who has how much left, and who waits. */
export const sessionsRow = (): Row => ({
  title: 'Agents and sessions',
  panels: [agents(), least(), byState(), paused()],
});
