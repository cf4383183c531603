import type { BoxContext } from '../box-context.ts';
import type { BreakerboxConfig } from '../config/config.ts';
import type { CircuitSpec } from '../tool.ts';

/** What operators and a changed configuration reach of a box's models. */
export interface ModelContext {
  /** Whether it is the circuit of a model, or of a group of models. */
  knows(name: string): boolean;
  /** The settings of the circuits of its models and of their groups. */
  circuits(): Iterable<CircuitSpec>;
  /** A10: the settings have changed. */
  reconfigure(next: BreakerboxConfig): void;
}

/** The models of each box that guards any. Here, so that operators need not import what makes them. */
export const modelContexts = new WeakMap<BoxContext, ModelContext>();
