import { BreakerboxUsageError } from '@breakerbox/core';
import type { SessionSource } from './session-source.ts';

/** On what asks a session by itself, by this name for other copies of the package too: on functions, for tools are copied. */
const GUARDED = Symbol.for('@breakerbox/instrumentation/guarded');

/** Remembers whom a function asks at each call. */
export const markGuarded = <Work extends object>(work: Work, session: SessionSource): Work =>
  Object.defineProperty(work, GUARDED, { value: session });

/** Whom a function asks by itself; undefined for one that was never marked. */
export const guardedBy = (work: unknown): SessionSource | undefined =>
  (work as { readonly [GUARDED]?: SessionSource } | null | undefined)?.[GUARDED];

/** @throws BreakerboxUsageError where a function would ask the same session twice. */
export const refuseGuarded = (where: string, work: unknown, session: SessionSource): void => {
  if (guardedBy(work) !== session) return;
  throw new BreakerboxUsageError(
    `${where}: got what is guarded for this session already, so each call would be decided twice: failures would be charged ` +
      'twice, and a probe would be refused by itself, so that its circuit could never close. Guard once, at one place.',
  );
};
