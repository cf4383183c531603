import { show } from './checks/checks.ts';
import { reportThrown } from './safely.ts';

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
    const clock = performance; // Read once, because it is an accessor of Node's.
    const read = clock.now();
    if (!Number.isFinite(read)) return latest; // Such a value comes from a broken fake clock, which would stop this clock for good.
    const given = clock.now;
    if (given !== source && given === clock.now) {
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
  /** Number of calls that the session had settled (B1). Left out: 0. */
  readonly calls?: number;
  /** Several runs of a tree take steps, so that steps say nothing of the time that has passed (D1). Left out otherwise. */
  readonly byCalls?: true;
}

/** A clock from the application that the engine can rely on. */
export interface SafeClock extends Clock {
  /** Its latest monotonic reading was bad, so `now()` does not advance. */
  readonly isFailing: boolean;
}

/**
 * The application's clock, made safe for the engine (E5). `now()` never throws, never goes back, and always returns a finite
 * number of 0 or more. `unixNow()` never throws and always returns such a number; it may go back, as system clocks do. For a bad
 * reading, each returns its last good one. The first bad reading of each method is reported to OpenTelemetry's `diag`.
 *
 * The system clock is safe already and is returned as it is.
 */
export const safeClock = (clock: Clock): Clock => {
  if (clock === systemClock) return clock;
  let latestMs = 0;
  let isFailing = false;
  let unixMs: number | undefined;
  const now = checked('clock.now()', () => clock.now());
  const unixNow = checked('clock.unixNow()', () => clock.unixNow());
  const safe: SafeClock = {
    now: () => {
      const ms = now();
      isFailing = ms === undefined;
      if (ms !== undefined && ms > latestMs) latestMs = ms;
      return latestMs;
    },
    unixNow: () => {
      unixMs = unixNow() ?? unixMs;
      return unixMs ?? Date.now();
    },
    get isFailing() {
      return isFailing;
    },
  };
  return safe;
};

/** Whether time does not advance because the application's clock fails. Code that waits for time would then wait for ever. */
export const isFailing = (clock: Clock): boolean => (clock as Partial<SafeClock>).isFailing === true;

/** A reading, or undefined for a bad one. The first bad reading is reported. */
const checked = (what: string, read: () => unknown): (() => number | undefined) => {
  let reported = false;
  const report = (error: unknown): undefined => {
    if (!reported) reportThrown(what, error);
    reported = true;
  };
  return () => {
    try {
      const ms = read();
      if (isTime(ms)) return ms;
      Promise.resolve(ms).then(undefined, () => {}); // A promise that rejects must not end the process.
      return report(new TypeError(`${what} returned ${show(ms)}. Return a number of milliseconds, 0 or more.`));
    } catch (error) {
      return report(error);
    }
  };
};

const isTime = (ms: unknown): ms is number => typeof ms === 'number' && ms >= 0 && ms < Number.POSITIVE_INFINITY;
