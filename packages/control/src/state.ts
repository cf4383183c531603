import type { Breakerbox } from '@breakerbox/core';
import { type LimitView, type OperatedSession, type Operator, operate, type UsedView } from '@breakerbox/core/control';
import { uncountedTools } from '@breakerbox/core/internal';
import {
  type BoxState,
  type ChildState,
  type LimitState,
  MOST_PATH,
  MOST_SESSIONS,
  type SessionState,
} from './schema.ts';

/** Circuits, limits and sub-agents of all boxes that are listed: with usual names 3 MB. */
const MOST_PARTS = 16_000;

/** A box with its operator's side. */
export interface OperatedBox {
  readonly box: Breakerbox;
  readonly operator: Operator;
}

export const operated = (box: Breakerbox): OperatedBox => ({ box, operator: operate(box) });

/** What programs report may be any number. */
const bounded = (amount: number): number => Math.min(Math.max(0, amount), Number.MAX_SAFE_INTEGER);

const limitState = ({ size, used, underWay, estimated, reserved, kept, ...rest }: LimitView): LimitState => ({
  ...rest,
  size: bounded(size),
  used: bounded(used),
  underWay: bounded(underWay),
  estimated: bounded(estimated),
  reserved: bounded(reserved),
  ...(kept !== undefined && { kept: bounded(kept) }),
});

const usedState = ({ calls, steps, tokens, cost }: UsedView) => ({
  calls: bounded(calls),
  steps: bounded(steps),
  tokens: bounded(tokens),
  cost: bounded(cost),
});

/** D1, D2: limits, what was used, and the sub-agents. Nothing for most sessions. */
const runState = ({ view, used, tree }: OperatedSession): Partial<SessionState> =>
  used === undefined || tree === undefined
    ? {}
    : {
        limits: (view.limits ?? []).map(limitState),
        used: usedState(used),
        children: tree.children.map(
          ({ used, limits, path, ...rest }): ChildState => ({
            ...rest,
            path: path.slice(0, MOST_PATH),
            used: usedState(used),
            limits: limits.map(limitState),
          }),
        ),
        childrenLeftOut: tree.leftOut,
      };

const sessionState = (operated: OperatedSession): SessionState => {
  const { id, ageMs, event, view, charges } = operated;
  const { state, step, budget, systemic, circuits } = view;
  return {
    id,
    ageMs,
    state,
    step,
    budget: {
      limit: budget.limit,
      remaining: budget.remaining,
      cycle: budget.cycle,
      ...(charges !== undefined && { charges: charges.map((charge) => ({ ...charge })) }),
    },
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
    ...runState(operated),
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

/** Its circuits, limits and sub-agents. */
const partsOf = ({ view, tree }: OperatedSession): number => {
  const children = tree?.children ?? [];
  const limits = children.reduce((sum, child) => sum + child.limits.length, view.limits?.length ?? 0);
  return view.circuits.length + children.length + limits;
};

/** How many of the first sessions have at most so many parts together. */
const fittingCount = (sessions: readonly OperatedSession[], parts: number): number => {
  let left = parts;
  const over = sessions.findIndex((session) => {
    left -= partsOf(session);
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
  let left = MOST_PARTS;
  return boxes.map((one, index) => {
    const { state, parts } = boxState(one, versions.get(one.box.agent) ?? 0, session, left / (boxes.length - index));
    left -= parts;
    return state;
  });
};

const boxState = (
  { box, operator }: OperatedBox,
  version: number,
  id: string | undefined,
  room: number,
): { readonly state: BoxState; readonly parts: number } => {
  const sessions = id === undefined ? operator.sessions() : [operator.session(id)].filter((one) => one !== undefined);
  const ordered = [...sessions.filter(isPaused), ...sessions.filter((one) => !isPaused(one))].slice(0, MOST_SESSIONS);
  const listed = ordered.slice(0, fittingCount(ordered, room));
  const state = {
    agent: box.agent,
    version,
    tools: [...box.tools],
    modes: [...operator.modes()],
    sessions: listed.map(sessionState),
    sessionsLeftOut: sessions.length - listed.length,
    uncounted: [...uncountedTools(box)],
  };
  return { state, parts: listed.reduce((sum, one) => sum + partsOf(one), 0) };
};
