import { createBreakerbox } from '@breakerbox/core';
import { operate } from '@breakerbox/core/control';
import { shareCircuits } from '@breakerbox/core/fleet';
import { fleetWith } from '../fleet.ts';
import { memoryStore } from '../memory-store.ts';
import { NOWHERE } from '../protocol.ts';
import { faultyStore, type Network } from './faulty-store.ts';
import { assertPromise, Promises } from './promises.ts';
import { seededRandom, virtualTime } from './virtual-time.ts';

/** A time in which the tool, the network and the store behave in one way. */
export interface Phase extends Omit<Network, 'cut'> {
  readonly ms: number;
  readonly works: boolean;
  /** Numbers of the processes that reach nothing. */
  readonly cut: readonly number[];
  /** The store loses all data when it begins. */
  readonly loses: boolean;
}

/** Everything that chance decides. */
export interface Schedule {
  readonly seed: number;
  readonly processes: number;
  readonly phases: readonly Phase[];
}

const TOOL = 'web_search';
const POLICY = { cooldownMs: 2_000, maxCooldownMs: 4_000, probeLeaseMs: 1_000 };

const CALM = { lost: 0, twice: 0, hintsLost: 0, slowMs: 5, cut: [], loses: false } as const;
/** Longer than the longest pause between two attempts to reach a store, and a wait after it. */
const CONVERGED_MS = 12_000;
const REST_MS = 4_000;

/** A process of the play. */
interface Player {
  readonly mode: () => string;
  readonly state: () => string;
}

/**
 * Plays a schedule, and then a calm time with a dead tool and one with a tool that works.
 * @returns How often each thing happened.
 * @throws BrokenPromise if one was broken
 */
export const play = async ({ seed, processes, phases }: Schedule): Promise<Readonly<Record<string, number>>> => {
  const random = seededRandom(seed);
  const time = virtualTime(random);
  const store = memoryStore({ now: time.now, epoch: time.id });
  const promises = new Promises();
  const { reached } = promises;
  const count = (what: string): void => {
    reached[what] = (reached[what] ?? 0) + 1;
  };
  let phase: Phase = { ...CALM, ms: 0, works: true };
  /** Calls that were let through, and what they were. */
  let through = { call: 0, probe: 0 };
  const granted = new Set<number>();

  const start = (number: number): Player => {
    const own = faultyStore(store, promises, time, () => ({ ...phase, cut: phase.cut.includes(number) }));
    const fleet = fleetWith({ client: own, name: 'agents' }, { runtime: time, share: shareCircuits, operate });
    const box = createBreakerbox({
      agent: 'agent',
      scope: 'process',
      clock: { now: time.now, unixNow: time.now },
      budget: { failures: 1_000_000 },
      fleet,
      tools: { [TOOL]: { ...POLICY, share: 'fleet' } },
    });
    const session = box.session();

    /** G4: of those that know that it is open, only the holder of the lease calls it, once at a time. */
    const check = (decision: 'call' | 'probe'): void => {
      for (const [id, { state, generation }] of promises.circuits) {
        const heard = own.heard(id);
        const isHolder = own.process !== undefined && promises.holder(id, time.now()) === own.process;
        const knows =
          state === 'open' &&
          heard?.state === 'open' &&
          heard.generation === generation &&
          // The answer to a settlement that was lost with the data is still to come.
          heard.askedMs >= promises.lostMs &&
          fleet.status().mode === 'up';
        const what = { number, decision, heard, generation, atMs: time.now() };
        assertPromise(!knows || isHolder, 'G4: only the holder of the probe calls the tool', what);
        if (!knows) count(`${decision} of a process that does not know`);
        if (!isHolder || decision !== 'probe' || state !== 'open') continue;
        assertPromise(granted.size === 0, 'G4: at most one probe at a time', what);
        granted.add(number);
        count('probe of the fleet');
      }
    };

    const call = (): void => {
      time.after(100 + random() * 500, call);
      const permit = session.acquire(TOOL);
      const { decision } = permit;
      if (decision !== 'call' && decision !== 'probe') return;
      through[decision] += 1;
      check(decision);
      time.after(20 + random() * 300, () => {
        granted.delete(number);
        permit.settle(phase.works ? { outcome: 'success' } : { outcome: 'failure', category: 'network' });
      });
    };
    time.after(random() * 500, call);
    return {
      mode: () => fleet.status().mode,
      state: () => session.view().circuits.find(({ tool }) => tool === TOOL)?.state ?? 'closed',
    };
  };

  const spend = async (next: Phase): Promise<void> => {
    phase = next;
    if (next.loses) {
      store.clear();
      promises.lost(time.now());
    }
    await time.runUntil(time.now() + next.ms);
    if (promises.broken !== undefined) throw promises.broken;
  };

  const players = Array.from({ length: processes }, (_, number) => start(number));
  const all = (read: (player: Player) => string): readonly string[] => players.map(read);
  for (const next of phases) await spend(next);

  await spend({ ...CALM, ms: CONVERGED_MS, works: false });
  through = { call: 0, probe: 0 };
  await spend({ ...CALM, ms: REST_MS, works: false });
  const dead = { modes: all(({ mode }) => mode()), states: all(({ state }) => state()), through };
  assertPromise(
    dead.modes.every((mode) => mode === 'up'),
    'G7: all hear of the store again',
    dead,
  );
  assertPromise(
    dead.states.every((state) => state !== 'closed'),
    'G3: all know that the tool is dead',
    dead,
  );
  assertPromise(through.call === 0 && through.probe <= 2, 'G4: one probe a round', dead);

  await spend({ ...CALM, ms: CONVERGED_MS, works: true });
  const { position } = await store.read(NOWHERE);
  through = { call: 0, probe: 0 };
  await spend({ ...CALM, ms: REST_MS, works: true });
  const well = { states: all(({ state }) => state()), through, stored: [...promises.circuits.values()] };
  assertPromise(
    well.states.every((state) => state === 'closed'),
    'G5: all recover',
    well,
  );
  assertPromise(well.through.call >= 2 * processes && well.through.probe === 0, 'G5: all call again', well);
  assertPromise(
    [...promises.circuits.values()].every(({ state }) => state === 'closed'),
    'G5: the store closes',
    well,
  );
  const after = await store.read(NOWHERE);
  assertPromise(after.position.version === position.version, 'G6: a healthy fleet writes nothing', { position, after });
  return reached;
};
