import type { Breakerbox } from '@breakerbox/core';
import { describe, expect, test } from 'vitest';
import { circuitId } from './circuit-id.ts';
import { type Fleet, fleetWith } from './fleet.ts';
import { BOUNDS, type Bounds } from './fleet-state.ts';
import { boundedMemoryStore } from './memory-store.ts';
import { type FleetStore, type Listening, NOWHERE } from './protocol.ts';
import { StoreError } from './reasons.ts';
import { type FakeCircuits, fakeCircuits } from './test-support.circuits.ts';
import { virtualRuntime } from './test-support.virtual.ts';

/** A store that can hang, and that counts its calls. */
const observed = (store: FleetStore) => {
  const counts = { read: 0, written: 0 };
  const listening: Listening[] = [];
  const state = {
    hangs: false,
    report: undefined as Promise<void> | undefined,
  };
  const hanging =
    <Given extends unknown[], Answer>(what: 'read' | 'written', run: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      counts[what] += 1;
      if (state.hangs) throw new StoreError('timeout', 'Redis did not answer within 1000 ms.');
      return run(...given);
    };
  const wrapped: FleetStore = {
    ...store,
    read: hanging('read', store.read),
    report: hanging('written', async (report) => {
      const answer = await store.report(report);
      await state.report;
      return answer;
    }),
    claim: hanging('written', store.claim),
    settle: hanging('written', store.settle),
    end: hanging('written', store.end),
    control: hanging('written', store.control),
    listen: (onHint) => {
      const one = store.listen(onHint);
      listening.push(one);
      return one;
    },
  };
  return { store: wrapped, counts, state, listening };
};

const NO_OPERATOR = { version: 0, modes: () => [] };

/** Processes that share a store, each with circuits of its own. */
const fleetOf = (
  size: number,
  {
    names = ['a'],
    quorum,
    epoch,
    bounds = BOUNDS,
  }: { names?: readonly string[]; quorum?: number; epoch?: string; bounds?: Bounds } = {},
) => {
  const runtime = virtualRuntime();
  const memory = boundedMemoryStore(bounds, { now: () => 1e12 + runtime.now(), epoch: () => epoch ?? runtime.id() });
  const { store, counts, state, listening } = observed(memory);
  const start = (): { readonly fleet: Fleet; readonly circuits: FakeCircuits } => {
    const circuits = fakeCircuits(runtime.now, names);
    const seams = { runtime, share: () => circuits, operate: () => NO_OPERATOR as never };
    const fleet = fleetWith({ client: store, ...(quorum !== undefined && { quorum }) }, seams);
    fleet.join({ on: () => () => {} } as unknown as Breakerbox);
    return { fleet, circuits };
  };
  const processes = Array.from({ length: size }, start);
  const all = processes.map(({ circuits }) => circuits);
  return { runtime, memory, store, counts, state, listening, processes, start, all };
};

const failThrice = (circuits: FakeCircuits | undefined): void => {
  for (let call = 0; call < 3; call += 1) circuits?.call('a', false);
};

describe('G3: a quorum opens for all', () => {
  test('G3: one process opens alone, the second one opens all', async () => {
    const { runtime, all, processes } = fleetOf(4);
    await runtime.pass(2_000);
    failThrice(all[0]);
    await runtime.pass(2_000);
    expect(processes[3]?.fleet.status().circuits).toMatchObject([{ name: 'a', state: 'pending', seenBy: 1 }]);
    expect(all[3]?.call('a', true)).toBe('called');
    failThrice(all[1]);
    await runtime.pass(200);
    expect(all.map((one) => one.call('a', true))).toEqual(['rejected', 'rejected', 'rejected', 'rejected']);
    expect(processes[2]?.fleet.status().circuits).toMatchObject([{ name: 'a', state: 'open', generation: 1 }]);
  });

  test('G3: where one process lives, it is the quorum', async () => {
    const { runtime, all, processes } = fleetOf(1);
    await runtime.pass(2_000);
    failThrice(all[0]);
    await runtime.pass(200);
    expect(processes[0]?.fleet.status().circuits).toMatchObject([{ state: 'open' }]);
  });

  test('G3: processes that do not listen for a moment still count for the quorum', async () => {
    const { runtime, all, listening, processes } = fleetOf(4);
    await runtime.pass(40_000);
    for (const one of listening.slice(1)) one.stop();
    failThrice(all[0]);
    await runtime.pass(2_000);
    expect(processes[0]?.fleet.status().circuits).toMatchObject([{ name: 'a', state: 'pending', seenBy: 1 }]);
    expect(all[3]?.call('a', true)).toBe('called');
  });

  test('G3: a process whose fleet has gone is the quorum after 60 s', async () => {
    const { runtime, all, processes } = fleetOf(4);
    await runtime.pass(2_000);
    for (const { fleet } of processes.slice(1)) await fleet.close();
    await runtime.pass(62_000);
    failThrice(all[0]);
    await runtime.pass(500);
    expect(processes[0]?.fleet.status().circuits).toMatchObject([{ name: 'a', state: 'open' }]);
  });

  test('G3: a process whose subscription is not up yet does not take itself for the only one', async () => {
    const { runtime, listening, all, processes, start } = fleetOf(1);
    await runtime.pass(2_000);
    const late = start();
    listening[1]?.stop(); // Redis counts only the first one.
    failThrice(late.circuits);
    await runtime.pass(3_000);
    expect(processes[0]?.fleet.status().circuits).toMatchObject([{ name: 'a', state: 'pending', seenBy: 1 }]);
    expect(all[0]?.call('a', true)).toBe('called');
    expect(late.fleet.status().processes).toBeUndefined();
  });

  test('G6: a store that is full of open circuits keeps no other, and nothing is written again', async () => {
    const bounds = { circuits: 2, actions: 2 };
    const { runtime, all, counts, processes } = fleetOf(2, { names: ['a', 'b', 'c'], quorum: 1, bounds });
    await runtime.pass(2_000);
    for (const name of ['b', 'c', 'a']) for (let count = 0; count < 3; count += 1) all[0]?.call(name, false);
    await runtime.pass(3_000);
    const open = processes[1]?.fleet.status().circuits.map(({ name, state }) => `${name} ${state}`);
    expect(open).toEqual(['b open', 'c open']);
    expect(all.map((one) => one.call('a', true))).toEqual(['rejected', 'called']);
    counts.written = 0;
    await runtime.pass(50_000);
    expect(counts.written).toBe(0);
  });

  test('G1: a process that starts later is told before its first call', async () => {
    const { runtime, all, start } = fleetOf(2);
    await runtime.pass(2_000);
    failThrice(all[0]);
    failThrice(all[1]);
    await runtime.pass(2_000);
    const late = start();
    await runtime.pass(100);
    expect(late.circuits.call('a', true)).toBe('rejected');
  });
});

describe('G4: one probe for the fleet', () => {
  const opened = async (size: number) => {
    const fleet = fleetOf(size);
    await fleet.runtime.pass(2_000);
    failThrice(fleet.all[0]);
    failThrice(fleet.all[1]);
    await fleet.runtime.pass(500);
    return fleet;
  };

  /** All processes call every 100 ms. What became of the calls. */
  const callAll = async (fleet: Awaited<ReturnType<typeof opened>>, ms: number, isUp: boolean) => {
    const results: string[] = [];
    for (let passed = 0; passed < ms; passed += 100) {
      for (const one of fleet.all) results.push(one.call('a', isUp));
      await fleet.runtime.pass(100);
    }
    return results;
  };

  test('G4: a round has one probe, and each failed probe is one more generation', async () => {
    const fleet = await opened(5);
    const results = await callAll(fleet, 190_000, false);
    expect(results.filter((one) => one === 'probe failed')).toHaveLength(3);
    expect(results.filter((one) => one !== 'rejected')).toHaveLength(3);
    expect(fleet.processes[4]?.fleet.status().circuits).toMatchObject([{ state: 'open', generation: 4 }]);
  });

  test('G5: a probe that succeeds lets all processes call again within 2 s', async () => {
    const fleet = await opened(5);
    await callAll(fleet, 59_000, false);
    const results: string[] = [];
    let probedMs = 0;
    const called = new Set<number>();
    for (let passed = 0; passed < 5_000 && called.size < 5; passed += 20) {
      for (const [index, one] of fleet.all.entries()) {
        const result = one.call('a', true);
        results.push(result);
        if (result !== 'rejected') called.add(index);
        if (result === 'probed' && probedMs === 0) probedMs = fleet.runtime.now();
      }
      await fleet.runtime.pass(20);
    }
    expect(called.size).toBe(5);
    expect(fleet.runtime.now() - probedMs).toBeLessThan(2_000);
  });

  test('G4: a box does not probe by its own clock while a message of its process is under way', async () => {
    const { runtime, all, state } = fleetOf(2);
    await runtime.pass(2_000);
    state.report = new Promise(() => {});
    failThrice(all[0]);
    await runtime.pass(100);
    failThrice(all[1]);
    await runtime.pass(61_000);
    expect(all.map((one) => one.call('a', true))).toEqual(['rejected', 'rejected']);
  });

  test('G4: without a rejected call nothing is claimed', async () => {
    const fleet = await opened(3);
    const { written } = fleet.counts;
    await fleet.runtime.pass(120_000);
    expect(fleet.counts.written).toBe(written);
  });

  test('G4: a grant that is not used in time is given back, and the next rejected call gets another', async () => {
    const fleet = await opened(3);
    await fleet.runtime.pass(61_000);
    expect(fleet.all[0]?.call('a', true)).toBe('rejected');
    await fleet.runtime.pass(2_500);
    expect(fleet.all[0]?.orders.at(-1)).toBe('a grant');
    expect(fleet.all[1]?.call('a', true)).toBe('rejected');
    await fleet.runtime.pass(12_000);
    expect(fleet.processes[1]?.fleet.status().circuits).toMatchObject([{ state: 'open', holder: undefined }]);
    expect(fleet.all[0]?.call('a', true)).toBe('rejected');
    expect(fleet.all[1]?.call('a', true)).toBe('rejected');
    await fleet.runtime.pass(2_500);
    expect(
      fleet.all
        .slice(0, 2)
        .map((one) => one.call('a', true))
        .sort(),
    ).toEqual(['probed', 'rejected']);
  });

  test('G4: a tool that is called once in ten minutes is probed, too', async () => {
    const fleet = await opened(2);
    const results: string[] = [];
    for (let call = 0; call < 5; call += 1) {
      await fleet.runtime.pass(600_000);
      results.push(fleet.all[0]?.call('a', true) ?? '');
    }
    expect(results).toContain('probed');
  });

  test('G4: the settlement of a prober that was stopped beyond its lease is dropped', async () => {
    const fleet = await opened(2);
    const [stopped, other] = fleet.all;
    await fleet.runtime.pass(61_000);
    stopped?.call('a', true);
    await fleet.runtime.pass(2_500);
    expect(stopped?.take('a')).toBe(true);
    await fleet.runtime.pass(75_000);
    expect(other?.call('a', false)).toBe('rejected');
    await fleet.runtime.pass(2_500);
    expect(other?.call('a', false)).toBe('probe failed');
    stopped?.finish('a', true);
    await fleet.runtime.pass(2_500);
    expect(fleet.processes[1]?.fleet.status().circuits).toMatchObject([{ state: 'open', generation: 2 }]);
    expect(fleet.all.map((one) => one.call('a', true))).toEqual(['rejected', 'rejected']);
  });
});

describe('G6: cost', () => {
  test('G6: a healthy fleet writes nothing, and each process reads at most once a second', async () => {
    const { runtime, counts, all } = fleetOf(4);
    for (let second = 0; second < 120; second += 1) {
      for (const one of all) one.call('a', true);
      await runtime.pass(1_000);
    }
    expect(counts.written).toBe(0);
    expect(counts.read).toBeLessThanOrEqual(4 * 120);
    expect(counts.read).toBeGreaterThan(4 * 90);
  });
});

describe('G7: without the store', () => {
  test('G7: after 3 s the boxes go on by their own clocks, and afterwards the shared opening comes back', async () => {
    const { runtime, all, state, processes } = fleetOf(2);
    await runtime.pass(2_000);
    failThrice(all[0]);
    failThrice(all[1]);
    await runtime.pass(1_000);
    state.hangs = true;
    await runtime.pass(2_500);
    expect(processes[0]?.fleet.status().mode).toBe('up');
    await runtime.pass(3_000);
    expect(processes[0]?.fleet.status()).toMatchObject({ mode: 'degraded', why: 'timeout' });
    expect(all[0]?.orders.at(-1)).toBe('a let_go');
    expect(all[0]?.modes).toEqual(['up', 'degraded']);
    expect(all[0]?.call('a', true)).toBe('rejected');
    await runtime.pass(70_000);
    expect(all[0]?.call('a', true)).toBe('probed');
    state.hangs = false;
    await runtime.pass(6_000);
    expect(all[0]?.modes).toEqual(['up', 'degraded', 'up']);
    expect(all[0]?.call('a', true)).toBe('rejected');
    for (let call = 0; call < 30; call += 1) {
      all[0]?.call('a', true);
      await runtime.pass(100);
    }
    expect(all[0]?.call('a', true)).toBe('called');
  });

  test('G7: a store that has lost its data hears again what the processes hold, with its generation', async () => {
    const { runtime, all, memory, processes } = fleetOf(3);
    await runtime.pass(2_000);
    failThrice(all[0]);
    failThrice(all[1]);
    await runtime.pass(1_000);
    memory.clear();
    await runtime.pass(2_500);
    expect(processes[2]?.fleet.status().circuits).toMatchObject([{ state: 'open', generation: 1 }]);
    expect(all[2]?.call('a', true)).toBe('rejected');
  });

  test('G7: an empty store closes nothing', async () => {
    const { runtime, all, memory, store } = fleetOf(2);
    await runtime.pass(2_000);
    failThrice(all[0]);
    failThrice(all[1]);
    await runtime.pass(1_000);
    memory.clear();
    const seen: string[] = [];
    for (let passed = 0; passed < 5_000; passed += 100) {
      seen.push(all[1]?.call('a', true) ?? '');
      await runtime.pass(100);
    }
    expect(new Set(seen)).toEqual(new Set(['rejected']));
    expect((await store.read({ epoch: '', version: 0 })).circuits).toMatchObject([{ state: 'open' }]);
  });

  test('G7: an old opening that comes back after a loss is due at once, and one probe closes it', async () => {
    const { runtime, all, memory, state, processes } = fleetOf(3);
    await runtime.pass(2_000);
    failThrice(all[0]);
    failThrice(all[1]);
    await runtime.pass(1_000);
    state.hangs = true;
    await runtime.pass(70_000);
    expect(all.slice(0, 2).map((one) => one.call('a', true))).toEqual(['probed', 'probed']);
    memory.clear();
    state.hangs = false;
    await runtime.pass(8_000);
    // The third process was idle, and knows no better.
    expect(processes[0]?.fleet.status().circuits).toMatchObject([{ state: 'open', generation: 1 }]);
    const seen: (readonly (string | undefined)[])[] = [];
    for (let passed = 0; passed < 4_000; passed += 100) {
      seen.push(all.slice(0, 2).map((one) => one.call('a', true)));
      await runtime.pass(100);
    }
    expect(seen[0]).toEqual(['rejected', 'rejected']);
    expect(seen.at(-1)).toEqual(['called', 'called']);
  });

  test.each([
    ['30 s later', 'nothing', 32_000],
    ['after a failure', 'failure', 3_000],
    ['after a claim that is refused', 'call', 4_000],
  ])(
    'G7: a process hears of a closing in a store that went back to older data and grew again: %s',
    async (_, what, ms) => {
      const { runtime, all, memory, state, processes } = fleetOf(2, { epoch: 'one' });
      const other = { category: 'server', waitMs: 0, quorum: 1, windowMs: 1_000, generation: 0, ageMs: 0 } as const;
      const write = async (version: number) => {
        while ((await memory.read(NOWHERE)).position.version < version) {
          const id = `other${(await memory.read(NOWHERE)).position.version}`;
          await memory.report({ ...other, id, process: 'x' });
        }
      };
      await runtime.pass(2_000);
      failThrice(all[0]);
      failThrice(all[1]);
      await write(8);
      // The processes have just been counted, and the wait is over.
      await runtime.pass(66_000);
      const id = circuitId({ name: 'a', digest: 'd1' });
      memory.clear();
      await memory.report({ ...other, id, process: 'x' });
      const grant = await memory.claim(id, 'x', 1, 't', 1_000, false);
      if (grant !== undefined) await memory.settle(id, 'x', grant, { result: 'success' });
      await write(12);
      const found = () => processes[0]?.fleet.status().circuits.find(({ name }) => name === 'a');
      await runtime.pass(2_500);
      expect(found()).toMatchObject({ state: 'open' });
      state.hangs = what === 'failure';
      if (what === 'call') expect(all[0]?.call('a', true)).toBe('rejected');
      await runtime.pass(1_500);
      state.hangs = false;
      await runtime.pass(ms);
      expect(found()).toMatchObject({ state: 'closed', generation: 2 });
      expect(all[0]?.call('a', true)).toBe('probed');
      expect(all[0]?.call('a', true)).toBe('called');
    },
  );

  test('close gives the probe back, and the boxes go on alone', async () => {
    const { runtime, all, processes, store } = fleetOf(2);
    await runtime.pass(2_000);
    failThrice(all[0]);
    failThrice(all[1]);
    await runtime.pass(61_000);
    all[0]?.call('a', true);
    await runtime.pass(2_500);
    expect(all[0]?.orders.at(-1)).toBe('a grant');
    await processes[0]?.fleet.close();
    expect(all[0]?.orders.at(-1)).toBe('a let_go');
    expect((await store.read({ epoch: '', version: 0 })).circuits).toMatchObject([{ state: 'open', probe: undefined }]);
  });
});
