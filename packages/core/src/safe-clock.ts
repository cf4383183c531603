import { type Clock, systemClock } from './clock.ts';
import { show } from './config/checks.ts';
import { reportThrown } from './safely.ts';

/** A clock from the application that the engine can rely on. */
export interface SafeClock extends Clock {
  /** Its latest monotonic reading was bad, so `now()` does not advance. */
  readonly isFailing: boolean;
}

/**
 * The application's clock, made safe for the engine (E5, C10). `now()` never throws, never goes back, and always returns a finite
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
      return report(new TypeError(`${what} gave ${show(ms)}. Give a number of milliseconds, 0 or more.`));
    } catch (error) {
      return report(error);
    }
  };
};

const isTime = (ms: unknown): ms is number => typeof ms === 'number' && ms >= 0 && ms < Number.POSITIVE_INFINITY;
