import { describe, expect, test } from 'vitest';
import { correlateOpening, NO_CORRELATION } from './budget/systemic.ts';
import { closedCircuit, fail, openCircuit } from './circuit/circuit.ts';
import { resolvePolicy } from './circuit/policy.ts';
import {
  circuitMoment,
  circuitStore,
  copyStore,
  correlationMoment,
  ownMemory,
  putCircuit,
  startDryRun,
} from './circuit-store.ts';
import type { SessionPermit } from './permit.ts';
import { at } from './test-support.ledger.ts';
import { manualClock } from './test-support.ts';
import type { CircuitSpec } from './tool.ts';

const policy = resolvePolicy({});
const spec = (name: string) => ({ name, mode: 'automatic', policy }) as CircuitSpec;
const failure = { category: 'network', durationMs: 0, tokens: 0 } as const;
const empty = { circuits: new Map(), correlation: NO_CORRELATION, dryRunCorrelation: undefined };
const listed = correlateOpening(NO_CORRELATION, { tool: 'a', category: 'network', at: at(0), unixMs: 0 }, undefined);

describe('C11: a copy that looks ahead', () => {
  /** A store with something in each of its places. */
  const full = () => {
    const store = circuitStore(empty);
    putCircuit(store, spec('a'), manualClock());
    for (const tracked of store.circuits.values()) {
      tracked.keys = { circuits: new Map([['k', closedCircuit(3)]]), generation: 2 };
      tracked.covered = { ...tracked };
    }
    store.probing.begin({ leaseUntilMs: 5 } as SessionPermit, () => {});
    store.correlations.real.correlation = listed;
    store.correlations.real.gate = { circuit: openCircuit(at(0), 'network', policy) };
    startDryRun(store);
    return store;
  };

  test('C11: a change of the copy does not change the original', () => {
    const store = full();
    const before = structuredClone({
      circuits: [...store.circuits.values()].map(({ circuit, keys, covered }) => [circuit, keys, covered?.circuit]),
      ...store.correlations,
    });
    const copy = copyStore(store);
    expect({ ...copy, circuits: [...copy.circuits] }).toEqual({ ...store, circuits: [...store.circuits] });
    const tracked = copy.circuits.get('a');
    if (tracked?.keys === undefined || tracked.covered === undefined) throw new Error('The copy has no keys.');
    tracked.circuit = fail(tracked.circuit, tracked.circuit, failure, policy, at(1));
    tracked.keys.circuits.clear();
    tracked.covered.circuit = closedCircuit(7);
    copy.probing.takeLapsed(9);
    for (const state of [copy.correlations.real, copy.correlations.dryRun]) {
      if (state?.gate === undefined) throw new Error('The copy has no gate.');
      state.correlation = NO_CORRELATION;
      state.gate.circuit = closedCircuit(7);
      state.gate = undefined;
    }
    copy.correlations.dryRun = undefined;
    copy.correlations.fleetEndedMs = 5;
    copy.circuits.set('b', { ...tracked });
    expect([...copy.circuits.keys(), ...store.circuits.keys()]).toEqual(['a', 'b', 'a']);
    const circuits = [...store.circuits.values()].map(({ circuit, keys, covered }) => [
      circuit,
      keys,
      covered?.circuit,
    ]);
    expect({ circuits, ...store.correlations }).toEqual(before);
    expect([copy.probing.takeLapsed(9), store.probing.takeLapsed(9)?.length]).toEqual([undefined, 2]);
  });

  test('C1: the dry run has its own gate', () => {
    const { real, dryRun } = full().correlations;
    expect(dryRun).toEqual(real);
    expect(dryRun?.gate).not.toBe(real.gate);
    const store = full();
    expect(startDryRun(store)).toBe(store.correlations.dryRun); // The second tool goes on in it.
  });
});

describe('C11: circuits that wait for their tools', () => {
  const open = fail(closedCircuit(), closedCircuit(), failure, { ...policy, failureThreshold: 1 }, at(0));
  const kept = { mode: 'observe_only', circuit: open, openedBy: undefined } as const;

  test('C2, C11: a circuit is restored once; any other tool starts closed', () => {
    const store = circuitStore({ ...empty, circuits: new Map([['a', kept]]) });
    const clock = manualClock();
    expect(putCircuit(store, spec('a'), clock)).toMatchObject({ mode: 'observe_only', circuit: { state: 'open' } });
    expect(putCircuit(store, spec('b'), clock)).toMatchObject({ mode: 'automatic', circuit: { state: 'closed' } });
    expect([[...store.kept.keys()], [...store.circuits.keys()]]).toEqual([[], ['a', 'b']]);
  });

  test('C11: the next snapshot contains them, but not those that sessions share', () => {
    const circuits = new Map([['a', kept]]);
    expect(
      ownMemory(circuitStore({ ...empty, circuits, correlation: listed, dryRunCorrelation: NO_CORRELATION })),
    ).toEqual({
      circuits,
      correlation: listed,
      dryRunCorrelation: NO_CORRELATION,
    });
    expect(ownMemory(circuitStore({ ...empty, correlation: listed }, { step: 3, stepMs: 0 }))).toEqual(empty);
  });
});

test('C12, S1: shared circuits count the steps of all sessions, and the correlation of failures counts time alone', () => {
  const own = { ms: 50, step: 4, stepMs: 40 };
  const shared = circuitStore(empty, { step: 9, stepMs: 45 });
  expect(circuitMoment(shared, own)).toEqual({ ms: 50, step: 9, stepMs: 45 });
  expect(correlationMoment(shared, own)).toEqual({ ms: 50, step: 0, stepMs: 40 });
  for (const moment of [circuitMoment, correlationMoment]) expect(moment(circuitStore(empty), own)).toBe(own);
});
