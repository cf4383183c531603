import type { Breakerbox } from '@breakerbox/core';
import { type OperatedSession, type Operator, operate } from '@breakerbox/core/control';
import type { BoxState, SessionState } from './schema.ts';

/** Sessions of a box that are listed: paused ones first. */
const MOST_SESSIONS = 500;

/** A box with its operator's side. */
export interface OperatedBox {
  readonly box: Breakerbox;
  readonly operator: Operator;
}

export const operated = (box: Breakerbox): OperatedBox => ({ box, operator: operate(box) });

const sessionState = ({ id, ageMs, event, view }: OperatedSession): SessionState => {
  const { state, step, budget, systemic, circuits } = view;
  return {
    id,
    ageMs,
    state,
    step,
    budget: { limit: budget.limit, remaining: budget.remaining, cycle: budget.cycle },
    ...(systemic !== undefined &&
      event !== undefined && {
        event: {
          id: event,
          category: systemic.category,
          layer: systemic.layer,
          suspect: systemic.dependency ?? systemic.group,
          tools: [...new Set(systemic.openings.map(({ tool }) => tool))],
          sinceUnixMs: systemic.openings[0]?.unixMs,
        },
      }),
    circuits: circuits.map(
      ({ tool, group, state, generation, failures, category, openForMs, nextProbe, openKeys }) => ({
        tool,
        group,
        state,
        generation,
        failures,
        category,
        openForMs,
        nextProbe: nextProbe && { ...nextProbe },
        openKeys,
      }),
    ),
  };
};

const isPaused = ({ view }: OperatedSession): boolean => view.state !== 'active';

/** What a box is like now (A2). Changes nothing. */
export const boxState = ({ box, operator }: OperatedBox): BoxState => {
  const sessions = operator.sessions();
  const listed = [...sessions.filter(isPaused), ...sessions.filter((one) => !isPaused(one))].slice(0, MOST_SESSIONS);
  return {
    agent: box.agent,
    version: operator.version,
    tools: [...box.tools],
    modes: [...operator.modes()],
    sessions: listed.map(sessionState),
    sessionsLeftOut: sessions.length - listed.length,
  };
};
