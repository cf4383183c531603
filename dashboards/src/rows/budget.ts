import type { SessionState } from '@breakerbox/core';
import { ATTR, type AttributeKey, label, legend, METRIC } from '../names.ts';
import { COLOUR, SESSION_COLOURS } from '../palette.ts';
import { coloured, lines, type Row, stacked, thresholds } from '../panels.ts';
import { gained, highest, orZero, overall, rate, series, share, sumBy, type Window } from '../promql.ts';
import { table } from '../table.ts';

const { budgetConsumed, budgetExhaustions, budgetGranted, sessions } = METRIC;
const AGENT = [ATTR.agent] as const;
const AGENTS_IN_TABLE = 100;
const AGENTS_IN_GRAPH = 10;

/**
 * Failures charged, over failures granted, in the window. Where nothing was granted in it, as with sessions that have
 * been running for longer, what they ever were granted takes its place.
 */
export const budgetSpent = (by: readonly AttributeKey[], window: Window): string => {
  const granted = `(${sumBy(by, gained(budgetGranted, window))} > 0 or ${sumBy(by, `last_over_time(${series(budgetGranted)}[${window}])`)})`;
  return share(sumBy(by, gained(budgetConsumed, window)), granted);
};

const sessionsOf = (state: SessionState): string => sumBy(AGENT, series(sessions, { [ATTR.sessionState]: [state] }));

const inTable = (expr: string): string =>
  highest(
    expr,
    AGENTS_IN_TABLE,
    AGENT,
    sumBy(AGENT, series(sessions, { [ATTR.sessionState]: ['paused_budget', 'paused_systemic'] })),
  );

const agents = () =>
  table(
    {
      title: 'Agents',
      description: `Sessions and failure budget of each agent, paused ones first; at most ${AGENTS_IN_TABLE} agents. Budget and exhaustions are of the time range shown.`,
      unit: 'none',
      width: 12,
      height: 8,
    },
    [{ label: label(ATTR.agent), title: 'Agent', side: 'left' }],
    [
      { title: 'On budget', expr: inTable(sessionsOf('paused_budget')), alarm: { from: 1, colour: COLOUR.vermilion } },
      { title: 'Systemic', expr: inTable(sessionsOf('paused_systemic')), alarm: { from: 1, colour: COLOUR.vermilion } },
      { title: 'Active', expr: inTable(sessionsOf('active')) },
      { title: 'Exhausted', expr: inTable(sumBy(AGENT, gained(budgetExhaustions, '$__range'))), decimals: 0 },
      {
        title: 'Budget used',
        expr: inTable(budgetSpent(AGENT, '$__range')),
        unit: 'percentunit',
        gauge: COLOUR.orange,
        decimals: 0,
      },
    ],
    'On budget',
  );

/** Who is paused, and how fast failures are spent. */
export const budgetRow = (): Row => ({
  title: 'Failure budget and sessions',
  panels: [
    agents(),
    coloured(
      stacked(
        {
          title: 'Sessions by state',
          description: 'Live sessions. What is paused stays paused until somebody resumes it.',
          unit: 'none',
          width: 12,
          height: 8,
        },
        { expr: sumBy([ATTR.sessionState], series(sessions)), legend: legend(ATTR.sessionState) },
      ),
      SESSION_COLOURS,
    ),
    coloured(
      lines(
        {
          title: 'Failures granted and charged per minute',
          description:
            'Each session is granted a number of failures per cycle, and each failed call is charged once. Charged close to granted means sessions that pause.',
          unit: 'none',
          width: 12,
          height: 8,
        },
        { expr: `${sumBy([], rate(budgetGranted, '$__rate_interval'))} * 60`, legend: 'granted' },
        { expr: `${sumBy([], rate(budgetConsumed, '$__rate_interval'))} * 60`, legend: 'charged' },
        {
          expr: orZero(`${sumBy([], rate(budgetExhaustions, '$__rate_interval'))} * 60`),
          legend: 'exhausted sessions',
        },
      ),
      { granted: COLOUR.green, charged: COLOUR.orange, 'exhausted sessions': COLOUR.vermilion },
    ),
    lines(
      {
        title: 'Budget burn by agent, over the last hour',
        description: `Failures charged over failures granted in the hour before each point; 100 % is all of it. The ${AGENTS_IN_GRAPH} agents that were charged most.`,
        unit: 'percentunit',
        width: 12,
        height: 8,
      },
      {
        expr: highest(budgetSpent(AGENT, '1h'), AGENTS_IN_GRAPH, AGENT, sumBy(AGENT, overall(budgetConsumed))),
        legend: legend(ATTR.agent),
      },
    ).thresholds(thresholds([1, COLOUR.vermilion])),
  ],
});
