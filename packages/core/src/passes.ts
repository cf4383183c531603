import type { CircuitMode, Lease } from './circuit/circuit.ts';

/** C15: a circuit that a call passed. The permit has that of its tool in fields of its own. */
export interface Pass {
  /** The circuit's subject. That of an event is its gate (S5). */
  readonly of: 'event' | 'group' | 'key' | 'tool';
  /** The mode of the tool that passes the gate of an event. A tool that is only observed passes that of the dry run (C1). */
  readonly mode?: CircuitMode;
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
