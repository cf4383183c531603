import { type Breakerbox, createBreakerbox, type Permit, type Reason, type Session } from '@breakerbox/core';
import { shareHistory } from '@breakerbox/core/internal';
import { restore, snapshot } from '@breakerbox/core/snapshot';
import type { RecordedEvent } from './recording.ts';
import type { ReplayConfig, SimulatedCall, SimulationObserver } from './simulation-observer.ts';

/** Spans begin at whole milliseconds, and the engine decides more exactly. Calls of a guarded run are replayed a millisecond early. */
export const ROUNDED_MS = 1;

/** Fewest sessions that are put away together. Up to twice as many are in memory as objects, which take 20 kB each. */
const LEAST_GENERATION = 500;

/** The recording's clock. It never goes back. */
interface ReplayClock {
  readonly startMs: number;
  atMs: number;
  /** The latest time of an event. */
  eventMs: number;
}

export interface PendingCall {
  readonly call: SimulatedCall;
  readonly permit: Permit;
  readonly input: unknown;
}

/** A session of the recording, and what is known of its live run. */
export interface OpenSession {
  readonly id: string;
  readonly agent: string;
  readonly session: Session;
  readonly box: Breakerbox;
  readonly clock: ReplayClock;
  /** The declared tools, with their groups. */
  readonly tools: Map<string, string | undefined>;
  readonly pending: Map<string, PendingCall>;
  isMeasured: boolean;
  isAfterOperator: boolean;
  /** Calls so far. */
  calls: number;
  /** The reason of the latest decision of the live run. */
  liveReason: Reason | undefined;
}

/** A session without calls under way, as little as can be kept of it. */
interface PutAway extends Omit<OpenSession, 'session' | 'box'> {
  readonly snapshot: string;
}

/** The sessions of a recording. */
export interface OpenSessions {
  /** The session of an event, new if this is its first one. */
  of(event: RecordedEvent): OpenSession;
  /** The calls without an end. */
  pending(): Iterable<PendingCall>;
}

/**
 * In scope `process` the sessions of an agent share a box and its time. Otherwise each session has a box of its own, so that sessions
 * may come one after the other, whatever their times are. Of those, a session that has had no event while 500 others or more had one becomes a
 * snapshot until its next event, so that memory does not grow with the recording. A snapshot does not hold the counts of the loop guard
 * (C11).
 */
export const openSessions = (config: ReplayConfig, observer: SimulationObserver): OpenSessions => {
  const isShared = config.scope === 'process';
  const boxes = new Map<string, ReturnType<typeof newBox>>();
  /** The first box of each agent: all of its sessions count as those of one process (O8). */
  const firsts = new Map<string, Breakerbox>();
  const putAway = new Map<string, PutAway>();
  let [recent, earlier] = [new Map<string, OpenSession>(), new Map<string, OpenSession>()];
  let generation = isShared ? Number.POSITIVE_INFINITY : LEAST_GENERATION;
  let limit = generation;
  let returned = 0;

  const newBox = (agent: string, atMs: number): { readonly box: Breakerbox; readonly clock: ReplayClock } => {
    const clock: ReplayClock = { startMs: atMs - ROUNDED_MS, atMs: atMs - ROUNDED_MS, eventMs: atMs };
    const time = { now: () => clock.atMs - clock.startMs, unixNow: () => clock.atMs };
    const box = createBreakerbox({ ...config, agent, clock: time });
    const first = firsts.get(agent);
    if (first === undefined) firsts.set(agent, box);
    else shareHistory(first, box);
    box.on('circuit.transition', ({ session, tool, from, to, unixMs, category }) =>
      observer.moved(session, tool, from, to, unixMs, category),
    );
    box.on('budget.exhausted', ({ session, unixMs }) => observer.paused(session, unixMs, 'budget'));
    box.on('systemic.detected', ({ session, unixMs }) => observer.paused(session, unixMs, 'systemic'));
    box.on('limit.reached', ({ session, unixMs, limit, mode }) =>
      observer.reached(session, unixMs, limit, mode, (recent.get(session) ?? earlier.get(session))?.calls ?? 0),
    );
    return { box, clock };
  };

  const boxFor = (agent: string, atMs: number) => {
    if (!isShared) return newBox(agent, atMs);
    const known = boxes.get(agent) ?? newBox(agent, atMs);
    boxes.set(agent, known);
    return known;
  };

  const begin = (event: RecordedEvent): OpenSession => {
    const agent = ('agent' in event ? event.agent : undefined) ?? 'replay';
    const { box, clock } = boxFor(agent, event.atMs);
    return {
      ...{ id: event.session, agent, session: box.session({ id: event.session }), box, clock },
      ...{ tools: new Map(), pending: new Map() },
      ...{ isMeasured: true, isAfterOperator: false, calls: 0, liveReason: undefined },
    };
  };

  const goOn = ({ snapshot: kept, clock: before, ...rest }: PutAway, atMs: number): OpenSession => {
    const { box, clock } = newBox(rest.agent, before.atMs + ROUNDED_MS);
    clock.eventMs = before.eventMs;
    for (const [tool, group] of rest.tools) box.declare(tool, group === undefined ? {} : { group });
    const session = restore(box, JSON.parse(kept), { elapsedMs: 0 });
    clock.atMs = Math.max(clock.atMs, atMs - ROUNDED_MS);
    return { ...rest, session, box, clock };
  };

  const find = (event: RecordedEvent): OpenSession => {
    const id = event.session;
    const known = earlier.get(id);
    if (known !== undefined) {
      earlier.delete(id);
      return known;
    }
    const kept = putAway.get(id);
    if (kept === undefined) return begin(event);
    putAway.delete(id);
    returned += 1;
    return goOn(kept, event.atMs);
  };

  const turnOver = (): void => {
    const busy = new Map<string, OpenSession>();
    for (const [id, { session, box, ...rest }] of earlier) {
      if (rest.pending.size > 0) busy.set(id, { session, box, ...rest });
      else {
        putAway.set(id, { ...rest, snapshot: JSON.stringify(snapshot(session)) });
        session.end(); // Or the gauges of the process would keep it.
      }
    }
    [earlier, recent] = [recent, busy];
    // If many return soon, more sessions than these go on side by side.
    generation = returned > generation / 16 ? 2 * generation : Math.max(LEAST_GENERATION, generation / 2);
    limit = busy.size + generation;
    returned = 0;
  };

  return {
    of(event) {
      const known = recent.get(event.session);
      if (known !== undefined) return known;
      const found = find(event);
      if (recent.size >= limit) turnOver();
      recent.set(event.session, found);
      return found;
    },
    *pending() {
      for (const sessions of [recent, earlier]) for (const { pending } of sessions.values()) yield* pending.values();
    },
  };
};
