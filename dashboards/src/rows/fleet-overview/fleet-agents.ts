import { budgetUsed } from '../../budget.ts';
import { AGENT } from '../../circuit-state.ts';
import type { Absent } from '../../limits.ts';
import { fromRow, UID } from '../../links.ts';
import { ATTR, label, METRIC } from '../../names.ts';
import { CALM, COLOUR, SESSION_COLOURS } from '../../palette.ts';
import { sized } from '../../panels.ts';
import { highest, series, sumBy } from '../../promql.ts';
import type { StateName } from '../../state-timeline.ts';
import { AGENT_COLUMNS, HIDDEN_JOB, table, tight } from '../../table.ts';
import { vanished } from '../../vanished.ts';
import { sessionsIn } from '../stats.ts';

const AGENTS_IN_TABLE = 100;

/** The state of an agent as a number. A systemic event in scope process ends by itself; the other states wait for a person. */
const AGENT_STATES: readonly StateName[] = [
  { value: 0, text: 'working', colour: CALM },
  { value: 1, text: 'systemic event', colour: COLOUR.orange },
  { value: 1.5, text: 'paused: limit', colour: SESSION_COLOURS.paused_limit },
  { value: 2, text: 'paused: budget', colour: SESSION_COLOURS.paused_budget },
  { value: 3, text: 'paused: systemic', colour: SESSION_COLOURS.paused_systemic },
  { value: 4, text: 'vanished', colour: COLOUR.vermilion },
];

/** Agents that report. */
const worstState = [
  `3 * (${sessionsIn(AGENT, 'paused_systemic')} > 0) ^ 0`,
  `2 * (${sessionsIn(AGENT, 'paused_budget')} > 0) ^ 0`,
  `1.5 * (${sessionsIn(AGENT, 'paused_limit')} > 0) ^ 0`,
  `(${sumBy(AGENT, series(METRIC.systemicActive))} > 0) ^ 0`,
  `${sumBy(AGENT, series(METRIC.sessions))} * 0`,
].join(' or ');

const inTable = (expr: string): string => highest(expr, AGENTS_IN_TABLE, AGENT, worstState);

/** Agents with paused sessions, and agents that are near it. */
export const agents = (absent: Absent) =>
  tight(
    table(
      {
        title: 'Agents by state',
        description: `The state of each agent's sessions, those that wait for a person first; at most ${AGENTS_IN_TABLE} agents, and as many vanished ones. Vanished: the agent reported for at least ${absent.minutes} minutes of the last hour, nothing for ${absent.silence}, and does not come and go. Systemic event: calls of some tools are skipped, and no session is paused. Budget used: share of the failures that live sessions may have, now. Click an agent for its budget.`,
        ...sized(10, 5, 'none'),
      },
      [
        {
          label: label(ATTR.agent),
          title: 'Agent',
          side: 'left',
          links: [fromRow(UID.failureBudget, 'Failure budget of the agent', AGENT_COLUMNS)],
        },
        HIDDEN_JOB,
      ],
      [
        {
          title: 'State',
          expr: `4 * topk(${AGENTS_IN_TABLE}, ${vanished(absent)}) ^ 0 or ${inTable(worstState)}`,
          states: AGENT_STATES,
          width: 125,
        },
        {
          title: 'Paused',
          expr: inTable(sessionsIn(AGENT, 'paused_budget', 'paused_systemic', 'paused_limit')),
          absent: '–',
          width: 70,
        },
        { title: 'Active', expr: inTable(sessionsIn(AGENT, 'active')), absent: '–', width: 65 },
        {
          title: 'Budget used',
          expr: inTable(budgetUsed(AGENT)),
          unit: 'percentunit',
          decimals: 0,
          absent: '–',
          gauge: COLOUR.orange,
          width: 105,
        },
      ],
      'State',
    ),
  );
