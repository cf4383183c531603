import type { FleetStore, Grant, ProbeResult, Report } from '../protocol.ts';

/** The same claim within this time is the same message. */
const RENEWED_MS = 5_000;

/** The probe that a process may send. */
interface Lease {
  readonly process: string;
  readonly token: string;
  readonly untilMs: number;
}

/** One circuit as the rules have it. */
export interface PromisedCircuit {
  readonly state: 'pending' | 'open' | 'closed';
  readonly generation: number;
  readonly sinceMs: number;
  readonly waitMs: number;
  /** Who has seen it open, and when, while pending. */
  readonly seen: ReadonlyMap<string, number>;
  readonly lease: Lease | undefined;
}

/** A promise of the fleet that was broken. */
export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise';
}

export const assertPromise = (isKept: boolean, promise: string, what: unknown): void => {
  if (!isKept) throw new BrokenPromise(`${promise}: ${JSON.stringify(what)}`);
};

const NEW: PromisedCircuit = {
  state: 'closed',
  generation: 0,
  sinceMs: 0,
  waitMs: 0,
  seen: new Map(),
  lease: undefined,
};

/**
 * What a store promises (G3, G4, G7), written from the rules and not from the store. It sees each request at the moment when it takes
 * effect, with the store's answer, and says which promise the answer breaks.
 */
export class Promises {
  readonly circuits = new Map<string, PromisedCircuit>();
  /** How often each thing happened: a schedule that reaches nothing proves nothing. */
  readonly reached: Record<string, number> = {};
  /** The first promise that an answer has broken. */
  broken: unknown;
  #epoch: string | undefined;
  readonly #settled = new Set<string>();

  #count(what: string): void {
    this.reached[what] = (this.reached[what] ?? 0) + 1;
  }

  circuit(id: string): PromisedCircuit {
    return this.circuits.get(id) ?? NEW;
  }

  /** The process that holds the probe now. */
  holder(id: string, nowMs: number): string | undefined {
    const { lease } = this.circuit(id);
    return lease !== undefined && lease.untilMs > nowMs ? lease.process : undefined;
  }

  /** When the store last lost all that it had. */
  lostMs = Number.NEGATIVE_INFINITY;

  /** The store has lost all that it had. */
  lost(nowMs: number): void {
    this.lostMs = nowMs;
    this.circuits.clear();
    this.#epoch = undefined;
    this.#count('data lost');
  }

  /** G3: distinct processes within the window open it. G7: a process that knew a newer generation wins, with its age. Nothing else changes. */
  report(one: Report, answer: Awaited<ReturnType<FleetStore['report']>>, nowMs: number): void {
    const before = this.circuit(one.id);
    const opened = { ...NEW, state: 'open', sinceMs: nowMs, waitMs: one.waitMs } as const;
    let after = before;
    if (one.generation > before.generation) {
      after = { ...opened, generation: one.generation, sinceMs: nowMs - Math.min(one.ageMs, one.waitMs) };
      this.#count('opening brought back');
    } else if (before.state !== 'open' && one.generation === 0) {
      const seen = new Map([...before.seen].filter(([, ms]) => nowMs - ms < one.windowMs)).set(one.process, nowMs);
      const isEnough = seen.size >= one.quorum;
      const isAgain = nowMs - (before.seen.get(one.process) ?? Number.NEGATIVE_INFINITY) < RENEWED_MS;
      if (isEnough) after = { ...opened, generation: before.generation + 1 };
      else if (!isAgain) after = { ...opened, state: 'pending', generation: before.generation, seen };
      this.#count(isEnough ? 'opened' : isAgain ? 'report that came twice' : 'pending');
    } else this.#count('report that changes nothing');
    this.circuits.set(one.id, after);
    const { state, generation } = after;
    assertPromise(answer.state === state && answer.generation === generation, 'G3: a report', { one, answer, after });
  }

  /** G4: one process holds the probe of an open circuit whose wait is over. */
  claim(
    [id, process, generation, token, leaseMs, isWanted]: Parameters<FleetStore['claim']>,
    answer: Grant | undefined,
    nowMs: number,
  ): void {
    const before = this.circuit(id);
    const held = before.lease !== undefined && before.lease.untilMs > nowMs ? before.lease : undefined;
    const isAgain = held?.process === process && held.token === token;
    const isDue = nowMs - before.sinceMs >= before.waitMs;
    const isGranted =
      before.state === 'open' && before.generation === generation && (isAgain || (held === undefined && isDue));
    assertPromise((answer !== undefined) === isGranted, 'G4: one probe at a time', {
      id,
      process,
      answer,
      before,
      nowMs,
    });
    if (!isGranted) {
      this.#count(held !== undefined && isWanted ? 'claim that asks the holder' : 'claim refused');
      return;
    }
    if (isAgain && nowMs + leaseMs - held.untilMs < RENEWED_MS) {
      this.#count('claim that came twice');
      return;
    }
    if (isAgain) this.#count('lease renewed');
    this.#epoch ??= answer?.epoch;
    assertPromise(answer?.epoch === this.#epoch, 'G4: one epoch', { answer, epoch: this.#epoch });
    this.circuits.set(id, { ...before, lease: { process, token, untilMs: nowMs + leaseMs } });
    this.#count('claim granted');
  }

  /** G4: only the holder's settlement counts, while its lease lasts, and once. Only a success closes. */
  settle(
    [id, process, grant, result]: [string, string, Grant, ProbeResult],
    answer: 'done' | 'stale',
    nowMs: number,
  ): void {
    const before = this.circuit(id);
    const { lease, generation } = before;
    const isOurs =
      grant.epoch === this.#epoch &&
      grant.generation === generation &&
      lease?.process === process &&
      lease.token === grant.token &&
      lease.untilMs > nowMs;
    assertPromise((answer === 'done') === isOurs, 'G4: a settlement', { id, process, grant, result, answer, before });
    if (!isOurs) {
      this.#count('settlement dropped');
      return;
    }
    assertPromise(!this.#settled.has(grant.token), 'G4: a settlement counts once', grant);
    this.#settled.add(grant.token);
    this.#count(`probe: ${result.result}`);
    const next = { ...before, lease: undefined, seen: new Map<string, number>() };
    if (result.result === 'returned') this.circuits.set(id, next);
    else {
      const waitMs = result.result === 'failure' ? result.waitMs : before.waitMs;
      const state = result.result === 'success' ? 'closed' : 'open';
      this.circuits.set(id, { ...next, state, generation: generation + 1, sinceMs: nowMs, waitMs });
    }
  }

  /** A person, a health check or a time ends the outage that it has seen, and no later one. */
  end(id: string, generation: number, answer: boolean, nowMs: number): void {
    const before = this.circuit(id);
    const isSeen = before.state === 'open' && before.generation === generation;
    assertPromise(answer === isSeen, 'G8: the end of an outage', { id, generation, answer, before });
    if (isSeen) this.circuits.set(id, { ...NEW, generation: generation + 1, sinceMs: nowMs, waitMs: before.waitMs });
  }

  /** G6: a read shows all of it as it is. */
  read(whole: Awaited<ReturnType<FleetStore['read']>>, nowMs: number): void {
    const shown = Object.fromEntries(
      whole.circuits.map(({ id, state, generation, probe }) => [id, { state, generation, holder: probe?.holder }]),
    );
    const promised = Object.fromEntries(
      [...this.circuits.keys()].map((id) => {
        const { state, generation } = this.circuit(id);
        return [id, { state, generation, holder: this.holder(id, nowMs) }];
      }),
    );
    const sorted = (all: object): string =>
      JSON.stringify(Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    assertPromise(sorted(shown) === sorted(promised), 'G6: a read', { shown, promised });
  }
}
