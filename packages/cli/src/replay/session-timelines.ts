import type { Outcome } from '@breakerbox/core';
import type { SimulatedCall, SimulationObserver } from './simulation-observer.ts';

/** Calls of one session that are kept for its timeline, and sessions. */
const MAX_CALLS = 600;
const MAX_SESSIONS = 50;
/** Sessions whose calls are kept until it is known whether anything happens in them. Then the one that began first is dropped. */
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
  /** Earlier calls that are not kept. */
  readonly before: number;
  /** Later calls that are not kept. */
  readonly more: number;
}

interface Kept {
  readonly calls: CallMark[];
  before: number;
  more: number;
}

/** Passes everything on to `next`, and keeps the calls of sessions in which something is rejected. */
export const keepTimelines = (
  next: SimulationObserver,
): { readonly observer: SimulationObserver; timelines(): readonly SessionTimeline[] } => {
  const changed = new Map<string, Kept>();
  const others = new Map<string, Kept>();
  const marks = new WeakMap<SimulatedCall, CallMark>();

  const keptOf = (session: string): Kept | undefined => {
    const known = changed.get(session) ?? others.get(session);
    if (known || changed.size >= MAX_SESSIONS) return known;
    if (others.size >= MAX_OPEN) others.delete(others.keys().next().value as string);
    const kept: Kept = { calls: [], before: 0, more: 0 };
    others.set(session, kept);
    return kept;
  };

  const change = (session: string, kept: Kept): void => {
    others.delete(session);
    if (changed.size < MAX_SESSIONS) changed.set(session, kept);
  };

  const observer: SimulationObserver = {
    ...next,
    decided(call) {
      next.decided(call);
      const kept = keptOf(call.session);
      if (!kept) return;
      if (!call.executes) change(call.session, kept);
      if (kept.calls.length >= MAX_CALLS) {
        if (changed.has(call.session)) {
          kept.more += 1;
          return;
        }
        kept.before += kept.calls.splice(0, MAX_CALLS / 2).length;
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
  const timelines = (): readonly SessionTimeline[] => [...changed].map(([session, kept]) => ({ session, ...kept }));
  return { observer, timelines };
};
