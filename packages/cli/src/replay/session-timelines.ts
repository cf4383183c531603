import type { Outcome } from '@breakerbox/core';
import type { SimulatedCall, SimulationObserver } from './simulation.ts';

/** Calls of one session that are kept for its timeline, and sessions. */
const MAX_CALLS = 600;
const MAX_SESSIONS = 50;
/** Sessions whose calls are kept until it is known whether anything happens in them. */
const MAX_OPEN = 2000;

/** A call on a timeline. */
export interface CallMark {
  readonly tool: string;
  readonly group: string | undefined;
  readonly atMs: number;
  readonly decision: SimulatedCall['decision'];
  readonly reason: SimulatedCall['reason'];
  outcome: Outcome | 'unknown';
}

/** The calls of a session in which something was rejected. */
export interface SessionTimeline {
  readonly session: string;
  readonly calls: readonly CallMark[];
  /** Later calls that are not kept. */
  readonly more: number;
}

interface Kept {
  readonly calls: CallMark[];
  more: number;
  isChanged: boolean;
}

/** Passes everything on to `next`, and keeps the calls of sessions in which something is rejected. */
export const keepTimelines = (
  next: SimulationObserver,
): { readonly observer: SimulationObserver; timelines(): readonly SessionTimeline[] } => {
  const sessions = new Map<string, Kept>();
  const marks = new WeakMap<SimulatedCall, CallMark>();

  const keptOf = (session: string): Kept | undefined => {
    const known = sessions.get(session);
    if (known || sessions.size >= MAX_OPEN) return known;
    const kept: Kept = { calls: [], more: 0, isChanged: false };
    sessions.set(session, kept);
    return kept;
  };

  const observer: SimulationObserver = {
    ...next,
    decided(call) {
      next.decided(call);
      const kept = keptOf(call.session);
      if (!kept) return;
      if (!call.executes) kept.isChanged = true;
      if (kept.calls.length >= MAX_CALLS) {
        kept.more += 1;
        return;
      }
      const { tool, group, atMs, decision, reason } = call;
      const mark: CallMark = { tool, group, atMs, decision, reason, outcome: 'unknown' };
      kept.calls.push(mark);
      marks.set(call, mark);
    },
    ended(call, judged) {
      next.ended(call, judged);
      const mark = marks.get(call);
      if (mark) mark.outcome = judged?.outcome ?? 'unknown';
    },
  };
  const timelines = (): readonly SessionTimeline[] =>
    [...sessions]
      .filter(([, { isChanged }]) => isChanged)
      .slice(0, MAX_SESSIONS)
      .map(([session, { calls, more }]) => ({ session, calls, more }));
  return { observer, timelines };
};
