/**
 * The source of the engine's time. The engine decides by monotonic time, so that a step of the system clock can neither freeze a
 * circuit nor start probes too early (C10).
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
  /**
   * Unix time in milliseconds. It is put on events and the opened-time gauge, and used to read Retry-After dates. Nothing is timed
   * by it.
   */
  unixNow(): number;
}

/**
 * `performance.now()` and `Date.now()`. `performance.now()` jumps if a test installs or removes fake timers. Then this clock pauses
 * for a moment and continues at the new pace. The change is detected by comparing the function. Behind a proxy or a binding
 * accessor, each read gives another function, so only the value that it returns can be used.
 */
export const systemClock: Clock = {
  now: () => {
    const read = performance.now();
    if (!Number.isFinite(read)) return latest; // Such a value comes from a broken fake clock, which would stop this clock for good.
    const given = performance.now;
    if (given !== source && given === performance.now) {
      source = given;
      lead = latest - read;
    }
    const ms = read + lead;
    if (ms >= latest) {
      latest = ms;
      return ms;
    }
    lead += latest - ms;
    return latest;
  },
  unixNow: () => Date.now(),
};

let latest = 0;
/** By how much time here is ahead of `performance.now()`. */
let lead = 0;
/** The function that gives the time. If it changes, the clock continues from where it is. */
let source: unknown = performance.now;

/** A point in the life of a session, on both of its clocks. */
export interface Moment {
  /** Monotonic milliseconds. */
  readonly ms: number;
  /** The session's step. */
  readonly step: number;
  /** When the session's step last moved, in monotonic milliseconds. */
  readonly stepMs: number;
}
