import type { Breakerbox, BreakerboxEvents } from '@breakerbox/core';
import { extendedText, usedOf } from '@breakerbox/core/internal';

/** What operators are told about. Decisions and outcomes are too many, and metrics show them. */
const TOLD = [
  'circuit.transition',
  'systemic.detected',
  'systemic.resolved',
  'budget.exhausted',
  'budget.resumed',
  'limit.advised',
  'limit.reached',
  'limit.lifted',
  'limit.extended',
] as const satisfies readonly (keyof BreakerboxEvents)[];

/** A change of a box, without arguments, results and error texts (Q2). */
export interface Change {
  readonly kind: (typeof TOLD)[number] | 'action';
  readonly agent: string;
  readonly unixMs: number;
  readonly session?: string | undefined;
  readonly tool?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly category?: string | undefined;
  /** Which limit, and how much of it is used (D2): `11,200 of 14,000 tool calls`. */
  readonly limit?: string | undefined;
  /** The id of the sub-agent that has the limit; undefined for the session itself (D1). */
  readonly child?: string | undefined;
  /** Who acted. */
  readonly who?: string | undefined;
  /** Why they acted. */
  readonly reason?: string | undefined;
}

/** The changes of some boxes: the last ones, and those to come. */
export interface Changes {
  /** At most {@link KEPT}, the oldest first. */
  recent(): readonly Change[];
  add(change: Change): void;
  /** Tells of the changes of a box, until the returned function is called. */
  follow(box: Breakerbox): () => void;
  listen(listener: (change: Change) => void): () => void;
}

/** Changes that are kept for operators who come later. */
const KEPT = 500;

/** Apart from the box: a listener that knows it would keep it in memory. */
const teller =
  (kind: (typeof TOLD)[number], add: (change: Change) => void) =>
  (event: BreakerboxEvents[(typeof TOLD)[number]]): void => {
    if ('observed' in event && event.observed) return;
    const { agent, session, unixMs } = event;
    const moved = 'tool' in event ? { tool: event.tool, from: event.from, to: event.to, category: event.category } : {};
    add({
      kind,
      agent,
      session,
      unixMs,
      ...moved,
      ...('event' in event && { category: event.event.category }),
      ...('child' in event && { limit: limitText(event), child: event.child }),
    });
  };

const limitText = (event: BreakerboxEvents['limit.reached' | 'limit.extended']): string => {
  return 'used' in event ? usedOf(event) : `${event.limit}: ${extendedText(event)}`;
};

/** No changes yet. */
export const createChanges = (): Changes => {
  const kept: Change[] = [];
  const listeners = new Set<(change: Change) => void>();
  const add = (change: Change): void => {
    kept.push(change);
    if (kept.length > KEPT) kept.shift();
    for (const listener of listeners) listener(change);
  };
  const follow = (box: Breakerbox): (() => void) => {
    const offs = TOLD.map((kind) => box.on(kind, teller(kind, add)));
    return () => {
      for (const off of offs) off();
    };
  };
  return {
    recent: () => [...kept],
    add,
    follow,
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};
