import type { Breakerbox } from '@breakerbox/core';
import { type OperatedSession, type Operator, operate } from '@breakerbox/core/control';
import { uncountedTools } from '@breakerbox/core/internal';
import { type BoxState, MOST_SESSIONS, type SessionState } from './schema.ts';

/** Circuits of all boxes that are listed: with usual names 3 MB. */
const MOST_CIRCUITS = 16_000;

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
      ({ tool, group, state, generation, failures, category, openForMs, nextProbe, openKeys, failedKeys }) => ({
        tool,
        group,
        state,
        generation,
        failures,
        category,
        openForMs,
        nextProbe: nextProbe && { ...nextProbe },
        openKeys,
        failedKeys,
      }),
    ),
  };
};

const isPaused = ({ view }: OperatedSession): boolean => view.state !== 'active';

/** Boxes that have a live session with this id, those where it is paused first. */
export const havingSession = (
  boxes: readonly OperatedBox[],
  id: string,
): readonly (OperatedBox & { readonly found: OperatedSession })[] =>
  boxes
    .flatMap((one) => {
      const found = one.operator.session(id);
      return found === undefined ? [] : [{ ...one, found }];
    })
    .toSorted((a, b) => Number(isPaused(b.found)) - Number(isPaused(a.found)));

/** How many of the first sessions have at most so many circuits together. */
const fittingCount = (sessions: readonly OperatedSession[], circuits: number): number => {
  let left = circuits;
  const over = sessions.findIndex(({ view }) => {
    left -= view.circuits.length;
    return left < 0;
  });
  return over === -1 ? sessions.length : over;
};

/** The boxes that operators see. */
export interface Boxes {
  /** All of them, or those of an agent. */
  list(agent?: string): readonly OperatedBox[];
  /** How often modes of the agent's boxes have changed (A3). It never decreases, and a box that is made later adds nothing. */
  version(agent: string): number;
}

/** Which boxes: all, or those of an agent; and only the sessions with an id. */
export interface Wanted {
  readonly agent?: string;
  readonly session?: string | undefined;
}

/** What boxes are like now (A2). Changes nothing. */
export const boxStates = ({ list, version }: Boxes, { agent, session }: Wanted = {}): readonly BoxState[] => {
  const boxes = list(agent);
  const versions = new Map([...new Set(boxes.map(({ box }) => box.agent))].map((name) => [name, version(name)]));
  let left = MOST_CIRCUITS;
  return boxes.map((one, index) => {
    const state = boxState(one, versions.get(one.box.agent) ?? 0, session, left / (boxes.length - index));
    for (const { circuits } of state.sessions) left -= circuits.length;
    return state;
  });
};

const boxState = ({ box, operator }: OperatedBox, version: number, id: string | undefined, room: number): BoxState => {
  const sessions = id === undefined ? operator.sessions() : [operator.session(id)].filter((one) => one !== undefined);
  const ordered = [...sessions.filter(isPaused), ...sessions.filter((one) => !isPaused(one))].slice(0, MOST_SESSIONS);
  const listed = ordered.slice(0, fittingCount(ordered, room));
  return {
    agent: box.agent,
    version,
    tools: [...box.tools],
    modes: [...operator.modes()],
    sessions: listed.map(sessionState),
    sessionsLeftOut: sessions.length - listed.length,
    uncounted: [...uncountedTools(box)],
  };
};
