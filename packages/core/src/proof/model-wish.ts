import type { ErrorCategory } from '../index.ts';
import type { HeldTime } from './model-circuit.ts';

/** The circuit around the events of the fleet (S5, G8). */
export const EVENT = 'event:systemic';

/** What a fleet says about a circuit (G3 to G7). Durations in ms. */
export type ModelOrder =
  | { readonly order: 'hold'; readonly category: ErrorCategory; readonly ageMs: number; readonly waitMs: number }
  | { readonly order: 'grant'; readonly forMs: number }
  | { readonly order: 'recover'; readonly dueInMs: number; readonly ageMs?: number }
  | { readonly order: 'let_go'; readonly notBeforeMs: number };

/** All orders up to now, as what the fleet wants: a tool that is used later finds it too. */
export interface Wish {
  /** Open for all. The same object until the next `hold`. */
  readonly outage: { readonly category: ErrorCategory; readonly ms: number; readonly waitMs: number } | undefined;
  /** When a probe may go; undefined where the own schedule says so. */
  readonly held: HeldTime | undefined;
  readonly notBeforeMs: number;
}
