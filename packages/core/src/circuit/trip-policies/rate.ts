import { type Check, number, object, orLeaveOut, show } from '../../config/checks.ts';
import { CALL_WINDOW, type CallWindow, callWindow, MAX_WINDOW_CALLS, pushCall } from './call-window.ts';
import { addCalls, RATE_TIME_WINDOW, type TimeWindow, timeWindow, totalAt } from './time-window.ts';
import type { CountsFormat } from './trip-policy.ts';

/** The window of a rate: the last calls, or the last milliseconds. Set one of the two, never both. */
export interface RateConfig {
  /** Share of the calls in the window that opens the circuit, above 0 and at most 1: `0.5` is every second call. */
  readonly rate: number;
  /**
   * Least number of calls in the window before the circuit may open. Whole number ≥ 1, at most `windowCalls`. Default 10, or
   * `windowCalls` if that is less.
   */
  readonly minimumCalls?: number;
  /** Number of latest calls in the window. Whole number from 1 to 100,000. Default 100, unless `windowMs` is set. */
  readonly windowCalls?: number;
  /** Length of a window by time. Milliseconds > 0. After that long without calls, the window is empty again. */
  readonly windowMs?: number;
}

/** A rate with its defaults filled in. */
export interface RatePolicy {
  readonly rate: number;
  readonly minimumCalls: number;
  readonly window: { readonly calls: number } | { readonly ms: number };
}

export type RateWindow = CallWindow | TimeWindow;

const WINDOW_CALLS = 100;
const MINIMUM_CALLS = 10;

/** Fills in the defaults. `config` must have been validated. */
export const resolveRate = ({ rate, minimumCalls, windowCalls = WINDOW_CALLS, windowMs }: RateConfig): RatePolicy =>
  windowMs === undefined
    ? { rate, minimumCalls: minimumCalls ?? Math.min(MINIMUM_CALLS, windowCalls), window: { calls: windowCalls } }
    : { rate, minimumCalls: minimumCalls ?? MINIMUM_CALLS, window: { ms: windowMs } };

/**
 * The window after one more call, or unchanged without a `hit`: a call that is in no rate (O6). A window that was kept under
 * another configuration begins again.
 */
export const recordRate = (
  kept: RateWindow | undefined,
  { window }: RatePolicy,
  hit: boolean | undefined,
  ms: number,
): RateWindow => {
  if ('calls' in window) {
    const fitting = kept && isCallWindow(kept) && kept.size === window.calls ? kept : callWindow(window.calls);
    return hit === undefined ? fitting : pushCall(fitting, hit);
  }
  const fitting = kept && !isCallWindow(kept) && kept.spanMs === window.ms ? kept : timeWindow(window.ms);
  return hit === undefined ? fitting : addCalls(fitting, ms, { calls: 1, amount: Number(hit) });
};

/** C3: the rate is compared with `>=`, and only if there were enough calls. */
export const rateReached = (window: RateWindow, { rate, minimumCalls }: RatePolicy, ms: number): boolean => {
  const { calls, amount } = isCallWindow(window) ? { calls: window.calls, amount: window.hits } : totalAt(window, ms);
  return calls >= minimumCalls && amount / calls >= rate;
};

const isCallWindow = (window: RateWindow): window is CallWindow => 'pages' in window;

/** A rate's window in a snapshot. */
export const RATE_WINDOW: CountsFormat<RateWindow> = {
  write: (window, ms) => (isCallWindow(window) ? CALL_WINDOW.write(window, ms) : RATE_TIME_WINDOW.write(window, ms)),
  check: (path, value) => formatOf(value).check(path, value),
  read: (kept, ms) => formatOf(kept).read(kept, ms),
};

const formatOf = (kept: unknown): CountsFormat<RateWindow> =>
  'outcomes' in Object(kept) ? CALL_WINDOW : RATE_TIME_WINDOW;

const rateChecks: Readonly<Record<keyof RateConfig, Check>> = {
  rate: (path, value) =>
    typeof value === 'number' && value > 0 && value <= 1
      ? []
      : [{ path, message: `is ${show(value)}. Set a share of the calls above 0 and at most 1: 0.5 is every second.` }],
  minimumCalls: number(1, orLeaveOut('fewer calls than that say nothing of a rate.'), { whole: true }),
  windowCalls: (path, value) => {
    const issues = number(1, orLeaveOut('the rate is that of so many calls.'), { whole: true })(path, value);
    if (issues.length > 0 || (value as number) <= MAX_WINDOW_CALLS) return issues;
    const message = `is ${show(value)}. Set at most ${MAX_WINDOW_CALLS}: each session keeps a bit for every one of them.`;
    return [{ path, message }];
  },
  windowMs: number(0, orLeaveOut('the rate is that of the calls in that time.'), { above: true }),
};

/**
 * Checks a rate, with `like` as the example in messages. `more` are the additional settings of this kind of rate; all of them are
 * required.
 */
export const checkRate =
  (like: string, more: Readonly<Record<string, Check>> = {}): Check =>
  (path, value) => {
    const issues = object({ ...rateChecks, ...more }, like)(path, value);
    if (issues.length > 0) return issues;
    const config = value as RateConfig;
    const required = Object.entries({ rate: rateChecks.rate, ...more });
    return [
      ...required.flatMap(([key, check]) =>
        (value as Record<string, unknown>)[key] === undefined ? check(`${path}.${key}`, undefined) : [],
      ),
      ...contradictions(path, config),
    ];
  };

const contradictions: (path: string, config: RateConfig) => ReturnType<Check> = (path, config) => {
  const { windowCalls, windowMs, minimumCalls = 1 } = config;
  if (windowMs !== undefined) {
    if (windowCalls === undefined) return [];
    const message = `is ${windowMs}, and windowCalls is ${windowCalls}. Set one of them: a rate has one window.`;
    return [{ path: `${path}.windowMs`, message }];
  }
  const holds = windowCalls ?? WINDOW_CALLS;
  if (minimumCalls <= holds) return [];
  const message =
    `is ${minimumCalls}, and the window holds ${holds} calls${windowCalls === undefined ? ' by default' : ''}, so that ` +
    `the circuit could never open. Lower minimumCalls or raise windowCalls.`;
  return [{ path: `${path}.minimumCalls`, message }];
};
