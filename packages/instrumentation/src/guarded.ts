import { BreakerboxUsageError } from '@breakerbox/core';
import type { SessionSource } from './session-source.ts';
import { sharedKey } from './shared.ts';

/** What is known of a function of ours that asks a session by itself. */
export interface Guarded {
  /** Whom it asks, at each call. */
  readonly session: SessionSource;
}

/** On functions, for tools are copied. By this name for other copies of the package too. */
const GUARDED: unique symbol = sharedKey('guarded', 1) as typeof GUARDED;

/**
 * Remembers what is known of a function of ours. It stands on the function: in a WeakMap each entry would be a burden on every
 * garbage collection, and sessions come with twenty tools each.
 */
export const mark = <Work extends object>(work: Work, guarded: Guarded): Work =>
  Object.defineProperty(work, GUARDED, { value: guarded });

/** The same where no more is known than whom it asks. */
export const markGuarded = <Work extends object>(work: Work, session: SessionSource): Work => mark(work, { session });

/** What is known of a value; undefined for one that was never marked. */
export const markOf = (work: unknown): Guarded | undefined =>
  (work as { readonly [GUARDED]?: Guarded } | null | undefined)?.[GUARDED];

/** Whom a function asks by itself; undefined for one that was never marked. */
export const guardedBy = (work: unknown): SessionSource | undefined => markOf(work)?.session;

/** @throws BreakerboxUsageError where a function would ask the same session twice. */
export const refuseGuarded = (where: string, work: unknown, session: SessionSource): void => {
  if (guardedBy(work) !== session) return;
  throw new BreakerboxUsageError(
    `${where}: got what is guarded for this session already, so each call would be decided twice: failures would be charged ` +
      'twice, and a probe would be refused by itself, so that its circuit could never close. Guard once, at one place.',
  );
};
