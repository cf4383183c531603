import type { SessionState } from '@breakerbox/core';
import { barGauge } from '../../bar-gauge.ts';
import { budgetLeft, budgetUsed } from '../../budget.ts';
import { AGENT } from '../../circuit-state.ts';
import { dashboardLinks, fromRow, fromSeries, UID } from '../../links.ts';
import { ATTR, JOB, label, legend, METRIC } from '../../names.ts';
import { COLOUR, SESSION_COLOURS } from '../../palette.ts';
import { coloured, legendTableBeside, lines, type Row, sized, stacked, thresholds } from '../../panels.ts';
import { highest, series, sumBy } from '../../promql.ts';
import { either, recorded } from '../../recorded.ts';
import { type Grown, grown, rarely } from '../../recorded-forms.ts';
import { AGENT_COLUMNS, JOB_KEY, table, tight } from '../../table.ts';

const { sessions } = METRIC;
const ROWS = 100;
const LINES = 10;
const BARS = 12;
const NAMED = AGENT_COLUMNS;

const sessionsOf = (...states: readonly SessionState[]): string =>
  sumBy(AGENT, series(sessions, { [ATTR.sessionState]: states }));
const PAUSED = sessionsOf('paused_budget', 'paused_systemic', 'paused_limit');

/** Sorts by paused sessions first, then by the used share of the budget. */
const rank = `1000 * ${PAUSED} + (${budgetUsed(AGENT)} or ${PAUSED} * 0)`;
const inTable = (expr: string): string => highest(expr, ROWS, AGENT, rank);
/** Grafana sorts by paused sessions and keeps the order of the other rows, which the first query defines. */
const pausedFirst = `topk(${ROWS}, ${rank}) * 0 + ${PAUSED}`;
/** In the time range shown. Recorded growth has no value for agents without any. */
const counted = (title: string, key: Grown) =>
  ({ title, expr: inTable(`${grown(AGENT, key, '$__range')} or ${PAUSED} * 0`), decimals: 0, width: 85 }) as const;

const agents = () =>
  tight(
    table(
      {
        title: 'Budget by agent: now, and counts in range',
        description: `Sessions and failure budget of each agent; first agents with paused sessions, then those with the least budget left; at most ${ROWS} agents. Paused: for any reason. Systemic: paused because several tools failed together. Left: share of the failures that live sessions may have, now. Started, charged, fell low (to at most one failure left) and ran out cover the time range shown.`,
        ...sized(17, 9, 'none'),
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
          width: 80,
        },
        {
          title: 'Systemic',
          expr: inTable(sessionsOf('paused_systemic')),
          width: 85,
        },
        { title: 'Active', expr: inTable(sessionsOf('active')), width: 70 },
        { title: 'Left', expr: inTable(budgetLeft(AGENT)), unit: 'percentunit', decimals: 0, width: 65 },
        counted('Started', 'started'),
        counted('Charged', 'charged'),
        counted('Fell low', 'fellLow'),
        counted('Ran out', 'ranOut'),
      ],
      'Paused',
    ),
  );

const least = () =>
  barGauge(
    {
      title: 'Least budget left',
      description: `The share that is left now of the failures that live sessions may have: the ${BARS} agents with the least.`,
      ...sized(7, 9, 'percentunit'),
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
        ...sized(12, 8, 'none'),
      },
      {
        expr: either(
          'byTool',
          sumBy([ATTR.sessionState], recorded('sessionsByState')),
          sumBy([ATTR.sessionState], series(sessions)),
        ),
        legend: legend(ATTR.sessionState),
      },
    ),
    SESSION_COLOURS,
  );

const paused = () =>
  lines(
    {
      title: 'Sessions paused on budget, by agent',
      description: `Agents whose sessions wait for resume(), and since when: the ${LINES} agents with the most paused sessions. If it is one agent, see below what burns its budget. If there are many, look for what they share.`,
      ...sized(12, 8, 'none'),
    },
    {
      expr: rarely('paused', LINES, sessions, { [ATTR.sessionState]: ['paused_budget'] }),
      legend: legend(ATTR.agent, JOB),
    },
  )
    .legend(legendTableBeside())
    .dataLinks(dashboardLinks([fromSeries(UID.failureBudget, 'This agent alone', ...AGENT)]));

/** The budget left of each agent, and the paused sessions. */
export const sessionsRow = (): Row => ({
  title: 'Agents and sessions',
  panels: [agents(), least(), byState(), paused()],
});
