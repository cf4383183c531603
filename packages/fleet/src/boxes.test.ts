import { inspect } from 'node:util';
import { type Breakerbox, createBreakerbox, type Session } from '@breakerbox/core';
import { operate } from '@breakerbox/core/control';
import { shareCircuits } from '@breakerbox/core/fleet';
import { diag } from '@opentelemetry/api';
import { createClient } from 'redis';
import { afterEach, describe, expect, test } from 'vitest';
import { createFleet, type Fleet, fleetWith } from './fleet.ts';
import { boundedMemoryStore, memoryStore } from './memory-store.ts';
import type { FleetStore } from './protocol.ts';
import { StoreError } from './reasons.ts';
import { type RedisServer, startRedis } from './redis/test-support.redis-server.ts';
import { settleAll, type VirtualRuntime, virtualRuntime } from './test-support.virtual.ts';

interface Process {
  readonly fleet: Fleet;
  readonly box: Breakerbox;
  readonly session: Session;
}

const GROUPS = { github: { share: 'fleet' } } as const;
const TOOLS = {
  issues: { group: 'github' },
  pulls: { group: 'github' },
  web_search: { share: 'fleet' },
  mail: {},
  a: { share: 'fleet' },
  b: { share: 'fleet' },
} as const;

const processWith = (runtime: VirtualRuntime, store: FleetStore, agent = 'agent', aheadMs = 0): Process => {
  const clock = { now: runtime.now, unixNow: () => 1e12 + aheadMs + runtime.now() };
  const fleet = fleetWith({ client: store, name: 'all' }, { runtime, share: shareCircuits, operate });
  const box = createBreakerbox({
    agent,
    scope: 'process',
    clock,
    fleet,
    tools: TOOLS,
    groups: GROUPS,
    systemic: { sameCategory: 2 },
  });
  return { fleet, box, session: box.session() };
};

const fleetOf = async (size: number) => {
  const runtime = virtualRuntime();
  const store = memoryStore({ now: () => 1e12 + runtime.now(), epoch: () => runtime.id() });
  const processes = Array.from({ length: size }, () => processWith(runtime, store));
  await runtime.pass(2_000);
  const startAs = (agent?: string) => processWith(runtime, store, agent);
  const startAhead = (aheadMs: number) => processWith(runtime, store, undefined, aheadMs);
  return { runtime, store, processes, start: () => startAs(), startAs, startAhead };
};

/** One call. What was decided, or `ok` and `failed` for a call that ran. */
const call = ({ session }: Process, isUp: boolean, tool = 'web_search'): string => {
  const permit = session.acquire(tool);
  if (permit.decision !== 'call' && permit.decision !== 'probe') return permit.decision;
  permit.settle(isUp ? { outcome: 'success' } : { outcome: 'failure', category: 'server' });
  return permit.decision === 'probe' ? (isUp ? 'probe ok' : 'probe failed') : isUp ? 'ok' : 'failed';
};

const kill = (process: Process | undefined, tool?: string): void => {
  for (let count = 0; count < 3; count += 1) if (process !== undefined) call(process, false, tool);
};

const opened = async (size: number) => {
  const fleet = await fleetOf(size);
  kill(fleet.processes[0]);
  kill(fleet.processes[1]);
  await fleet.runtime.pass(500);
  return fleet;
};

describe('boxes that share a store', () => {
  test('G3: the whole fleet makes at most N x (threshold - 1) + quorum calls into a dead tool', async () => {
    const { runtime, processes } = await fleetOf(5);
    let failed = 0;
    for (let round = 0; round < 100; round += 1) {
      for (const one of processes) failed += call(one, false) === 'failed' ? 1 : 0;
      await runtime.pass(200);
    }
    expect(failed).toBeLessThanOrEqual(5 * 2 + 2 + 3);
    expect(processes.map((one) => call(one, true))).toEqual(Array(5).fill('skip'));
    expect(processes.map((one) => call(one, true, 'mail'))).toEqual(Array(5).fill('ok'));
  });

  test('G4, G5: one probe for each round; afterwards all call again within 2 s', async () => {
    const { runtime, processes } = await opened(5);
    const seen: string[] = [];
    for (let passed = 0; passed < 310_000; passed += 200) {
      for (const one of processes) seen.push(call(one, false));
      await runtime.pass(200);
    }
    expect(new Set(seen)).toEqual(new Set(['skip', 'probe failed']));
    // The waits double: 60, 120, 120 or more.
    expect(seen.filter((one) => one === 'probe failed').length).toBeLessThanOrEqual(4);
    expect(seen.filter((one) => one === 'probe failed').length).toBeGreaterThanOrEqual(2);
    let probedMs = 0;
    const back = new Set<Process>();
    for (let passed = 0; passed < 200_000 && back.size < 5; passed += 50) {
      for (const one of processes) {
        const result = call(one, true);
        if (result === 'probe ok') probedMs ||= runtime.now();
        if (result !== 'skip') back.add(one);
      }
      await runtime.pass(50);
    }
    expect(back.size).toBe(5);
    expect(runtime.now() - probedMs).toBeLessThan(2_000);
  });

  test('G1: a process that starts later skips from its first call', async () => {
    const { runtime, start } = await opened(2);
    const late = start();
    await runtime.pass(100);
    expect(call(late, true)).toBe('skip');
  });

  test.each(['permission', 'unusable'] as const)('G2, O8: an opening by %s stays in its process', async (category) => {
    const { runtime, processes } = await fleetOf(3);
    for (const { session } of processes.slice(0, 2))
      for (let count = 0; count < 3; count += 1) session.acquire('web_search').settle({ outcome: 'failure', category });
    await runtime.pass(3_000);
    expect(processes.map((one) => call(one, true))).toEqual(['skip', 'skip', 'ok']);
    expect(processes[2]?.fleet.status().circuits).toEqual([]);
  });

  test('G2, G4: a group that is shared opens for all, and one call of any of its tools is the probe', async () => {
    const { runtime, processes } = await fleetOf(3);
    for (const one of processes.slice(0, 2)) for (const tool of ['issues', 'pulls', 'issues']) call(one, false, tool);
    await runtime.pass(2_000);
    expect(processes.map((one) => call(one, true, 'pulls'))).toEqual(['skip', 'skip', 'skip']);
    const seen: string[] = [];
    for (let passed = 0; passed < 70_000; passed += 100) {
      for (const one of processes) seen.push(call(one, false, 'pulls'));
      await runtime.pass(100);
    }
    expect(seen.filter((one) => one !== 'skip')).toEqual(['probe failed']);
    const [opened] = processes[2]?.fleet.status().circuits ?? [];
    expect(opened).toMatchObject({ name: 'group:github', state: 'open', generation: 2 });
  });

  test('G7: without the store each process probes for itself, and the shared opening comes back', async () => {
    const { runtime, store, processes } = await opened(2);
    const { read, report, claim } = store;
    const hang = () => Promise.reject(new Error('Redis did not answer.'));
    Object.assign(store, { read: hang, report: hang, claim: hang });
    await runtime.pass(6_000);
    expect(processes[0]?.fleet.status().mode).toBe('degraded');
    expect(processes.map((one) => call(one, true))).toEqual(['skip', 'skip']);
    await runtime.pass(70_000);
    expect(processes.map((one) => call(one, false))).toEqual(['probe failed', 'probe failed']);
    Object.assign(store, { read, report, claim });
    await runtime.pass(8_000);
    expect(processes[0]?.fleet.status().mode).toBe('up');
    const results: string[] = [];
    for (let passed = 0; passed < 130_000; passed += 100) {
      for (const one of processes) results.push(call(one, true));
      await runtime.pass(100);
    }
    expect(results.at(-1)).toBe('ok');
    expect(results.at(-2)).toBe('ok');
  });

  test('G8: a forced mode reaches all processes, those that start later included, until it is released', async () => {
    const { runtime, processes, start } = await fleetOf(3);
    const [first] = processes;
    if (first === undefined) return;
    operate(first.box).force('web_search', { mode: 'forced_open', owner: 'ada', reason: 'maintenance' });
    await runtime.pass(1_500);
    expect(processes.map((one) => call(one, true, 'web_search'))).toEqual(['skip', 'skip', 'skip']);
    const late = start();
    await runtime.pass(3_000);
    expect(call(late, true, 'web_search')).toBe('skip');
    const [action] = processes[2]?.fleet.status().actions ?? [];
    expect(action).toMatchObject({ action: 'force', tool: 'web_search', owner: 'ada', applied: 4 });
    expect(operate(late.box).modes()).toMatchObject([{ tool: 'web_search', owner: 'ada', reason: 'maintenance' }]);
    const [other] = processes.slice(1);
    if (other !== undefined) operate(other.box).release('web_search', { owner: 'ada' });
    await runtime.pass(2_500);
    expect([...processes, late].map((one) => call(one, true, 'web_search'))).toEqual(['ok', 'ok', 'ok', 'ok']);
    const later = start();
    await runtime.pass(1_500);
    expect(call(later, true, 'web_search')).toBe('ok');
    // No echo of five processes, of which two came later.
    expect(first.fleet.status().actions.map(({ action }) => action)).toEqual(['release']);
  });

  test('G8, G9: a mode of a box whose clock is an hour early or late ends in all processes when it ends there', async () => {
    for (const aheadMs of [-3_600_000, 3_600_000]) {
      const { runtime, processes, startAhead } = await fleetOf(1);
      const all = [startAhead(aheadMs), ...processes];
      await runtime.pass(2_000);
      const [first] = all;
      if (first === undefined) return;
      operate(first.box).force('web_search', { mode: 'forced_open', ...MAINTENANCE, expiresInMs: 60_000 });
      await runtime.pass(55_000);
      expect(all.map((one) => call(one, true, 'web_search'))).toEqual(['skip', 'skip']);
      await runtime.pass(6_500);
      expect(all.map((one) => call(one, true, 'web_search'))).toEqual(['ok', 'ok']);
    }
  });

  test('G7, G8: after a loss of data, and a start, the number of processes that have carried it out is true again', async () => {
    const { runtime, store, processes, start } = await fleetOf(3);
    const [first] = processes;
    if (first === undefined) return;
    operate(first.box).force('web_search', { mode: 'forced_open', owner: 'ada', reason: 'maintenance' });
    await runtime.pass(1_500);
    store.clear();
    await runtime.pass(4_000);
    expect(first.fleet.status().actions).toMatchObject([{ applied: 3, processes: 3 }]);
    start();
    await runtime.pass(4_000);
    expect(first.fleet.status().actions).toMatchObject([{ applied: 4, processes: 4 }]);
  });

  test('G8: of the processes that live, those are counted that have carried it out, and those that have the agent', async () => {
    const { runtime, store, processes, startAs } = await fleetOf(3);
    const [first, , third] = processes;
    if (first === undefined || third === undefined) return;
    startAs('other-agent');
    operate(first.box).force('web_search', { mode: 'forced_open', owner: 'ada', reason: 'maintenance' });
    await runtime.pass(3_000);
    expect(first.fleet.status().actions).toMatchObject([{ applied: 3, processes: 3 }]);
    expect(first.fleet.status().processes).toBe(4);
    await third.fleet.close();
    const fleet = fleetWith({ client: store, name: 'all' }, { runtime, share: shareCircuits, operate });
    const tools = { mail: { share: 'fleet' } } as const; // A release without the tool takes the place of the third.
    createBreakerbox({ agent: 'agent', scope: 'process', fleet, tools });
    await runtime.pass(3_000);
    expect(first.fleet.status().actions).toMatchObject([{ applied: 2, processes: 3 }]);
  });

  const MAINTENANCE = { owner: 'ada', reason: 'maintenance' } as const;
  const modesOf = (all: readonly Process[]) =>
    all.map(({ box }) =>
      operate(box)
        .modes()
        .map(({ mode }) => mode),
    );

  /** The third process does not reach the store while `isCut`. */
  const cuttable = async () => {
    const { runtime, store, processes, start } = await fleetOf(2);
    const state = { isCut: false };
    const orCut = <Answer>(run: () => Promise<Answer>): Promise<Answer> =>
      state.isCut ? Promise.reject(new StoreError('disconnected', 'cut')) : run();
    const cut = processWith(runtime, {
      ...store,
      read: (...given) => orCut(() => store.read(...given)),
      control: (action) => orCut(() => store.control(action)),
    });
    await runtime.pass(2_000);
    return { runtime, store, state, start, cut, first: processes[0] as Process, all: [...processes, cut] };
  };

  test('G8: of two actions on one mode, each process carries out the later one, also where one of them is its own', async () => {
    const { runtime, state, cut, first, all } = await cuttable();
    const [, second = first] = all;
    operate(first.box).force('web_search', { mode: 'forced_open', ...MAINTENANCE });
    operate(second.box).force('web_search', { mode: 'disabled', ...MAINTENANCE });
    await runtime.pass(3_000);
    const [[mode]] = modesOf([cut]) as [string[]];
    expect(modesOf(all)).toEqual([[mode], [mode], [mode]]);
    state.isCut = true;
    operate(cut.box).force('web_search', { mode: 'observe_only', ...MAINTENANCE });
    await runtime.pass(5_000);
    operate(first.box).release('web_search', { owner: 'ada' });
    await runtime.pass(5_000);
    state.isCut = false;
    await runtime.pass(10_000);
    expect(modesOf(all)).toEqual([[], [], []]); // It was released after that.
    expect(first.fleet.status().actions).toMatchObject([{ action: 'release', applied: 3, processes: 3 }]);
  });

  test('G7, G8: a store that went back to older data gets the later actions again, with the same epoch too', async () => {
    const runtime = virtualRuntime();
    const store = memoryStore({ now: () => 1e12 + runtime.now(), epoch: () => 'one' });
    const processes = [processWith(runtime, store), processWith(runtime, store)];
    const [first] = processes as [Process, Process];
    await runtime.pass(2_000);
    operate(first.box).force('web_search', { mode: 'forced_open', ...MAINTENANCE });
    await runtime.pass(3_000);
    const [forced = expect.fail('no action')] = (await store.read({ epoch: '', version: 0 })).actions;
    operate(first.box).release('web_search', { owner: 'ada' });
    operate(first.box).force('a', { mode: 'disabled', ...MAINTENANCE });
    await runtime.pass(20_000);
    store.clear();
    await store.control({ ...forced, ageMs: 22_000, after: 0 });
    await runtime.pass(3_000);
    const late = processWith(runtime, store);
    await runtime.pass(2_000);
    expect(modesOf([...processes, late])).toEqual([['disabled'], ['disabled'], ['disabled']]);
    expect(call(late, true, 'web_search')).toBe('ok');
  });

  test('G8: a mode that was replaced by a shorter one does not come back by a process that was cut off', async () => {
    const { runtime, state, cut, first, all } = await cuttable();
    operate(first.box).force('web_search', { mode: 'forced_open', ...MAINTENANCE });
    await runtime.pass(3_000);
    state.isCut = true;
    operate(cut.box).force('a', { mode: 'forced_open', ...MAINTENANCE });
    await runtime.pass(1_000);
    for (const tool of ['web_search', 'a'])
      operate(first.box).force(tool, { mode: 'disabled', ...MAINTENANCE, expiresInMs: 5_000 });
    await runtime.pass(10_000);
    state.isCut = false;
    await runtime.pass(10_000);
    expect(modesOf(all)).toEqual([[], [], []]);
    expect(first.fleet.status().actions).toEqual([]);
  });

  test('G8: a release by a process that was cut off counts after a loss of data, because it is later', async () => {
    const { runtime, store, state, cut, first, start } = await cuttable();
    operate(first.box).force('web_search', { mode: 'forced_open', ...MAINTENANCE });
    await runtime.pass(3_000);
    state.isCut = true;
    operate(cut.box).release('web_search', { owner: 'ada' });
    await runtime.pass(10_000);
    const late = start();
    await runtime.pass(3_000);
    await first.fleet.close();
    store.clear();
    await runtime.pass(3_000);
    state.isCut = false;
    await runtime.pass(10_000);
    expect(modesOf([late, cut])).toEqual([[], []]);
  });

  test.each([
    ['back by 5 s', -5_000],
    ['ahead by an hour, and back', 3_600_000],
  ])('G8, G9: actions converge when the clock of the store goes %s', async (_, stepMs) => {
    const runtime = virtualRuntime();
    const clock = { offMs: Math.max(0, stepMs) };
    const memory = memoryStore({ now: () => 1e12 + runtime.now() + clock.offMs });
    let sent = 0;
    const control: FleetStore['control'] = (action) => {
      sent += 1;
      return memory.control(action);
    };
    const store = { ...memory, control };
    const processes = [processWith(runtime, store), processWith(runtime, store)];
    const [first] = processes as [Process, Process];
    await runtime.pass(2_000);
    operate(first.box).force('web_search', { mode: 'forced_open', ...MAINTENANCE, expiresInMs: 60_000 });
    operate(first.box).force('a', { mode: 'forced_open', ...MAINTENANCE, expiresInMs: 60_000 });
    await runtime.pass(3_000);
    clock.offMs += -Math.abs(stepMs);
    const late = processWith(runtime, store);
    operate(late.box).force('web_search', { mode: 'disabled', ...MAINTENANCE, expiresInMs: 60_000 });
    await runtime.pass(40_000);
    const all = [...processes, late];
    expect(new Set(modesOf(all).map((modes) => modes.sort().join()))).toEqual(new Set(['disabled,forced_open']));
    expect(sent).toBeLessThan(12);
    await runtime.pass(30_000);
    const later = processWith(runtime, store);
    await runtime.pass(3_000);
    expect(modesOf([...all, later])).toEqual([[], [], [], []]);
  });

  test('G8: of two modes that are forced in the same millisecond, all processes get the second one', async () => {
    const { runtime, processes } = await fleetOf(2);
    const [first] = processes as [Process, Process];
    operate(first.box).force('web_search', { mode: 'observe_only', ...MAINTENANCE });
    await settleAll(); // It is sent.
    operate(first.box).force('web_search', { mode: 'forced_open', ...MAINTENANCE });
    await runtime.pass(3_000);
    expect(modesOf(processes)).toEqual([['forced_open'], ['forced_open']]);
  });

  test('G8: a process that ends at once has told the fleet of its modes', async () => {
    const { runtime, processes } = await fleetOf(2);
    const [first, second] = processes as [Process, Process];
    for (const tool of ['web_search', 'a', 'b'])
      operate(first.box).force(tool, { mode: 'forced_open', ...MAINTENANCE });
    await first.fleet.close();
    await runtime.pass(3_000);
    expect(modesOf([second])).toEqual([['forced_open', 'forced_open', 'forced_open']]);
  });

  test('G8: a mode stays while another one changes often, and the store keeps one action for each', async () => {
    const { runtime, processes, start } = await fleetOf(2);
    const [first, second] = processes as [Process, Process];
    operate(second.box).force('a', { mode: 'forced_open', owner: 'bob', reason: 'maintenance' });
    for (let round = 0; round < 300; round += 1) {
      operate(first.box).force('web_search', { mode: 'forced_open', ...MAINTENANCE });
      await runtime.pass(200);
      operate(first.box).release('web_search', { owner: 'ada' });
      await runtime.pass(200);
    }
    const late = start();
    await runtime.pass(3_000);
    expect(call(late, true, 'a')).toBe('skip');
    expect(first.fleet.status().actions.map(({ action, tool, applied }) => [action, tool, applied])).toEqual([
      ['force', 'a', 3],
      ['release', 'web_search', 3],
    ]);
  });

  test('G7, G8: a mode that was released does not come back by a process that was stopped, and a store without data', async () => {
    const { runtime, store, processes, start } = await fleetOf(2);
    const state = { isStopped: false };
    const orStopped = <Answer>(run: () => Promise<Answer>): Promise<Answer> =>
      state.isStopped ? Promise.reject(new StoreError('timeout', 'stopped')) : run();
    const stopped = processWith(runtime, {
      ...store,
      read: (since) => orStopped(() => store.read(since)),
      control: (action) => orStopped(() => store.control(action)),
    });
    const [first, second] = processes;
    if (first === undefined || second === undefined) return;
    const forced = (mode: 'forced_open' | 'disabled') =>
      operate(first.box).force('web_search', { mode, owner: 'ada', reason: 'maintenance' });
    forced('forced_open');
    await runtime.pass(2_000);
    expect(call(stopped, true)).toBe('skip');
    state.isStopped = true;
    forced('disabled');
    await runtime.pass(2_000);
    operate(second.box).release('web_search', { owner: 'ada' });
    await runtime.pass(2_000);
    store.clear();
    await runtime.pass(2_000);
    state.isStopped = false;
    await runtime.pass(10_000);
    const late = start();
    await runtime.pass(3_000);
    const modes = [...processes, stopped, late].map(({ box }) => operate(box).modes().length);
    expect(modes).toEqual([0, 0, 0, 0]);
    expect([...processes, stopped, late].map((one) => call(one, true))).toEqual(['ok', 'ok', 'ok', 'ok']);
    forced('forced_open');
    await runtime.pass(3_000);
    expect([...processes, stopped, late].map((one) => call(one, true))).toEqual(['skip', 'skip', 'skip', 'skip']);
  });

  test('G2, G8: a mode of a tool without `share` stays in its box, and a mode reaches only the boxes of its agent', async () => {
    const { runtime, processes, startAs } = await fleetOf(2);
    const other = startAs('other-agent');
    await runtime.pass(2_000);
    const [first] = processes;
    if (first === undefined) return;
    const given = { mode: 'forced_open', owner: 'ada', reason: 'maintenance' } as const;
    operate(first.box).force('mail', given);
    operate(first.box).force('web_search', given);
    operate(first.box).force('group:github', given);
    await runtime.pass(3_000);
    const all = [...processes, other];
    expect(all.map((one) => call(one, true, 'mail'))).toEqual(['skip', 'ok', 'ok']);
    expect(all.map((one) => call(one, true, 'web_search'))).toEqual(['skip', 'skip', 'ok']);
    expect(all.map((one) => call(one, true, 'issues'))).toEqual(['skip', 'skip', 'ok']);
    const listed = first.fleet.status().actions.map(({ agent, tool, applied }) => [agent, tool, applied]);
    expect(listed).toEqual([
      ['agent', 'web_search', 2],
      ['agent', 'group:github', 2],
    ]);
  });

  test('G2, G8: what another release wrote about a tool without `share` is ignored', async () => {
    const { runtime, processes, store } = await fleetOf(1);
    const body = { do: 'force', agent: 'agent', tool: 'mail', owner: 'eve', mode: 'forced_open', reason: 'r' };
    const key = JSON.stringify(['agent', 'mail', 'eve']);
    await store.control({
      key,
      id: 'x',
      body: JSON.stringify(body),
      leftMs: 60_000,
      keptMs: 60_000,
      ageMs: 0,
      after: 0,
    });
    await runtime.pass(3_000);
    expect(processes.map((one) => call(one, true, 'mail'))).toEqual(['ok']);
  });

  test('G7: a store that is read but refuses messages is degraded, a working tool is called again, and it recovers', async () => {
    const { runtime, store, processes } = await opened(3);
    const { report, claim, settle } = store;
    const refuse = () => Promise.reject(new Error("OOM command not allowed when used memory > 'maxmemory'."));
    Object.assign(store, { report: refuse, claim: refuse, settle: refuse });
    await runtime.pass(60_000);
    const results: string[] = [];
    const callAll = async (passMs: number) => {
      for (let passed = 0; passed < passMs; passed += 200) {
        for (const one of processes) results.push(call(one, true));
        await runtime.pass(200);
      }
    };
    await callAll(14_000);
    expect(processes.map(({ fleet }) => fleet.status())).toEqual(
      Array(3).fill(expect.objectContaining({ mode: 'degraded', why: 'memory' })),
    );
    expect(results.slice(-3)).toEqual(['ok', 'ok', 'ok']);
    Object.assign(store, { report, claim, settle });
    await callAll(12_000);
    expect(processes.map(({ fleet }) => fleet.status().mode)).toEqual(['up', 'up', 'up']);
    expect(results.slice(-3)).toEqual(['ok', 'ok', 'ok']);
    expect(processes[0]?.fleet.status().circuits).toMatchObject([{ state: 'closed' }]);
  });

  test('G4: a process that asked once after a quiet time gives the probe to one that calls, within 15 s', async () => {
    const { runtime, processes } = await opened(3);
    await runtime.pass(3_600_000);
    const [quiet, ...busy] = processes;
    expect(quiet && call(quiet, true)).toBe('skip');
    await runtime.pass(3_000);
    const startMs = runtime.now();
    const results: string[] = [];
    while (!results.includes('probe ok') && runtime.now() - startMs < 120_000) {
      for (const one of busy) results.push(call(one, true));
      await runtime.pass(100);
    }
    expect(results.at(-1) === 'probe ok' || results.at(-2) === 'probe ok').toBe(true);
    expect(runtime.now() - startMs).toBeLessThan(15_000);
  });

  test('G4: two boxes of one process hand the probe over as two processes do', async () => {
    const { runtime, store } = await opened(2);
    const fleet = fleetWith({ client: store, name: 'all' }, { runtime, share: shareCircuits, operate });
    const clock = { now: runtime.now, unixNow: () => 1e12 + runtime.now() };
    const start = (agent: string) =>
      createBreakerbox({ agent, scope: 'process', clock, fleet, tools: TOOLS }).session();
    const [quiet, busy] = [start('one'), start('two')];
    await runtime.pass(3_600_000);
    expect(quiet.acquire('web_search').decision).toBe('skip');
    await runtime.pass(3_000);
    const startMs = runtime.now();
    while (busy.acquire('web_search').decision === 'skip' && runtime.now() - startMs < 120_000) await runtime.pass(100);
    expect(runtime.now() - startMs).toBeLessThan(15_000);
  });

  test('G4: one that asked once, and whose tool no other process calls, keeps the probe while it is overdue', async () => {
    const { runtime, processes, store } = await opened(2);
    const tokens = new Set<string>();
    const { claim } = store;
    Object.assign(store, {
      claim: (...given: Parameters<typeof claim>) => {
        tokens.add(given[3]);
        return claim(...given);
      },
    });
    await runtime.pass(660_000);
    const [quiet] = processes;
    expect(quiet && call(quiet, true)).toBe('skip');
    await runtime.pass(500_000);
    expect(quiet && call(quiet, true)).toBe('probe ok');
    expect(tokens.size).toBe(1); // Renewed with the same token.
  });

  test('G9: a circuit of other settings means nothing for a tool that was not used yet', async () => {
    const { runtime, store } = await opened(2);
    const clock = { now: runtime.now, unixNow: () => 1e12 + runtime.now() };
    const fleet = fleetWith({ client: store, name: 'all' }, { runtime, share: shareCircuits, operate });
    const tools = { web_search: { share: 'fleet', failureThreshold: 5 } } as const;
    const newer = createBreakerbox({ agent: 'agent', scope: 'process', clock, fleet, tools });
    await runtime.pass(3_000);
    expect(call({ fleet, box: newer, session: newer.session() }, true)).toBe('ok');
  });

  test('G7: a store that went back to data from before a settlement hears it again', async () => {
    const { runtime, store, processes } = await opened(2);
    const { claim } = store;
    const claimed: Parameters<typeof claim>[] = [];
    const epoch = (await store.read({ epoch: '', version: 0 })).position.epoch;
    Object.assign(store, {
      claim: async (...given: Parameters<typeof claim>) => {
        const grant = await claim(...given);
        if (grant !== undefined) claimed.push(given);
        return grant;
      },
    });
    const results: string[] = [];
    for (let passed = 0; passed < 70_000; passed += 100) {
      for (const one of processes) results.push(call(one, true));
      await runtime.pass(100);
    }
    expect(results.slice(-2)).toEqual(['ok', 'ok']);
    const [last] = claimed.slice(-1);
    if (last === undefined) return expect.fail('no claim');
    const [id] = last;
    const { read } = store;
    // As it was between claim and settlement.
    let hasSettled = false;
    const old = {
      id,
      version: 1e6,
      state: 'open',
      generation: 1,
      category: 'server',
      ageMs: 70_000,
      waitMs: 60_000,
      seenBy: 0,
    } as const;
    const probe = { holder: last[1], leaseMs: 60_000, isWanted: false };
    Object.assign(store, {
      read: async () => ({
        position: { epoch, version: 1e6 },
        circuits: [
          hasSettled ? { ...old, state: 'closed', generation: 2, ageMs: 0, probe: undefined } : { ...old, probe },
        ],
        actions: [],
        whole: true,
      }),
      settle: async () => {
        hasSettled = true;
        return 'done';
      },
    });
    await runtime.pass(5_000);
    expect(hasSettled).toBe(true);
    for (let passed = 0; passed < 3_000; passed += 100) {
      for (const one of processes) results.push(call(one, true));
      await runtime.pass(100);
    }
    expect(results.slice(-2)).toEqual(['ok', 'ok']);
    Object.assign(store, { read });
  });

  test('G8: a confirmation that was cut off does not end a later event', async () => {
    const { runtime, store, processes } = await fleetOf(3);
    const { end } = store;
    const ended: number[] = [];
    Object.assign(store, {
      end: (id: string, generation: number) => {
        ended.push(generation);
        return end(id, generation);
      },
    });
    const state = { isCut: false };
    const orCut = <Answer>(run: () => Promise<Answer>): Promise<Answer> =>
      state.isCut ? Promise.reject(new StoreError('timeout', 'cut')) : run();
    const cut = processWith(runtime, {
      ...store,
      read: (since) => orCut(() => store.read(since)),
      end: (...given) => orCut(() => store.end(...given)),
    });
    await runtime.pass(2_000);
    const fail = () => {
      for (const tool of ['a', 'b']) for (const one of processes.slice(0, 2)) kill(one, tool);
    };
    fail();
    await runtime.pass(3_000);
    for (const one of [...processes, cut]) for (const tool of ['a', 'b']) call(one, true, tool);
    expect(cut.session.view().systemic).toBeDefined();
    state.isCut = true;
    cut.session.confirmRecovered();
    processes[1]?.session.confirmRecovered();
    await runtime.pass(2_000);
    for (let passed = 0; passed < 130_000; passed += 100) {
      for (const tool of ['a', 'b']) for (const one of processes) call(one, true, tool);
      await runtime.pass(100);
    }
    fail();
    await runtime.pass(3_000);
    for (const one of processes) call(one, true, 'mail');
    state.isCut = false;
    await runtime.pass(10_000);
    for (const one of processes) call(one, true, 'mail');
    expect(processes.map(({ session }) => session.view().systemic !== undefined)).toEqual([true, true, true]);
    expect(new Set(ended)).toEqual(new Set([1]));
  });

  test('G3, G8: an event of circuits that are open in one process alone stays there', async () => {
    const { runtime, processes, store } = await fleetOf(2);
    for (const tool of ['a', 'b']) kill(processes[0], tool);
    await runtime.pass(3_000);
    expect(processes[0]?.session.view().systemic).toBeDefined();
    const names = async () =>
      (await store.read({ epoch: '', version: 0 })).circuits.map(({ id }) => id.split(':').at(-1));
    expect(await names()).toEqual(['a', 'b']);
    for (const tool of ['a', 'b']) kill(processes[1], tool);
    await runtime.pass(3_000);
    for (const one of processes) call(one, true, 'mail');
    expect(await names()).toContain('systemic');
  });

  test('G9: the clock of another main server, an hour behind, holds a tool no longer', async () => {
    const runtime = virtualRuntime();
    let behindMs = 0;
    const store = memoryStore({ now: () => 1e12 + runtime.now() - behindMs, epoch: () => runtime.id() });
    const processes = [0, 1].map(() => processWith(runtime, store));
    await runtime.pass(2_000);
    for (const one of processes) kill(one);
    await runtime.pass(500);
    behindMs = 3_600_000;
    const results: string[] = [];
    for (let passed = 0; passed < 65_000; passed += 200) {
      for (const one of processes) results.push(call(one, true));
      await runtime.pass(200);
    }
    expect(results.slice(-2)).toEqual(['ok', 'ok']);
  });

  test('G8, S5: a correlated failure that a person ends in one process is over in all', async () => {
    const { runtime, processes } = await fleetOf(3);
    for (const tool of ['a', 'b']) for (const one of processes.slice(0, 2)) kill(one, tool);
    await runtime.pass(3_000);
    for (const tool of ['a', 'b']) expect(processes.map((one) => call(one, true, tool))).toEqual(Array(3).fill('skip'));
    const events = processes.map(({ session }) => session.view().systemic !== undefined);
    expect(events).toEqual([true, true, true]);
    processes[2]?.session.confirmRecovered();
    await runtime.pass(3_000);
    for (const one of processes) call(one, true, 'mail');
    expect(processes.map(({ session }) => session.view().systemic !== undefined)).toEqual([false, false, false]);
    expect(processes[0]?.fleet.status().circuits).toContainEqual(
      expect.objectContaining({ name: 'event:systemic', state: 'closed' }),
    );
  });

  test('G8, S5: a process that starts after a correlated failure has ended does not begin it again for all', async () => {
    const { runtime, processes, store, start } = await fleetOf(2);
    for (const tool of ['a', 'b']) for (const one of processes) kill(one, tool);
    await runtime.pass(3_000);
    for (const one of processes) call(one, true, 'mail');
    processes[1]?.session.confirmRecovered();
    await runtime.pass(3_000);
    const event = async () =>
      (await store.read({ epoch: '', version: 0 })).circuits.find(({ id }) => id.endsWith('event:systemic'));
    const ended = await event();
    expect(ended).toMatchObject({ state: 'closed' });
    const late = start();
    const told: string[] = [];
    for (const event of ['systemic.detected', 'systemic.resolved'] as const) late.box.on(event, () => told.push(event));
    await runtime.pass(2_000);
    for (let passed = 0; passed < 3_000; passed += 100) {
      for (const tool of ['a', 'b', 'mail']) call(late, true, tool);
      await runtime.pass(100);
    }
    expect(await event()).toMatchObject({ state: 'closed', generation: ended?.generation });
    expect(late.session.view().systemic).toBeUndefined();
    expect(told).toEqual([]);
    expect(call(late, true, 'a')).toBe('skip'); // Its circuit is still open for all.
    kill(processes[0], 'web_search');
    kill(processes[1], 'web_search');
    await runtime.pass(500);
    call(late, true, 'web_search');
    expect(told).toEqual([]); // `web_search` alone, because the others opened before the end.
  });
});

describe('what diag gets', () => {
  afterEach(() => diag.disable());

  const listen = (): readonly string[] => {
    const heard: string[] = [];
    const hear = (...said: unknown[]): void => void heard.push(inspect(said));
    diag.setLogger(
      { error: hear, warn: hear, info: hear, debug: hear, verbose: hear },
      { suppressOverrideMessage: true },
    );
    return heard;
  };

  test('Q2, G7: a store that does not answer is told once, by a reason and one word, without the address', async () => {
    const heard = listen();
    const runtime = virtualRuntime();
    const read = () => Promise.reject(new Error('MOVED 2300 10.0.0.7:37547'));
    processWith(runtime, { ...memoryStore(), read });
    await runtime.pass(20_000);
    expect(heard).toEqual([expect.stringMatching(/the store of the fleet failed.*cluster, MOVED/s)]);
    expect(heard.join()).not.toContain('10.0.0.7');
  });

  test('G2, W2: a box that shares nothing is told how to share, and a closed fleet does not take a box', async () => {
    const heard = listen();
    const fleet = createFleet({ client: memoryStore() });
    createBreakerbox({ agent: 'one', scope: 'process', fleet, tools: { mail: {} } });
    expect(heard).toEqual([expect.stringMatching(/agent "one".*Give a tool, a group or defaults share: 'fleet'/s)]);
    await fleet.close();
    for (const given of [{ defaults: { share: 'fleet' } }, { groups: { g: { share: 'fleet' } } }] as const)
      createBreakerbox({ agent: 'two', scope: 'process', fleet, ...given });
    expect(heard).toHaveLength(3);
    expect(heard[2]).toMatch(/fleet that is closed/);
  });

  test('G8, W2: a mode for which the store has no room stays local, which is told once', async () => {
    const heard = listen();
    const runtime = virtualRuntime();
    const store = boundedMemoryStore({ circuits: 10, actions: 1 }, { now: () => 1e12 + runtime.now() });
    const processes = [processWith(runtime, store), processWith(runtime, store)] as const;
    await runtime.pass(2_000);
    const forced = { mode: 'forced_open', owner: 'ada', reason: 'maintenance' } as const;
    operate(processes[0].box).force('a', { ...forced, expiresInMs: 1_800_000 });
    operate(processes[0].box).force('b', { ...forced, expiresInMs: 7_200_000 });
    await runtime.pass(90_000);
    expect(processes.map((one) => call(one, true, 'a'))).toEqual(['skip', 'skip']);
    expect(processes.map((one) => call(one, true, 'b'))).toEqual(['skip', 'ok']);
    expect(heard).toEqual([expect.stringMatching(/mode stays in this process.*no room for more modes/s)]);
    operate(processes[0].box).release('a', { owner: 'ada' });
    await runtime.pass(35_000); // Then there is room.
    expect(processes.map((one) => call(one, true, 'b'))).toEqual(['skip', 'skip']);
  });

  test('E5, G8: an action that cannot be carried out is told once, and ends no process', async () => {
    const heard = listen();
    const runtime = virtualRuntime();
    const memory = memoryStore({ now: () => 1e12 + runtime.now() });
    const body = JSON.stringify({ do: 'force', agent: 'agent', tool: 'a', owner: 'eve', mode: 'disabled', reason: '' });
    const key = JSON.stringify(['agent', 'a', 'eve']);
    const wrong = { key, id: 'x', body, ageMs: 0, leftMs: 60_000, keptMs: 60_000, after: 0 };
    const control: FleetStore['control'] = async () => ({ ...wrong, version: 1, made: 1e12 });
    const { box } = processWith(runtime, { ...memory, control });
    await memory.control(wrong);
    await runtime.pass(5_000);
    operate(box).force('a', { mode: 'forced_open', owner: 'ada', reason: 'maintenance' });
    await runtime.pass(5_000);
    expect(heard.length).toBeGreaterThanOrEqual(1);
    expect(heard.length).toBeLessThanOrEqual(2);
  });

  test('G8, W2: a mode that is too long for the store stays local, which is told once', async () => {
    const heard = listen();
    const { runtime, processes } = await fleetOf(2);
    const [first] = processes;
    if (first === undefined) return;
    const owner = 'a'.repeat(2_000);
    operate(first.box).force('web_search', { mode: 'forced_open', owner, reason: 'maintenance' });
    await runtime.pass(3_000);
    operate(first.box).force('mail', { mode: 'forced_open', owner: 'ada', reason: 'maintenance' });
    await runtime.pass(3_000);
    expect(processes.map((one) => call(one, true))).toEqual(['skip', 'ok']);
    expect(heard).toEqual([expect.stringMatching(/mode stays in this process.*carries 2000/s)]);
  });
});

describe('boxes that share a real Redis', () => {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  const start = (server: RedisServer, index: number): Process => {
    const fleet = createFleet({ client: createClient({ url: server.url }) });
    const clock = { now: () => performance.now() + index * 3_600_000, unixNow: () => Date.now() - index * 3_600_000 };
    const tools = { web_search: { share: 'fleet', cooldownMs: 2_000, maxCooldownMs: 2_000 } } as const;
    const box = createBreakerbox({ agent: 'agent', scope: 'process', clock, fleet, tools });
    ends.push(fleet.close);
    return { fleet, box, session: box.session() };
  };

  const until = async (check: () => boolean): Promise<void> => {
    for (let waited = 0; waited < 15_000; waited += 20) {
      if (check()) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error('It did not happen in time.');
  };

  test('G9: processes whose clocks are hours apart open together, probe once for each round, and close together', async () => {
    const server = await startRedis();
    ends.push(server.stop);
    const processes = [0, 1, 2].map((index) => start(server, index));
    await until(() => processes.every(({ fleet }) => fleet.status().mode === 'up'));
    await until(() => processes[0]?.fleet.status().mode === 'up');
    await settleAll();
    kill(processes[0]);
    kill(processes[1]);
    await until(() => call(processes[2] as Process, false) === 'skip');
    let probes = 0;
    const startMs = performance.now();
    while (performance.now() - startMs < 7_000) {
      for (const one of processes) probes += call(one, false) === 'probe failed' ? 1 : 0;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(probes).toBeGreaterThanOrEqual(1);
    expect(probes).toBeLessThanOrEqual(3);
    await until(() => processes.map((one) => call(one, true)).every((one) => one === 'ok'));
  });
});
