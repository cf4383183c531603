import type { SessionState } from '@breakerbox/core';
import { budgetSpent } from '../../budget.ts';
import { fromRow, UID } from '../../links.ts';
import { ATTR, label, METRIC } from '../../names.ts';
import { CALM, COLOUR } from '../../palette.ts';
import { highest, series, sumBy } from '../../promql.ts';
import type { StateName } from '../../state-timeline.ts';
import { table } from '../../table.ts';
import { JOB_AGENT, vanished } from '../../vanished.ts';

const AGENT = [ATTR.agent] as const;
const AGENTS_IN_TABLE = 100;

/** The numbers of {@link worstState}: whatever isn't "working" waits for a person. */
const AGENT_STATES: readonly StateName[] = [
  { value: 0, text: 'working', colour: CALM },
  { value: 1, text: 'paused: budget', colour: COLOUR.vermilion },
  { value: 2, text: 'paused: systemic', colour: COLOUR.vermilion },
  { value: 3, text: 'vanished', colour: COLOUR.vermilion },
];

const sessionsIn = (...states: readonly SessionState[]): string =>
  sumBy(AGENT, series(METRIC.sessions, { [ATTR.sessionState]: states }));

const worstState = (minutes: number): string =>
  [
    `3 * (count by (${label(ATTR.agent)}) (${vanished(JOB_AGENT, minutes)}) > bool 0)`,
    `2 * (${sessionsIn('paused_systemic')} > 0) ^ 0`,
    `(${sessionsIn('paused_budget')} > 0) ^ 0`,
    `${sumBy(AGENT, series(METRIC.sessions))} * 0`,
  ].join(' or ');

/** Who is held up, and who may be soon. */
export const agents = (minutes: number) => {
  const state = worstState(minutes);
  const inTable = (expr: string): string => highest(expr, AGENTS_IN_TABLE, AGENT, state);
  return table(
    {
      title: 'Agents',
      description: `What each agent's sessions are at, those that wait for a person first; at most ${AGENTS_IN_TABLE} agents. Vanished: it reported for at least ${minutes} minutes of the last hour, and nothing in the last five. Budget used is of the failures granted in the time range shown. A click on an agent leads to its budget.`,
      unit: 'none',
      width: 9,
      height: 7,
    },
    [
      {
        label: label(ATTR.agent),
        title: 'Agent',
        side: 'left',
        links: [fromRow(UID.failureBudget, 'Failure budget of the agent', { [ATTR.agent]: 'Agent' })],
      },
    ],
    [
      { title: 'State', expr: inTable(state), states: AGENT_STATES, width: 130 },
      { title: 'Paused', expr: inTable(sessionsIn('paused_budget', 'paused_systemic')), absent: '–', width: 85 },
      { title: 'Active', expr: inTable(sessionsIn('active')), absent: '–', width: 85 },
      {
        title: 'Budget used',
        expr: inTable(budgetSpent(AGENT, '$__range')),
        unit: 'percentunit',
        decimals: 0,
        absent: '–',
        gauge: COLOUR.orange,
        width: 120,
      },
    ],
    'State',
  );
};
