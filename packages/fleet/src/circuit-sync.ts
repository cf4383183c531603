import type { ErrorCategory } from '@breakerbox/core';
import {
  EVENT_CIRCUIT,
  type FleetOrder,
  type SharedChange,
  type SharedCircuit,
  type SharedPolicy,
} from '@breakerbox/core/fleet';
import type { Grant, ProbeResult, StoredCircuit } from './protocol.ts';
import type { FleetMode, Heard } from './reader.ts';
import { CLOCK_STEP_MS } from './records.ts';

/** G2: whether other processes have such failures too. The others belong to one user, one machine or one call. */
const IS_SHARED: Readonly<Record<ErrorCategory, boolean>> = {
  network: true,
  timeout: true,
  rate_limit: true,
  permission: false,
  filesystem: false,
  server: true,
  resource: true,
  unknown: true,
  unusable: false,
  invalid_input: false,
  denied: false,
  cancelled: false,
  tool_error: true,
};

/** A probe is claimed only if a call was rejected so lately. */
const DEMAND_MS = 5_000;
/** The next call within this time is the probe. A grant that may be used for longer is renewed before it ends. */
const USE_MS = 10_000;
const RENEW_MS = 2_000;
/** A probe that others have not used for so long is asked for. */
const ASK_MS = USE_MS + 1_000;
const LONGEST_USE_MS = 3_600_000;
/** The store's lease ends so much later than the local one. */
const MARGIN_MS = 1_000;
/** After this time every process may call again (G5). */
const STAGGER_MS = 1_000;

/** What one box keeps about one circuit of the fleet. */
export interface Track {
  readonly id: string;
  readonly name: string;
  /** The order that the box has, and for what: the same order is not fed twice. */
  fed: string;
  /** The latest opening of the fleet that this process knows. After a loss it is reported again (G7). */
  heard:
    | (Pick<StoredCircuit, 'generation' | 'category' | 'waitMs'> & { readonly epoch: string; readonly sinceMs: number })
    | undefined;
  /** It opened here, which the fleet has to know. */
  opened: boolean;
  /** The generation whose outage was ended here, for all. */
  ended: number | undefined;
  /** A claim that was sent. It is sent again with the same token until it is answered. */
  claim:
    | { readonly token: string; readonly sentMs: number; readonly useMs: number; readonly generation: number }
    | undefined;
  claimAtMs: number | undefined;
  /** Until `untilMs` a call may be the probe, and until `useEndMs` without another renewal. */
  grant:
    | { readonly grant: Grant; readonly untilMs: number; readonly useEndMs: number; readonly leaseEndMs: number }
    | undefined;
  /** How the granted probe ended, which the store does not know yet. */
  result: ProbeResult | undefined;
  /** The latest settlement that the store has answered. A store that went back to older data hears it again (G7). */
  settled: { readonly grant: Grant; readonly result: ProbeResult } | undefined;
  /** Since when another process is known to hold the probe. */
  othersProbe: { readonly key: string; readonly sinceMs: number } | undefined;
  /** What this process knows may be too old: it waits for a read that is sent after this one. */
  afterRead: number | undefined;
}

export const newTrack = (id: string, name: string): Track => ({
  id,
  name,
  fed: '',
  heard: undefined,
  opened: false,
  ended: undefined,
  claim: undefined,
  claimAtMs: undefined,
  grant: undefined,
  result: undefined,
  settled: undefined,
  othersProbe: undefined,
  afterRead: undefined,
});

/** All that a step depends on. */
export interface Situation {
  /** This box, as it holds a probe. */
  readonly holder: string;
  readonly nowMs: number;
  readonly mode: FleetMode;
  /** The store answered the last command. */
  readonly answers: boolean;
  readonly epoch: string;
  readonly processes: number | undefined;
  /** The number of the latest read that was answered. */
  readonly read: number;
  /** The circuit as the box has it; undefined if it is not in use there. */
  readonly circuit: SharedCircuit | undefined;
  /** The circuit as the store had it when this process last heard. */
  readonly stored: Heard<StoredCircuit> | undefined;
  /** From 0 to less than 1, for jitter. */
  readonly chance: number;
}

/** What to send to the store next. */
export type Step =
  | { readonly send: 'settle'; readonly grant: Grant; readonly result: ProbeResult }
  | { readonly send: 'end'; readonly generation: number }
  | {
      readonly send: 'report';
      readonly generation: number;
      readonly category: ErrorCategory;
      readonly waitMs: number;
      readonly ageMs: number;
    }
  | {
      readonly send: 'claim';
      readonly generation: number;
      readonly useMs: number;
      readonly leaseMs: number;
      /** Another process holds the probe, and is asked to give it back. */
      readonly isWanted: boolean;
      /** The wait, as far as this process accepts it. */
      readonly longestWaitMs: number | undefined;
    }
  /** Look again then. */
  | { readonly send: 'nothing'; readonly atMs: number };

const NOTHING: Step = { send: 'nothing', atMs: Number.POSITIVE_INFINITY };

/** The box has an order that may no longer fit: it is fed again, whatever it is. */
const HELD_AGAIN = 'hold again';

const ageMs = ({ ageMs, heardMs }: Heard<StoredCircuit>, nowMs: number): number => ageMs + nowMs - heardMs;

/** Notes what happened in the box. `stored`: the circuit as the store has it. */
export const noteChange = (
  track: Track,
  change: SharedChange,
  circuit: SharedCircuit | undefined,
  stored: StoredCircuit | undefined,
): void => {
  switch (change.change) {
    case 'opened':
      track.opened = true;
      // A circuit that was due, and failed, goes by its own schedule again.
      if (track.fed.startsWith('recover')) track.fed = HELD_AGAIN;
      break;
    case 'probe_failed':
      track.result = {
        result: 'failure',
        category: circuit?.category ?? track.heard?.category ?? 'unknown',
        waitMs: Math.max(circuit?.waitMs ?? 0, circuit?.retryAfterMs ?? 0),
      };
      break;
    case 'closed':
      if (change.granted && track.grant !== undefined) track.result = { result: 'success' };
      // G7: a local closing does not overwrite a shared opening, which is fed again.
      else track.fed = HELD_AGAIN;
      break;
    case 'recovered':
      if (track.grant !== undefined && change.by === 'probe') track.result = { result: 'success' };
      // 'fleet': the store has said so.
      else if (change.by !== 'probe' && change.by !== 'fleet')
        // An opening that is on its way to the store will be the next generation.
        track.ended = track.heard?.generation ?? (stored?.generation ?? 0) + 1;
      break;
    case 'probing':
      break; // Nothing until it has ended.
  }
};

/**
 * Notes what the store says. A store that has lost its data starts its generations again. A grant of an earlier generation is over, also
 * where the answer to its settlement was lost: the box must not probe a later opening meanwhile (G4).
 */
export const noteStored = (track: Track, { stored, epoch, mode }: Situation): void => {
  if (stored === undefined || mode !== 'up') return;
  const isOlder = track.heard?.epoch === epoch && stored.generation < track.heard.generation;
  if (stored.state === 'pending' || isOlder) return;
  const { generation, category, waitMs } = stored;
  if (track.grant?.grant.epoch === epoch && track.grant.grant.generation < generation) forgetGrant(track);
  const sinceMs = stored.heardMs - stored.ageMs;
  track.heard = stored.state === 'open' ? { generation, category, waitMs, epoch, sinceMs } : undefined;
};

/** What the box has to send. It drops from the track what has become pointless. */
export const nextStep = (track: Track, situation: Situation): Step => {
  const { nowMs, answers, circuit, stored } = situation;
  endGrant(track, situation);
  if (isBehind(track, situation)) return NOTHING;
  if (!answers) return track.grant === undefined ? NOTHING : { send: 'nothing', atMs: endOf(track.grant, nowMs) };
  if (track.grant !== undefined)
    return track.result === undefined
      ? renewal(track, track.grant, situation)
      : { send: 'settle', grant: track.grant.grant, result: track.result };
  if (stored?.state !== 'open' || stored.generation > (track.ended ?? 0)) track.ended = undefined;
  if (track.ended === stored?.generation && stored !== undefined) return { send: 'end', generation: stored.generation };
  return settledAgain(track, situation) ?? opening(track, situation) ?? claiming(track, situation, circuit) ?? NOTHING;
};

/** G7: the store went back to data from before the settlement, in which this process holds a probe that it has ended. */
const settledAgain = ({ settled }: Track, { stored, epoch, holder }: Situation): Step | undefined =>
  settled !== undefined &&
  stored?.state === 'open' &&
  stored.probe?.holder === holder &&
  stored.generation === settled.grant.generation &&
  epoch === settled.grant.epoch
    ? { send: 'settle', ...settled }
    : undefined;

/** Keeps a grant that may be used for longer than a lease allows. */
const renewal = (track: Track, grant: NonNullable<Track['grant']>, { nowMs, circuit, stored }: Situation): Step => {
  const { untilMs, useEndMs } = grant;
  const renewMs = useEndMs - RENEW_MS;
  if (circuit === undefined || circuit.leaseMs !== undefined || useEndMs >= untilMs || nowMs < renewMs)
    return { send: 'nothing', atMs: useEndMs < untilMs && nowMs < renewMs ? renewMs : endOf(grant, nowMs) };
  const { generation, token } = grant.grant;
  const useMs = untilMs - nowMs;
  track.claim ??= { token, sentMs: nowMs, useMs, generation };
  const leaseMs = leaseOf(circuit.policy);
  return { send: 'claim', generation, useMs, leaseMs, isWanted: false, longestWaitMs: stored?.waitMs };
};

const leaseOf = ({ probeLeaseMs }: SharedPolicy): number => USE_MS + probeLeaseMs + MARGIN_MS;

/**
 * What the store says, cut to the limits of the circuit. A wait is a cooldown or a Retry-After: a longer one than both can be is not one
 * that any process has reported, and so is a lease that is longer than those of this policy.
 */
export const limited = (stored: Heard<StoredCircuit>, policy: SharedPolicy): Heard<StoredCircuit> => {
  const { waitMs, probe } = stored;
  const isWait = waitMs <= Math.max(policy.maxCooldownMs, policy.maxRetryAfterMs);
  const isLease = probe === undefined || probe.leaseMs <= leaseOf(policy) + CLOCK_STEP_MS;
  if (isWait && isLease) return stored;
  return { ...stored, waitMs: isWait ? waitMs : policy.maxCooldownMs, probe: isLease ? probe : undefined };
};

const isBehind = ({ afterRead }: Track, { read }: Situation): boolean => afterRead !== undefined && read <= afterRead;

const endOf = ({ useEndMs, leaseEndMs }: NonNullable<Track['grant']>, nowMs: number): number =>
  nowMs < useEndMs ? useEndMs : leaseEndMs;

/**
 * A grant that ran out unused is given back, and so is one for which another process waits, or whose circuit is closed here. One whose
 * lease has ended is forgotten, because the store has forgotten it too.
 */
const endGrant = (track: Track, { nowMs, circuit, stored, holder }: Situation): void => {
  const { grant } = track;
  if (grant === undefined) {
    track.result = undefined;
    return;
  }
  const isWanted = stored?.probe?.holder === holder && stored.probe.isWanted;
  const isPointless = nowMs >= grant.useEndMs || isWanted || circuit?.state === 'closed';
  if (track.result === undefined && isPointless && circuit?.leaseMs === undefined)
    track.result = { result: 'returned' };
  if (nowMs >= grant.leaseEndMs) forgetGrant(track);
};

export const forgetGrant = (track: Track): void => {
  track.grant = undefined;
  track.result = undefined;
  track.fed = HELD_AGAIN;
};

/** G3, G7: an opening here, or one of the fleet that the store has lost. */
const opening = (track: Track, { circuit, stored, nowMs }: Situation): Step | undefined => {
  if (circuit === undefined || circuit.state === 'closed') {
    track.opened = false;
    return undefined;
  }
  const { heard } = track;
  const isLost = stored === undefined || stored.state === 'pending' || stored.generation < (heard?.generation ?? 0);
  if (heard !== undefined && isLost) {
    const { generation, category, sinceMs } = heard;
    const ageMs = Math.max(0, Math.floor(nowMs - sinceMs));
    // A Retry-After that no process has had itself ends with the data.
    const askedMs = circuit.retryAfterMs > 0 ? ageMs + circuit.retryAfterMs : 0;
    const waitMs = Math.max(Math.min(heard.waitMs, circuit.policy.maxCooldownMs), askedMs);
    return { send: 'report', generation, category, waitMs, ageMs };
  }
  const { category = 'unknown' } = circuit;
  const isKnown = stored?.state === 'open' || isOver(circuit, stored, nowMs);
  if (isKnown || !goesByFailures(circuit) || !IS_SHARED[category]) track.opened = false;
  if (!track.opened) return undefined;
  return { send: 'report', generation: 0, category, waitMs: Math.max(circuit.waitMs, circuit.retryAfterMs), ageMs: 0 };
};

/** The fleet's circuit closed after this one opened. */
const isOver = (circuit: SharedCircuit, stored: Heard<StoredCircuit> | undefined, nowMs: number): boolean =>
  stored?.state === 'closed' && (circuit.ageMs ?? 0) >= ageMs(stored, nowMs);

/** Its state comes from its calls, be it for a dry run. */
const goesByFailures = ({ mode }: SharedCircuit): boolean => mode === 'automatic' || mode === 'observe_only';

/** G4: whether this process asks for the probe, or when to look again. */
const claiming = (track: Track, situation: Situation, circuit: SharedCircuit | undefined): Step | undefined => {
  const { nowMs, mode, stored, processes, chance } = situation;
  const othersMs = noteOthersProbe(track, situation);
  if (stored?.state !== 'open' || circuit === undefined) return undefined;
  // A store that refuses messages is tried with a claim that is given back at once (G7).
  if (circuit.state === 'closed' && mode !== 'degraded') return undefined;
  const dueMs = nowMs + stored.waitMs - ageMs(stored, nowMs);
  const leaseEndMs = stored.probe === undefined ? 0 : stored.heardMs + stored.probe.leaseMs;
  const isOurs = track.claim?.generation === stored.generation && nowMs < track.claim.sentMs + track.claim.useMs;
  if (!isOurs) track.claim = undefined;
  const isWanted = leaseEndMs > nowMs && stored.probe?.isWanted === false && othersMs >= ASK_MS;
  if (Math.max(dueMs, leaseEndMs) > nowMs && !isOurs && !isWanted) {
    track.claimAtMs = undefined;
    return { send: 'nothing', atMs: Math.max(dueMs, leaseEndMs) };
  }
  const isAsked = circuit.rejectedMs !== undefined && circuit.rejectedMs <= DEMAND_MS && circuit.retryAfterMs <= 0;
  if (circuit.state !== 'closed' && (!isAsked || !goesByFailures(circuit) || circuit.leaseMs !== undefined))
    return undefined;
  // The more processes there are, the longer they wait for one of them to come first.
  track.claimAtMs ??= nowMs + chance * Math.min(STAGGER_MS, 50 * ((processes ?? 20) - 1));
  if (track.claimAtMs > nowMs) return { send: 'nothing', atMs: track.claimAtMs };
  // A probe that is overdue is wanted rarely, so the next call may be as far away.
  const useMs = track.claim?.useMs ?? Math.min(LONGEST_USE_MS, Math.max(USE_MS, nowMs - dueMs));
  const { generation, waitMs: longestWaitMs } = stored;
  return { send: 'claim', generation, useMs, leaseMs: leaseOf(circuit.policy), isWanted, longestWaitMs };
};

/** For how many milliseconds another process has been known to hold the probe. */
const noteOthersProbe = (track: Track, { stored, holder, nowMs }: Situation): number => {
  const { probe } = stored ?? {};
  const key = probe === undefined || probe.holder === holder ? undefined : `${probe.holder} ${stored?.generation}`;
  if (key === undefined) track.othersProbe = undefined;
  else if (track.othersProbe?.key !== key) track.othersProbe = { key, sinceMs: nowMs };
  return track.othersProbe === undefined ? 0 : nowMs - track.othersProbe.sinceMs;
};

/** Notes the answer to a claim. The grant counts from before the claim was sent, so that it ends before the store's lease. */
export const noteClaim = (
  track: Track,
  grant: Grant | undefined,
  { useMs, leaseMs }: Extract<Step, { send: 'claim' }>,
  nowMs: number,
): void => {
  const sentMs = track.claim?.sentMs ?? nowMs;
  track.claim = undefined;
  track.claimAtMs = undefined;
  const isRenewal = track.grant !== undefined;
  if (grant === undefined) {
    if (isRenewal) forgetGrant(track);
    return;
  }
  if (!isRenewal) track.result = undefined;
  const untilMs = sentMs + useMs;
  track.grant = { grant, untilMs, useEndMs: Math.min(untilMs, sentMs + USE_MS), leaseEndMs: sentMs + leaseMs };
};

/** What to tell the box now, if that is something else than before. */
export const nextOrder = (track: Track, situation: Situation): FleetOrder | undefined => {
  const chosen = order(track, situation);
  if (chosen === undefined || chosen.key === track.fed) return undefined;
  track.fed = chosen.key;
  return chosen.order;
};

type Keyed = { readonly key: string; readonly order: FleetOrder };

const order = (track: Track, situation: Situation): Keyed | undefined => {
  const { nowMs, mode, stored } = situation;
  // G4: from the moment at which the grant is given back, the box may not use it, whatever is still to be heard.
  if (mode === 'up' && track.result?.result === 'returned' && stored?.state === 'open') return hold(stored, situation);
  if (mode === 'up' && isBehind(track, situation)) return undefined;
  if (track.grant !== undefined) {
    const { grant, useEndMs } = track.grant;
    return nowMs < useEndMs
      ? { key: `grant ${grant.token} ${useEndMs}`, order: { order: 'grant', forMs: useEndMs - nowMs } }
      : undefined;
  }
  if (mode === 'starting') return undefined;
  if (mode === 'degraded') return isHeld(track) ? letGo(track, situation) : undefined;
  if (stored?.state === 'open') return hold(stored, situation);
  if (stored?.state === 'closed') return recover(track, situation, stored);
  // The store does not know it. It is released, unless this box is about to report it again.
  const isReported =
    track.heard !== undefined && situation.circuit !== undefined && situation.circuit.state !== 'closed';
  return isHeld(track) && !isReported ? letGo(track, situation) : undefined;
};

const generationIn = ({ epoch, stored }: Situation): string => `${epoch} ${stored?.generation}`;

const hold = (stored: Heard<StoredCircuit>, situation: Situation): Keyed => {
  const { category, waitMs } = stored;
  const order = { order: 'hold', category, ageMs: ageMs(stored, situation.nowMs), waitMs } as const;
  return { key: `hold ${generationIn(situation)}`, order };
};

/** Whether the box waits for the fleet. */
export const isHeld = ({ fed }: Track): boolean => fed.startsWith('hold') || fed.startsWith('grant');

/** G5: a circuit that opened before the fleet's closed is due soon. One that opened later is another outage, with its own schedule. */
const recover = (track: Track, situation: Situation, stored: Heard<StoredCircuit>): Keyed | undefined => {
  const { circuit, nowMs, chance } = situation;
  const closedMs = ageMs(stored, nowMs);
  const isOpen = circuit !== undefined && circuit.state !== 'closed';
  const isOlder = isOpen && isOver(circuit, stored, nowMs);
  // A process without the event must know when it ended, or it would begin it with circuits that are still open.
  if (!isOlder && !isHeld(track) && (isOpen || track.name !== EVENT_CIRCUIT)) return undefined;
  if (isOpen && !isOlder) return letGo(track, situation);
  const dueInMs = Math.max(0, chance * STAGGER_MS - closedMs);
  return { key: `recover ${generationIn(situation)}`, order: { order: 'recover', dueInMs, ageMs: closedMs } };
};

/** G7: the local clock goes on with what is left of the wait. */
const letGo = (track: Track, { stored, nowMs, chance }: Situation): Keyed => {
  const waitMs = stored?.waitMs ?? track.heard?.waitMs ?? 0;
  const leftMs = stored?.state === 'open' ? Math.max(0, waitMs - ageMs(stored, nowMs)) : 0;
  const notBeforeMs = leftMs + chance * Math.max(STAGGER_MS, waitMs / 10);
  return { key: 'let_go', order: { order: 'let_go', notBeforeMs } };
};
