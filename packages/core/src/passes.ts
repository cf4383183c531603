import type { CircuitMode, Lease } from './circuit/circuit.ts';

/** C15: another circuit that a call passed, beside its tool's. */
export interface Pass {
  /** The gate of an event, the gate of an event of the dry run (C1), or the circuit of a group or of a key. */
  readonly of: 'gate' | 'observed_gate' | 'group' | 'key';
  /** The hash of the key (C14). */
  readonly key?: string;
  readonly generation: number;
  /** The slot that the call takes as a probe. */
  readonly lease: Lease | undefined;
}

/** C14: the pass of the call's key; undefined for a call without one. */
export const keyPassOf = (passes: readonly Pass[]): Pass | undefined => passes.find(({ of }) => of === 'key');

/** Whether the call is the probe of a shared circuit: of a group, or of an event. */
export const holdsShared = (passes: readonly Pass[]): boolean =>
  passes.some(({ of, lease }) => of !== 'key' && lease !== undefined);

/** One list for nearly all calls. */
export const NO_PASSES: readonly Pass[] = [];

/**
 * Whether calls of a tool in this mode move the circuit of its group. A tool that is only observed moves no circuit that decides.
 */
export const feeds = (group: { readonly mode: CircuitMode }, mode: CircuitMode): boolean =>
  group.mode === 'automatic'
    ? mode === 'automatic'
    : group.mode === 'observe_only' && (mode === 'automatic' || mode === 'observe_only');

/**
 * Whether the circuit of a group may reject calls of a tool in this mode. For an observed tool, the rejection is only reported
 * (C1).
 */
export const rejects = (group: { readonly mode: CircuitMode }, mode: CircuitMode): boolean =>
  group.mode === 'automatic' || group.mode === 'forced_open' || mode === 'observe_only';
