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

/**
 * `performance.now()` and `Date.now()`. The first one leaps where a test puts in fake timers, or takes them away: then time
 * stands still for a moment, and goes on from there at the new pace. That is told by the function, where it is one: behind a
 * proxy, or an accessor that binds it, it is another at each look, and only what it gives can be gone by.
 */
export const systemClock: Clock = {
  now: () => {
    const read = performance.now();
    if (!Number.isFinite(read)) return latest; // Whoever gives that has taken time over, and got it wrong: it would never go on.
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
/** Who gives the time: it goes on where it stands when that is somebody else. */
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

/**
 * The moment of what no time has a say in: the clock isn't read for it, because that would cost more than the decision.
 * Whatever is reckoned with it is no number, and no later than anything.
 */
export const UNTIMED: Moment = { ms: Number.NaN, step: Number.NaN, stepMs: Number.NaN };
