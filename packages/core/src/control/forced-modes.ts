import type { Circuit, CircuitMode } from '../circuit/circuit.ts';
import { forgetKeys, type KeyCircuits } from '../circuit/key-circuits.ts';
import { MOST_MODES } from '../overrides.ts';
import { type TrackedCircuit, takeOver } from '../tracked-circuit.ts';

/** The modes that an operator may force, the strongest first (A4). */
export const FORCED_MODES = ['forced_open', 'disabled', 'observe_only'] as const satisfies readonly CircuitMode[];

export type ForcedMode = (typeof FORCED_MODES)[number];

/** A mode that an operator forces. Times are monotonic ms. */
export interface Forced {
  readonly tool: string;
  readonly mode: ForcedMode;
  readonly owner: string;
  readonly reason: string;
  /** Undefined: all sessions of the box. */
  readonly session: string | undefined;
  /** It was forced in another process. */
  readonly isRemote: boolean;
  readonly sinceMs: number;
  readonly sinceUnixMs: number;
  readonly untilMs: number;
}

/** All forced modes of a box. An owner has at most one for each tool and session. */
export type ForcedModes = readonly Forced[];

const isOf = (one: Forced, other: Pick<Forced, 'tool' | 'owner' | 'session'>): boolean =>
  one.tool === other.tool && one.owner === other.owner && one.session === other.session;

/** Without the mode of this owner. The same object if there was no such mode. */
export const withoutMode = (all: ForcedModes, of: Pick<Forced, 'tool' | 'owner' | 'session'>): ForcedModes =>
  without(all, (one) => isOf(one, of));

/** With one more mode. It replaces the one that its owner had. */
export const withMode = (all: ForcedModes, forced: Forced): ForcedModes => [...withoutMode(all, forced), forced];

/** Without the modes that have expired. The same object if none has. */
export const unexpired = (all: ForcedModes, ms: number): ForcedModes => without(all, ({ untilMs }) => ms >= untilMs);

const without = (all: ForcedModes, drops: (one: Forced) => boolean): ForcedModes => {
  const left = all.filter((one) => !drops(one));
  return left.length === all.length ? all : left;
};

/** Those of them that other processes may have forced. The other places are for what is forced in this process. */
export const MOST_REMOTE = 100;

/** How many modes its tool may have, if one more would be too many. */
export const fullAt = (
  all: ForcedModes,
  of: Pick<Forced, 'tool' | 'owner' | 'session' | 'isRemote'>,
): number | undefined => {
  const others = withoutMode(all, of).filter(({ tool }) => tool === of.tool);
  if (others.length >= MOST_MODES) return MOST_MODES;
  return of.isRemote && others.filter(({ isRemote }) => isRemote).length >= MOST_REMOTE ? MOST_REMOTE : undefined;
};

/** When the next one expires; Infinity if no mode is forced. */
export const nextExpiry = (all: ForcedModes): number =>
  all.reduce((soonest, { untilMs }) => Math.min(soonest, untilMs), Number.POSITIVE_INFINITY);

/** The mode of a tool in a session: the strongest that is forced (A4). */
export const modeFor = (all: ForcedModes, tool: string, session: string): ForcedMode | undefined => {
  const wanted = all.filter((one) => one.tool === tool && (one.session === undefined || one.session === session));
  return FORCED_MODES.find((mode) => wanted.some((one) => one.mode === mode));
};

/**
 * A4: puts an operator's mode over a circuit, or replaces it, or (`undefined`) takes it away. What it covers is kept, and comes back
 * as it was. Results of calls under way are late each time.
 */
export const cover = (tracked: TrackedCircuit, mode: ForcedMode | undefined): void => {
  const { covered } = tracked;
  if (mode === undefined) {
    if (covered !== undefined) uncover(tracked, covered);
    return;
  }
  tracked.covered = covered ?? { ...tracked };
  takeOver(tracked, mode);
};

const uncover = (tracked: TrackedCircuit, covered: TrackedCircuit): void => {
  const { mode, circuit, openedBy, keys, ordered, isControlled } = covered;
  const forgotten = forgetKeys(tracked.keys);
  tracked.mode = mode;
  tracked.circuit = idle(circuit, tracked.circuit.generation + 1);
  tracked.openedBy = openedBy;
  tracked.keys = keys === undefined ? forgotten : laterKeys(keys, forgotten?.generation ?? 0);
  tracked.covered = undefined;
  tracked.ordered = ordered;
  tracked.isControlled = isControlled;
};

/** The circuit in a later generation. Its probes under way are late, so their slots are free. */
const idle = (circuit: Circuit, generation: number): Circuit =>
  circuit.state === 'half_open' ? { ...circuit, generation, leases: [] } : { ...circuit, generation };

const laterKeys = ({ circuits, generation }: KeyCircuits, later: number): KeyCircuits => ({
  circuits: new Map([...circuits].map(([key, circuit]) => [key, idle(circuit, circuit.generation + later)])),
  generation: generation + later,
});
