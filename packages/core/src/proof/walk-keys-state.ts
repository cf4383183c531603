import { type Circuit, closedCircuit, isLate, type Ticket } from '../circuit/circuit.ts';
import type { Keyed } from '../circuit/key-circuits.ts';
import type { CircuitPolicy } from '../circuit/policy.ts';
import type { FailedKeys } from '../circuit/trip-policies/keys.ts';
import type { Moment } from '../clock.ts';
import type { Pass } from '../passes.ts';
import type { CircuitSpec } from '../tool.ts';

/** A tool and the circuits of its keys, with the calls that passed. Canonical: the clock always shows NOW. */
export interface KeyState {
  readonly tool: Circuit;
  /** Of the keys that were blamed. */
  readonly keys: Readonly<Partial<Record<Key, Circuit>>>;
  readonly underWay: readonly Call[];
  /** What the observer has counted: the keys of the tool's failures in a row, and the failures in a row of each key. */
  readonly row: readonly Key[];
  /** The keys that have failed in a row, whatever they blame. */
  readonly failing: readonly Key[];
  readonly rows: Readonly<Partial<Record<Key, number>>>;
}

export interface KeyRules {
  readonly keys: readonly Key[];
  readonly hows: readonly How[];
  readonly tool: CircuitPolicy;
  readonly key: CircuitPolicy;
}

export interface Call {
  readonly key: Key;
  readonly own: Ticket;
  readonly pass: Pass;
}

export type Key = 'k' | 'l' | 'm';
export type How = 'success' | 'key fails' | 'tool fails' | 'ignored';

export const NOW = 1_000;
export const GENERATION = 10;

export const moment = (ms: number): Moment => ({ ms, step: 0, stepMs: 0 });

export const keyStart: KeyState = {
  tool: closedCircuit(GENERATION),
  keys: {},
  underWay: [],
  row: [],
  failing: [],
  rows: {},
};

/** What the functions of keys.ts work on: a copy of the state. */
export const keyedOf = ({ keys }: KeyState, { tool, key }: KeyRules): Keyed => ({
  tool: { policy: tool, keyPolicy: key } as CircuitSpec,
  keys: { circuits: new Map(Object.entries(keys)), generation: GENERATION },
});

/** The circuits of the keys afterwards. */
export const keysIn = ({ keys }: Keyed): KeyState['keys'] => Object.fromEntries(keys?.circuits ?? []);

/** The same state as seen from NOW. */
export const canonical = (state: KeyState, { tool: policy }: KeyRules, ms: number): KeyState => {
  const ago = (at: Moment) => moment(NOW - Math.min(ms - at.ms, policy.maxCooldownMs));
  const aheadMs = (untilMs: number) => NOW + Math.max(0, untilMs - ms);
  const seen = (one: Circuit): Circuit => {
    const generation = GENERATION;
    if (one.state === 'closed') {
      const keys = one.counts?.keys as FailedKeys | undefined;
      const sorted = keys && {
        ofTool: [...keys.ofTool].sort(),
        row: keys.row.toSorted((a, b) => (a.key < b.key ? -1 : 1)),
      };
      return { ...one, generation, counts: keys ? { ...one.counts, keys: sorted } : one.counts };
    }
    const { waitFrom, openedAt } = one.outage;
    const outage = { ...one.outage, openedAt: ago(openedAt), ...(waitFrom && { waitFrom: ago(waitFrom) }) };
    if (one.state === 'open') return { ...one, generation, outage };
    const leases = one.leases.map(({ untilMs }, id) => ({ id, untilMs: aheadMs(untilMs) }));
    return { ...one, generation, outage, leases, issued: leases.length };
  };
  const ticketOf = <T extends Ticket>(circuit: Circuit, { lease, ...rest }: T) => {
    if (isLate(circuit, rest)) return { ...rest, generation: GENERATION - 1, lease: undefined };
    const leases = circuit.state === 'half_open' ? circuit.leases : [];
    const id = leases.findIndex((one) => one.id === lease?.id);
    return { ...rest, generation: GENERATION, lease: lease && { id, untilMs: aheadMs(lease.untilMs) } };
  };
  const { tool, keys } = state;
  const circuitOf = (key: Key): Circuit => keys[key] ?? closedCircuit(GENERATION);
  const names = (Object.keys(keys) as Key[]).sort();
  return {
    tool: seen(tool),
    keys: Object.fromEntries(names.map((key) => [key, seen(circuitOf(key))])),
    underWay: state.underWay
      .map(({ key, own, pass }) => ({ key, own: ticketOf(tool, own), pass: ticketOf(circuitOf(key), pass) }))
      .sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)),
    row: [...state.row].sort(),
    failing: [...state.failing].sort(),
    rows: Object.fromEntries(names.map((key) => [key, state.rows[key] ?? 0])),
  };
};
