import type { FreshnessLabel } from '../freshness.ts';
import { type Alternative, type Capability, DEGRADATIONS, type Degradation } from './map.ts';

/** Where a call that is not made goes instead (R2). */
export type Route = AlternativeRoute | ManualRoute | StaleRoute | DeferRoute;

/** Another tool does it, in its own way. */
export interface AlternativeRoute {
  readonly kind: 'alternative';
  readonly tool: string;
  /** How to use it for this, in words; undefined where there is nothing to say. */
  readonly method: string | undefined;
  readonly degradation: Degradation;
  /** What is lost by it, in words. */
  readonly note: string | undefined;
  /** Makes the alternative's input of this tool's, so that the executor may call it in place (R4). */
  readonly adapt: ((input: unknown) => unknown) | undefined;
}

/** No tool, but something that a person or the model may do. */
export interface ManualRoute {
  readonly kind: 'manual';
  readonly fallback: string;
}

/** The tool's own last good result for these arguments (F2). */
export interface StaleRoute {
  readonly kind: 'stale';
  readonly result: unknown;
  readonly label: FreshnessLabel;
}

/** Nothing: put it off. */
export interface DeferRoute {
  readonly kind: 'defer';
}

/**
 * R2: the usable alternative of least degradation (low, high, unknown last; among equals the first), else the manual fallback,
 * else `defer`. Whether a last good result comes before them (F2), the tool says.
 */
export const routeOf = (
  { alternatives = [], fallback }: Capability,
  usable: (tool: string) => boolean,
): Exclude<Route, StaleRoute> => {
  const best = alternatives
    .filter(({ tool }) => usable(tool))
    .toSorted((one, other) => rank(one) - rank(other)) // Stable.
    .at(0);
  if (best !== undefined) {
    const { tool, method, degradation = 'unknown', note, adapt } = best;
    return { kind: 'alternative', tool, method, degradation, note, adapt };
  }
  return fallback === undefined ? { kind: 'defer' } : { kind: 'manual', fallback };
};

const rank = ({ degradation = 'unknown' }: Alternative): number => DEGRADATIONS.indexOf(degradation);
