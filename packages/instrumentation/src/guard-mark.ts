import { BreakerboxUsageError } from '@breakerbox/core';
import type { SessionSource } from './acquire.ts';
import { processKey } from './process-wide.ts';

/** Properties of a function made here that asks a session by itself. */
export interface Guarded {
  /** The source that it asks at each call. */
  readonly session: SessionSource;
}

/** A property of the functions, because tools are copied. Other copies of the package use the same name. */
const GUARDED: unique symbol = processKey('guarded') as typeof GUARDED;

/**
 * Marks a function made here. The mark is a property of the function, because each entry of a WeakMap would slow down every garbage
 * collection, and sessions often have twenty tools each.
 */
export const mark = <Work extends object>(work: Work, guarded: Guarded): Work =>
  Object.defineProperty(work, GUARDED, { value: guarded });

/** Marks a function with only the source that it asks. */
export const markGuarded = <Work extends object>(work: Work, session: SessionSource): Work => mark(work, { session });

/** The mark of a value; undefined without one. */
export const markOf = (work: unknown): Guarded | undefined =>
  (work as { readonly [GUARDED]?: Guarded } | null | undefined)?.[GUARDED];

/** The source that a function asks by itself; undefined for a function without a mark. */
export const guardedBy = (work: unknown): SessionSource | undefined => markOf(work)?.session;

/** @throws BreakerboxUsageError if a function would ask the same session twice. */
export const throwIfGuarded = (where: string, work: unknown, session: SessionSource): void => {
  if (guardedBy(work) !== session) return;
  throw new BreakerboxUsageError(
    `${where}: the tool is guarded for this session already. Each call would be decided twice: each failure would be charged ` +
      'twice, and a probe would reject itself, so the circuit could never close. Guard the tool once, at one place.',
  );
};
