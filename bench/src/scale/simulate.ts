import { type CircuitView, createBreakerbox, type Session } from '@breakerbox/core';
import { operate } from '@breakerbox/core/control';
import { shareCircuits } from '@breakerbox/core/fleet';
import { type FleetStore, memoryStore, type StoredCircuit } from '@breakerbox/fleet';
import { fleetWith } from '../../../packages/fleet/src/fleet.ts';
import { seededRandom, type VirtualTime, virtualTime } from '../../../packages/fleet/src/proof/virtual-time.ts';
import { NOWHERE } from '../../../packages/fleet/src/protocol.ts';
import { TOOL } from '../tool.ts';
import { answerBytes, requestBytes } from './bytes.ts';
import type { FleetShape } from './model.ts';

/** A simulated outage. */
export interface Simulation extends FleetShape {
  readonly seed: number;
  /** Whether the processes share the circuit. */
  readonly shared: boolean;
  readonly cooldownMs: number;
  /** The tool is dead for so long. */
  readonly outageMs: number;
}

/** What was counted. Times are milliseconds. */
export interface Simulated {
  /** While the tool works. */
  readonly healthy: { readonly scriptsPerSecond: number; readonly writes: number; readonly bytesPerSecond: number };
  /** From the end of the tool until the quorum had seen it, and the calls until then. */
  readonly quorumMs: number;
  readonly callsUntilQuorum: number;
  /** Calls into the dead tool until all knew, without probes. */
  readonly calls: number;
  /** From the quorum until half and 99 % of the processes knew. */
  readonly knownP50Ms: number;
  readonly knownP99Ms: number;
  /** Probes while the tool was dead, and rounds of them. */
  readonly probes: number;
  /** Writes of the whole outage. */
  readonly writes: number;
  /** The most scripts in a tenth of a second, as scripts a second. */
  readonly peakPerSecond: number;
  /** From the probe that closed the circuit until half and 99 % of the processes may call. */
  readonly againP50Ms: number;
  readonly againP99Ms: number;
}

/** The processes start in this time, and then their reads are spread. */
const START_MS = 3_000;
const HEALTHY_MS = 12_000;
const RECOVERY_MS = 3_000;
const NETWORK_MS = 0.5;
const TENTH_MS = 100;
const SAMPLE_MS = 100;

const quantileOf = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.ceil(values.length * share) - 1] ?? Number.NaN;

/** Whether the next call is let through, be it as a probe (G5). */
const mayCall = (view: CircuitView | undefined): boolean => {
  if (view === undefined || view.state === 'closed') return true;
  const { ms = 1, notBeforeMs = 1 } = view.nextProbe ?? {};
  return ms <= 0 && notBeforeMs <= 0;
};

/** Redis as one queue: it works on one script at a time. */
const queuedStore = (store: FleetStore, time: VirtualTime, { scriptMs, hints }: FleetShape) => {
  const counts = { scripts: 0, bytes: 0 };
  const tenths = new Map<number, number>();
  let freeMs = 0;
  const later = <Answer>(ms: number, answer: Answer): Promise<Answer> =>
    new Promise((resolve) => time.after(ms, () => resolve(answer)));
  const work = async <Answer>(kind: keyof FleetStore, run: () => Promise<Answer>): Promise<Answer> => {
    freeMs = Math.max(freeMs, time.now() + NETWORK_MS) + scriptMs;
    await later(freeMs - time.now(), undefined);
    const answer = await run();
    counts.scripts += 1;
    counts.bytes += requestBytes(kind) + answerBytes(answer);
    const tenth = Math.floor(time.now() / TENTH_MS);
    tenths.set(tenth, (tenths.get(tenth) ?? 0) + 1);
    return later(NETWORK_MS, answer);
  };
  const connect = (): FleetStore => ({
    read: (since, actions) => work('read', () => store.read(since, actions)),
    report: (report) => work('report', () => store.report(report)),
    claim: (...claim) => work('claim', () => store.claim(...claim)),
    settle: (...settlement) => work('settle', () => store.settle(...settlement)),
    end: (...ending) => work('end', () => store.end(...ending)),
    control: (action) => work('control', () => store.control(action)),
    listen: (onHint) => store.listen(() => void (hints && time.after(NETWORK_MS, onHint))),
    close: async () => {},
  });
  const peakPerSecond = (fromMs: number): number =>
    Math.max(0, ...[...tenths].filter(([tenth]) => tenth * TENTH_MS >= fromMs).map(([, count]) => count)) *
    (1_000 / TENTH_MS);
  return { counts, connect, peakPerSecond };
};

/** Plays an outage with real boxes and a virtual clock. */
export const simulate = async (simulation: Simulation): Promise<Simulated> => {
  const { seed, processes, callsPerSecond, threshold, quorum, shared, cooldownMs, outageMs } = simulation;
  const random = seededRandom(seed);
  const time = virtualTime(random);
  const store = memoryStore({ now: time.now, epoch: time.id });
  const redis = queuedStore(store, time, simulation);
  /** The store's version grows with each write. */
  const writes = async (): Promise<number> => (await store.read(NOWHERE)).position.version;
  let works = true;
  let openedMs: number | undefined;
  let closedMs: number | undefined;
  const known: number[] = [];
  let calls = 0;
  let callsUntilQuorum = 0;
  let probes = 0;

  /** Notes when a process hears that the circuit is open, and when the store opened and closed it. */
  const listening = (store: FleetStore): FleetStore => {
    let knows = false;
    const hear = ({ state }: StoredCircuit): void => {
      if (knows || state !== 'open') return;
      knows = true;
      known.push(time.now());
    };
    return {
      ...store,
      read: async (since, actions) => {
        const word = await store.read(since, actions);
        word.circuits.forEach(hear);
        return word;
      },
      report: async (report) => {
        const circuit = await store.report(report);
        if (circuit.state === 'open' && openedMs === undefined) {
          openedMs = time.now();
          callsUntilQuorum = calls;
        }
        hear(circuit);
        return circuit;
      },
      settle: async (...settlement) => {
        const answer = await store.settle(...settlement);
        if (answer === 'done' && settlement[3].result === 'success') closedMs ??= time.now();
        return answer;
      },
    };
  };

  const call = (session: Session): void => {
    const permit = session.acquire(TOOL);
    const { decision } = permit;
    if (decision === 'call' || decision === 'probe') {
      if (!works && decision === 'call') calls += 1;
      if (!works && decision === 'probe') probes += 1;
      if (works && decision === 'probe') closedMs ??= shared ? undefined : time.now();
      permit.settle(works ? { outcome: 'success' } : { outcome: 'failure', category: 'server' });
    }
    next(session);
  };
  const next = (session: Session): void =>
    void time.after((-Math.log(1 - random()) / callsPerSecond) * 1_000, () => call(session));

  const sessions: Session[] = [];
  const start = (): void => {
    const store = listening(redis.connect());
    const seams = { runtime: time, share: shareCircuits, operate };
    const fleet = shared ? fleetWith({ client: store, name: 'fleet', quorum }, seams) : undefined;
    const policy = { failureThreshold: threshold, cooldownMs, maxCooldownMs: cooldownMs };
    const box = createBreakerbox({
      agent: 'agent',
      scope: 'process',
      clock: { now: time.now, unixNow: time.now },
      budget: { failures: 1_000_000 },
      ...(fleet && { fleet }),
      tools: { [TOOL]: fleet ? { ...policy, share: 'fleet' } : policy },
    });
    const session = box.session();
    next(session);
    sessions.push(session);
  };
  for (let number = 0; number < processes; number += 1) time.after((random() * START_MS) / 2, start);

  await time.runUntil(START_MS);
  const before = { ...redis.counts };
  await time.runUntil(START_MS + HEALTHY_MS);
  const seconds = HEALTHY_MS / 1_000;
  const healthy = {
    scriptsPerSecond: (redis.counts.scripts - before.scripts) / seconds,
    writes: await writes(),
    bytesPerSecond: (redis.counts.bytes - before.bytes) / seconds,
  };

  works = false;
  const deadMs = time.now();
  await time.runUntil(deadMs + outageMs);
  works = true;
  const worksMs = time.now();
  while (closedMs === undefined && time.now() < worksMs + 2 * cooldownMs) await time.runUntil(time.now() + SAMPLE_MS);
  const recoveredMs = closedMs ?? Number.NaN;
  const again: number[] = [];
  const waiting = new Set(sessions);
  while (waiting.size > 0 && time.now() < recoveredMs + RECOVERY_MS) {
    for (const session of waiting) {
      if (!mayCall(session.peek(TOOL))) continue;
      waiting.delete(session);
      again.push(time.now() - recoveredMs);
    }
    await time.runUntil(time.now() + SAMPLE_MS);
  }
  const openMs = openedMs ?? Number.NaN;
  return {
    healthy,
    quorumMs: openMs - deadMs,
    callsUntilQuorum,
    calls,
    knownP50Ms: quantileOf(known, 0.5) - openMs,
    knownP99Ms: quantileOf(known, 0.99) - openMs,
    probes,
    writes: await writes(),
    peakPerSecond: redis.peakPerSecond(deadMs),
    againP50Ms: again.length < processes * 0.5 ? Number.NaN : quantileOf(again, 0.5),
    againP99Ms: again.length < processes * 0.99 ? Number.NaN : quantileOf(again, 0.99),
  };
};
