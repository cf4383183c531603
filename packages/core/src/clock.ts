/**
 * Where the engine gets its time. Everything it decides by is monotonic, so that a stepped system clock can neither freeze
 * a circuit nor open the gates early (C10).
 *
 * @example A clock for tests
 * ```ts
 * let ms = 0;
 * const box = createBreakerbox({ agent: 'test', clock: { now: () => ms, unixNow: () => 1_700_000_000_000 + ms } });
 * ms += 60_000; // a minute passes
 * ```
 */
export interface Clock {
  /** Monotonic time in milliseconds, from any origin; never negative. */
  now(): number;
  /** Unix time in milliseconds. Stamped on events and the opened-time gauge, and read for Retry-After dates; nothing is timed by it. */
  unixNow(): number;
}

/** `performance.now()` and `Date.now()`. */
export const systemClock: Clock = {
  now: () => performance.now(),
  unixNow: () => Date.now(),
};

/** A point in the life of a session, on both of its clocks. */
export interface Moment {
  /** Monotonic milliseconds. */
  readonly ms: number;
  /** The session's step. */
  readonly step: number;
  /** When the session's step last moved, in monotonic milliseconds. */
  readonly stepMs: number;
}
