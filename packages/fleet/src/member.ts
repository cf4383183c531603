import type { Breakerbox } from '@breakerbox/core';
import type { Operator } from '@breakerbox/core/control';
import type { FleetOrder, SharedChange, SharedCircuits } from '@breakerbox/core/fleet';
import { EVENT_CIRCUIT } from '@breakerbox/core/fleet';
import { reportThrown, safely } from '@breakerbox/core/internal';
import { syncActions } from './actions.ts';
import { circuitId, circuitName } from './circuit-id.ts';
import {
  forgetGrant,
  isHeld,
  limited,
  newTrack,
  nextOrder,
  nextStep,
  noteChange,
  noteClaim,
  noteStored,
  type Situation,
  type Step,
  type Track,
} from './circuit-sync.ts';
import type { Reader } from './reader.ts';
import type { Runtime } from './runtime.ts';

/** Circuits that are looked at before other work of the process has its turn. */
const A_TURN = 20;

export interface MemberOptions {
  /** This process, as it reports openings. */
  readonly process: string;
  /** This box, as it holds a probe. */
  readonly holder: string;
  readonly quorum: number;
  readonly windowMs: number;
}

/** One box in the fleet. */
export interface Member {
  /** After each answer of the store. `isAll`: it listed everything. */
  onWord(isAll: boolean): void;
  onFailure(): void;
  /** So many records of the store do not fit. */
  onIgnored(records: number): void;
  /** What this box listens to. */
  topics(): readonly string[];
  /** Gives back what it holds, and lets the box go on alone. Resolves when the store has answered. */
  leave(): Promise<void>;
}

export const joinFleet = (
  shared: SharedCircuits,
  box: Pick<Breakerbox, 'on'>,
  operator: Operator,
  reader: Reader,
  runtime: Runtime,
  { process, holder, quorum, windowMs }: MemberOptions,
): Member => {
  const tracks = new Map<string, Track>();
  const busy = new Set<Track>();
  const onIgnored = (records: number): void => safely('the records of the fleet', () => shared.ignored(records));
  const actions = syncActions(shared, operator, reader, runtime, () => onIgnored(1));
  let cancel = (): void => {};
  let cancelRest = (): void => {};
  let wakeMs = Number.POSITIVE_INFINITY;
  let hasLeft = false;

  const trackOf = (id: string): Track => {
    const known = tracks.get(id);
    if (known !== undefined) return known;
    const made = newTrack(id, circuitName(id));
    tracks.set(id, made);
    return made;
  };

  /** Others in the store are of another policy (G9), or of no tool that this box shares. */
  const isOwn = (id: string): boolean => {
    const name = circuitName(id);
    const digest = shared.digest(name);
    return digest !== undefined && circuitId({ name, digest }) === id;
  };

  const situationOf = (track: Track): Situation => {
    const { mode, answers, epoch, read, listeners, circuits } = reader.knowledge;
    const isOther = !isOwn(track.id);
    const policy = shared.policy(track.name);
    const stored = circuits.get(track.id);
    return {
      holder,
      nowMs: runtime.now(),
      mode,
      answers,
      epoch,
      processes: listeners.processes,
      read,
      circuit: isOther ? undefined : shared.circuit(track.name),
      stored: isOther || stored === undefined || policy === undefined ? undefined : limited(stored, policy),
      chance: runtime.random(),
    };
  };

  const feed = (track: Track, order: FleetOrder | undefined): void => {
    if (order !== undefined) safely('an order of the fleet', () => shared.feed(track.name, order));
  };

  /** Sends what there is to send, one message for each circuit at a time, and tells the box what to do. */
  const advance = (track: Track): void => {
    if (hasLeft) return;
    const situation = situationOf(track);
    if (busy.has(track)) {
      // A message may take longer than a wait of the box, which must not probe meanwhile.
      noteStored(track, situation);
      feed(track, nextOrder(track, situation));
      return;
    }
    if (situation.circuit === undefined && situation.stored === undefined && !isHeld(track)) {
      tracks.delete(track.id);
      return;
    }
    noteStored(track, situation);
    const step = nextStep(track, situation);
    feed(track, nextOrder(track, situation));
    if (step.send === 'nothing') {
      wake(step.atMs);
      return;
    }
    busy.add(track);
    send(track, step)
      .catch((error) => {
        reportThrown('the fleet', error);
        return false;
      })
      .then((isAnswered) => {
        busy.delete(track);
        // After a failure it waits until the next read is answered.
        if (isAnswered) safely('the fleet', () => advance(track));
      });
  };

  const send = async (track: Track, step: Exclude<Step, { send: 'nothing' }>): Promise<boolean> => {
    switch (step.send) {
      case 'settle':
        return settle(track, step);
      case 'end': {
        const ended = await reader.write((store) => store.end(track.id, step.generation));
        if (ended === undefined) return false;
        track.ended = undefined;
        waitForRead(track);
        return true;
      }
      case 'report':
        return report(track, step);
      case 'claim':
        return claim(track, step);
    }
  };

  const settle = async (track: Track, { grant, result }: Extract<Step, { send: 'settle' }>): Promise<boolean> => {
    const settled = await reader.write((store) => store.settle(track.id, holder, grant, result));
    if (settled === undefined) return false;
    track.settled = settled.answer === 'done' ? { grant, result } : undefined;
    forgetGrant(track);
    waitForRead(track);
    return true;
  };

  /** Until then this process knows the state before its message. */
  const waitForRead = (track: Track): void => {
    track.afterRead = reader.knowledge.sentRead;
    reader.readSoon();
  };

  const report = async (
    track: Track,
    { generation, category, waitMs, ageMs }: Extract<Step, { send: 'report' }>,
  ): Promise<boolean> => {
    const { id } = track;
    const { living } = reader.knowledge;
    const needed = track.name === EVENT_CIRCUIT ? 1 : quorum;
    const stored = await reader.write((store) =>
      store.report({ id, process, category, waitMs, quorum: needed, windowMs, generation, ageMs, living }),
    );
    if (stored === undefined) return false;
    if (generation === 0) track.opened = false;
    else track.heard = undefined;
    reader.learn(stored.answer);
    return true;
  };

  const claim = async (track: Track, step: Extract<Step, { send: 'claim' }>): Promise<boolean> => {
    const { generation, useMs, leaseMs, isWanted, longestWaitMs } = step;
    track.claim ??= { token: runtime.id(), sentMs: runtime.now(), useMs, generation };
    const { token } = track.claim;
    const claimed = await reader.write((store) =>
      store.claim(track.id, holder, generation, token, leaseMs, isWanted, longestWaitMs),
    );
    if (claimed === undefined) return false;
    noteClaim(track, claimed.answer, step, runtime.now());
    if (claimed.answer === undefined) {
      track.afterRead = reader.knowledge.sentRead;
      reader.doubt();
    }
    return true;
  };

  const wake = (atMs: number): void => {
    if (atMs >= wakeMs || hasLeft) return;
    cancel();
    wakeMs = atMs;
    cancel = runtime.after(Math.max(0, atMs - runtime.now()), () => {
      wakeMs = Number.POSITIVE_INFINITY;
      safely('the fleet', advanceAll);
    });
  };

  const advanceAll = (): void => {
    for (const circuit of shared.all()) trackOf(circuitId(circuit));
    for (const id of reader.knowledge.circuits.keys()) if (isOwn(id)) trackOf(id);
    cancelRest();
    advanceSome([...tracks.values()]);
    actions.send();
  };

  /** Other work of the process has its turn between many circuits. */
  const advanceSome = (given: readonly Track[]): void => {
    if (hasLeft) return;
    for (const track of given.slice(0, A_TURN)) safely('the fleet', () => advance(track));
    const rest = given.slice(A_TURN);
    if (rest.length > 0) cancelRest = runtime.after(0, () => advanceSome(rest));
  };

  const onChange = (change: SharedChange): void => {
    if (change.change === 'probing') return; // How it ended may be told next.
    const circuit = shared.circuit(change.name);
    if (circuit === undefined) return;
    const track = trackOf(circuitId(circuit));
    noteChange(track, change, circuit, reader.knowledge.circuits.get(track.id));
    advance(track);
  };

  const reportMode = (): void => {
    const { mode, why } = reader.knowledge;
    if (mode !== 'starting') safely('the mode of the fleet', () => shared.reportMode(mode, why));
  };

  const stops = [
    shared.onChange((change) => safely('the fleet', () => onChange(change))),
    box.on('operator.action', () => actions.send()),
  ];

  return {
    onWord: (isAll) => {
      safely('the mode of the fleet', shared.heard);
      reportMode();
      actions.onWord(isAll);
      advanceAll();
    },
    onFailure: () => {
      reportMode();
      advanceAll();
    },
    onIgnored,
    topics: actions.topics,
    leave: async () => {
      if (hasLeft) return;
      hasLeft = true;
      cancel();
      cancelRest();
      for (const stop of stops) safely('leaving the fleet', stop);
      const given = [...tracks.values()].map(async (track) => {
        const situation = { ...situationOf(track), mode: 'degraded', answers: false } as const;
        const { grant, result = { result: 'returned' } } = track;
        track.grant = undefined;
        feed(track, nextOrder(track, situation));
        if (grant === undefined || situation.circuit?.leaseMs !== undefined) return;
        await reader.write((store) => store.settle(track.id, holder, grant.grant, result));
      });
      await Promise.all([...given, actions.sendLast()]);
    },
  };
};
