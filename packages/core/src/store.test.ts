import { describe, expect, test } from 'vitest';
import { closedCircuit, fail, openCircuit } from './circuit/circuit.ts';
import { resolvePolicy } from './circuit/policy.ts';
import { NO_CORRELATION, recordOpening } from './correlation.ts';
import type { SessionPermit } from './permit.ts';
import {
  circuitMoment,
  circuitStore,
  copyStore,
  correlationMoment,
  openShadow,
  ownMemory,
  putCircuit,
} from './store.ts';
import { at } from './test-support.ledger.ts';
import { manualClock } from './test-support.ts';
import type { CircuitSpec } from './tool.ts';

const policy = resolvePolicy({});
const spec = (name: string) => ({ name, mode: 'automatic', policy }) as CircuitSpec;
const failure = { category: 'network', durationMs: 0, tokens: 0 } as const;
const empty = { circuits: new Map(), correlation: NO_CORRELATION, shadowCorrelation: undefined };
const listed = recordOpening(NO_CORRELATION, { tool: 'a', category: 'network', at: at(0), unixMs: 0 }, undefined);

describe('C11: a copy to look ahead with', () => {
  /** A store with something in each of its places. */
  const full = () => {
    const store = circuitStore(empty);
    putCircuit(store, spec('a'), manualClock());
    for (const tracked of store.circuits.values()) {
      tracked.keys = { circuits: new Map([['k', closedCircuit(3)]]), generation: 2 };
    }
    store.probing.begin({ leaseUntilMs: 5 } as SessionPermit);
    store.correlations.real.correlation = listed;
    store.correlations.real.gate = { circuit: openCircuit(at(0), 'network', policy) };
    openShadow(store);
    return store;
  };

  test('C11: what is done to it is not done to the original', () => {
    const store = full();
    const before = structuredClone({
      circuits: [...store.circuits.values()].map(({ circuit, keys }) => [circuit, keys]),
      ...store.correlations,
    });
    const copy = copyStore(store);
    expect(copy).toEqual(store);
    const tracked = copy.circuits.get('a');
    if (tracked?.keys === undefined) throw new Error('The copy has no keys.');
    tracked.circuit = fail(tracked.circuit, tracked.circuit, failure, policy, at(1));
    tracked.keys.circuits.clear();
    const lapsed = copy.probing.firstLapsed(9);
    if (lapsed !== undefined) copy.probing.end(lapsed);
    for (const state of [copy.correlations.real, copy.correlations.shadow]) {
      if (state?.gate === undefined) throw new Error('The copy has no gate.');
      state.correlation = NO_CORRELATION;
      state.gate.circuit = closedCircuit(7);
      state.gate = undefined;
    }
    copy.correlations.shadow = undefined;
    copy.circuits.clear();
    const { real, shadow } = store.correlations;
    const circuits = [...store.circuits.values()].map(({ circuit, keys }) => [circuit, keys]);
    expect({ circuits, real, shadow }).toEqual(before);
    expect([store.probing.size, copy.probing.size]).toEqual([1, 0]);
  });

  test('C1: what is only observed has a gate of its own', () => {
    const { real, shadow } = full().correlations;
    expect(shadow).toEqual(real);
    expect(shadow?.gate).not.toBe(real.gate);
    const store = full();
    expect(openShadow(store)).toBe(store.correlations.shadow); // The second tool goes on in it.
  });
});

describe('C11: circuits that wait for their tools', () => {
  const open = fail(closedCircuit(), closedCircuit(), failure, { ...policy, failureThreshold: 1 }, at(0));
  const kept = { mode: 'observe_only', circuit: open, openedBy: undefined } as const;

  test('C2, C11: a circuit is as it was kept, else closed; once', () => {
    const store = circuitStore({ ...empty, circuits: new Map([['a', kept]]) });
    const clock = manualClock();
    expect(putCircuit(store, spec('a'), clock)).toMatchObject({ mode: 'observe_only', circuit: { state: 'open' } });
    expect(putCircuit(store, spec('b'), clock)).toMatchObject({ mode: 'automatic', circuit: { state: 'closed' } });
    expect([[...store.kept.keys()], [...store.circuits.keys()]]).toEqual([[], ['a', 'b']]);
  });

  test('C11: they are in the next snapshot, but not those that sessions share', () => {
    const circuits = new Map([['a', kept]]);
    expect(
      ownMemory(circuitStore({ ...empty, circuits, correlation: listed, shadowCorrelation: NO_CORRELATION })),
    ).toEqual({
      circuits,
      correlation: listed,
      shadowCorrelation: NO_CORRELATION,
    });
    expect(ownMemory(circuitStore({ ...empty, correlation: listed }, { step: 3, stepMs: 0 }))).toEqual(empty);
  });
});

test('C12, S1: circuits that are shared go by the steps of all, what may be one cause by time alone', () => {
  const own = { ms: 50, step: 4, stepMs: 40 };
  const shared = circuitStore(empty, { step: 9, stepMs: 45 });
  expect(circuitMoment(shared, own)).toEqual({ ms: 50, step: 9, stepMs: 45 });
  expect(correlationMoment(shared, own)).toEqual({ ms: 50, step: 0, stepMs: 40 });
  for (const moment of [circuitMoment, correlationMoment]) expect(moment(circuitStore(empty), own)).toBe(own);
});
