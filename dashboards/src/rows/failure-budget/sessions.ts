import type { SessionState } from '@breakerbox/core';
import { barGauge } from '../../bar-gauge.ts';
import { budgetLeft, budgetSpent } from '../../budget.ts';
import { AGENT } from '../../circuit-state.ts';
import { dashboardLinks, fromRow, fromSeries, UID } from '../../links.ts';
import { ATTR, JOB, label, legend, METRIC } from '../../names.ts';
import { COLOUR, SESSION_COLOURS } from '../../palette.ts';
import { coloured, legendTableBeside, lines, type Row, stacked, thresholds } from '../../panels.ts';
import { gained, highest, overall, series, share, sumBy } from '../../promql.ts';
import { AGENT_COLUMNS, JOB_KEY, table } from '../../table.ts';

const { budgetConsumed, budgetExhaustions, budgetGranted, sessions } = METRIC;
const ROWS = 100;
const LINES = 10;
const BARS = 12;
const NAMED = AGENT_COLUMNS;

const sessionsOf = (...states: readonly SessionState[]): string =>
  sumBy(AGENT, series(sessions, { [ATTR.sessionState]: states }));
const PAUSED = sessionsOf('paused_budget', 'paused_systemic');

/** Paused sessions before all, then what is used of the budget. */
const urgency = (used: string): string => `1000 * ${PAUSED} + (${used} or ${PAUSED} * 0)`;
/** Who has a row: from plain rates, for each column asks that, and in a small fleet it is everybody. */
const rank = urgency(share(sumBy(AGENT, overall(budgetConsumed)), sumBy(AGENT, overall(budgetGranted))));
const inTable = (expr: string): string => highest(expr, ROWS, AGENT, rank);
/** Grafana sorts by the paused ones and leaves the others as they come; the first query says how they come. */
const pausedFirst = `topk(${ROWS}, ${inTable(urgency(budgetSpent(AGENT, '$__range')))}) * 0 + ${PAUSED}`;

const agents = () =>
  table(
    {
      title: 'Budget by agent',
      description: `Sessions and failure budget of each agent, paused ones first, then those with the least left; at most ${ROWS} agents. Paused is for either reason, systemic those of them that several tools' failing together has stopped. Granted, charged, ran out and left are of the time range shown, left (1 h) of the last hour, which is the time nearest to now that says something: what is left of a session at this moment is in its own report.`,
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
      { title: 'Granted', expr: inTable(sumBy(AGENT, gained(budgetGranted, '$__range'))), decimals: 0, width: 100 },
      { title: 'Charged', expr: inTable(sumBy(AGENT, gained(budgetConsumed, '$__range'))), decimals: 0, width: 100 },
      { title: 'Ran out', expr: inTable(sumBy(AGENT, gained(budgetExhaustions, '$__range'))), decimals: 0, width: 100 },
      { title: 'Left', expr: inTable(budgetLeft(AGENT, '$__range')), unit: 'percentunit', decimals: 0, width: 75 },
      { title: 'Left (1 h)', expr: inTable(budgetLeft(AGENT, '1h')), unit: 'percentunit', decimals: 0, width: 105 },
    ],
    'Paused',
  );

const least = () =>
  barGauge(
    {
      title: 'Least budget left',
      description: `Of the failures granted in the time range shown, the share that is not used: the ${BARS} agents with the least.`,
      unit: 'percentunit',
      width: 7,
      height: 9,
    },
    {
      expr: `sort(bottomk(${BARS}, ${budgetLeft(AGENT, '$__range')}))`,
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
        description: 'Live sessions. What is paused stays paused until somebody resumes it, or it ends.',
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
