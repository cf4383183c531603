import type { ReportedState } from '@breakerbox/core';
import { ATTR, type GroupKey, JOB, MANUAL_STATES, METRIC, OPEN_STATES } from './names.ts';
import { CALM, COLOUR } from './palette.ts';
import { series, sumBy } from './promql.ts';
import type { StateName } from './state-timeline.ts';

/** An agent, as alerts tell it apart from one of the same name in another job. */
export const AGENT = [JOB, ATTR.agent] as const;
/** What identifies a circuit on the dashboards. A tool of an agent has one for each session, or one for all. */
export const AGENT_TOOL = [...AGENT, ATTR.tool] as const;

/** The numbers of {@link worstState}, and how each is written and coloured. A higher one is worse. */
export const CIRCUIT_STATES: readonly StateName[] = [
  { value: 0, text: 'closed', colour: COLOUR.green },
  { value: 1, text: 'by hand', colour: COLOUR.purple },
  { value: 2, text: 'half-open', colour: COLOUR.sky },
  { value: 3, text: 'open', colour: COLOUR.orange },
  { value: 5, text: 'open, others half-open', colour: COLOUR.yellow },
];

/** The same for tables: closed is what is expected, and without a colour the others stand out. */
export const CIRCUIT_STATES_IN_TABLE: readonly StateName[] = CIRCUIT_STATES.map((state) =>
  state.value === 0 ? { ...state, colour: CALM } : state,
);

/**
 * The worst state among the circuits of each group, as a number of {@link CIRCUIT_STATES}. By hand: none is open, and
 * somebody has switched one off or only observes it.
 */
export const worstState = (by: readonly GroupKey[] = AGENT_TOOL): string => {
  // Dropping zeros before they are summed makes this several times as fast in a fleet of 500 agents.
  const anyIn = (states: readonly ReportedState[]): string =>
    sumBy(by, `${series(METRIC.circuits, { [ATTR.state]: states })} > 0`);
  const [open, halfOpen, byHand] = [anyIn(OPEN_STATES), anyIn(['half_open']), anyIn(MANUAL_STATES)];
  const all = sumBy(by, series(METRIC.circuits, { [ATTR.state]: ['closed'] }));
  return `5 * (${open} and ${halfOpen}) ^ 0 or 3 * ${open} ^ 0 or 2 * ${halfOpen} ^ 0 or ${byHand} ^ 0 or ${all} * 0`;
};
