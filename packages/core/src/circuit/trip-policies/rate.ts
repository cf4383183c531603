import { above, type Check, number, object, show, whole } from '../../checks/checks.ts';
import {
  addCalls,
  CALL_WINDOW,
  type CallWindow,
  callWindow,
  MAX_WINDOW_CALLS,
  pushCall,
  RATE_TIME_WINDOW,
  type TimeWindow,
  timeWindow,
  totalAt,
} from './recent-calls.ts';
import type { CountedCall, CountsFormat, TripPolicy } from './trip-policy.ts';

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

export interface RatePolicy {
  readonly rate: number;
  readonly minimumCalls: number;
  readonly window: { readonly calls: number } | { readonly ms: number };
}

type RateWindow = CallWindow | TimeWindow;

const WINDOW_CALLS = 100;
const MINIMUM_CALLS = 10;

/** Fills in the defaults. `config` must have been validated. */
export const resolveRate = <Config extends RateConfig>(config: Config) => {
  const { rate, minimumCalls, windowCalls = WINDOW_CALLS, windowMs, ...others } = config;
  const most = windowMs === undefined ? windowCalls : MINIMUM_CALLS;
  const window = windowMs === undefined ? { calls: windowCalls } : { ms: windowMs };
  return { ...others, rate, minimumCalls: minimumCalls ?? Math.min(MINIMUM_CALLS, most), window };
};

/**
 * The window after one more call, or unchanged without a `hit`: a call that is in no rate (O6). A window that was kept under
 * another configuration begins again.
 */
const recordRate = (
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
const rateReached = (window: RateWindow, { rate, minimumCalls }: RatePolicy, ms: number): boolean => {
  const { calls, amount } = isCallWindow(window) ? { calls: window.calls, amount: window.hits } : totalAt(window, ms);
  return calls >= minimumCalls && amount / calls >= rate;
};

const isCallWindow = (window: RateWindow): window is CallWindow => 'pages' in window;

const RATE_WINDOW: CountsFormat<RateWindow> = {
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
      : [
          {
            path,
            message: `is ${show(value)}. Set the share of calls as a number above 0 and at most 1, such as 0.5 for half of them.`,
          },
        ],
  minimumCalls: whole(1, 'With fewer calls in the window, the circuit does not open.'),
  windowCalls: (path, value) => {
    const issues = whole(1, 'The rate is measured over this many calls.')(path, value);
    if (issues.length > 0 || (value as number) <= MAX_WINDOW_CALLS) return issues;
    const message = `is ${show(value)}. Set at most ${MAX_WINDOW_CALLS}: each circuit stores one bit per call.`;
    return [{ path, message }];
  },
  windowMs: above('The rate is measured over the calls in this time.'),
};

/**
 * Checks a rate, with `like` as the example in messages. `more` are the additional settings of this kind of rate; all of them are
 * required.
 */
const checkRate =
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
    const message = `is ${windowMs}, but windowCalls (${windowCalls}) is set too. A rate has one window: remove one of them.`;
    return [{ path: `${path}.windowMs`, message }];
  }
  const holds = windowCalls ?? WINDOW_CALLS;
  if (minimumCalls <= holds) return [];
  const message =
    `is ${minimumCalls}, but the window holds ${holds} calls${windowCalls === undefined ? ' by default' : ''}, so ` +
    `the circuit could never open. Lower minimumCalls or raise windowCalls.`;
  return [{ path: `${path}.minimumCalls`, message }];
};

type RatePolicies<Setting extends string, Config extends RateConfig> = Readonly<
  Record<Setting, (Omit<Config, keyof RateConfig> & RatePolicy) | undefined>
>;

type RateTrip<Setting extends string, Config extends RateConfig> = Omit<
  TripPolicy<Readonly<Partial<Record<Setting, Config>>>, RatePolicies<Setting, Config>, RateWindow>,
  'name' | 'checks'
> & { readonly checks: Readonly<Record<Setting, Check>> };

/**
 * A trip policy that compares the share of calls that are a `hit` with the rate in one setting. `more` are the checks of further
 * settings of this kind of rate. `unknown` failures are in no rate (O6).
 */
const rateTrip = <const Setting extends string, Config extends RateConfig>(
  setting: Setting,
  like: string,
  isHit: (call: CountedCall, policy: Omit<Config, keyof RateConfig>) => boolean,
  more?: Readonly<Record<string, Check>>,
): RateTrip<Setting, Config> => ({
  setting,
  checks: { [setting]: checkRate(like, more) } as Readonly<Record<Setting, Check>>,
  resolve: ({ [setting]: config }) => ({ [setting]: config && resolveRate(config) }) as RatePolicies<Setting, Config>,
  record: (window, call, { [setting]: policy }, ms) =>
    policy && recordRate(window, policy, call.category === 'unknown' ? undefined : isHit(call, policy), ms),
  tripped: (window, _, { [setting]: policy }, ms) => policy !== undefined && rateReached(window, policy, ms),
  snapshot: RATE_WINDOW,
});

/**
 * Opens when too large a share of the calls fails, however many succeed between (C3).
 *
 * @example Half of the last 20 calls
 * ```ts
 * createBreakerbox({
 *   agent: 'research-agent',
 *   tools: { web_search: { failureRate: { rate: 0.5, windowCalls: 20 } } },
 * });
 * ```
 */
export interface FailureRateConfig extends RateConfig {}

export const failureRate = {
  name: 'failure_rate',
  ...rateTrip<'failureRate', FailureRateConfig>(
    'failureRate',
    '{ rate: 0.5 }',
    ({ category }) => category !== undefined,
  ),
} as const;

/**
 * Opens when too large a share of the calls is slow, whether they succeed or fail (C3).
 *
 * @example Every second call of the last minute took longer than 5 s
 * ```ts
 * createBreakerbox({
 *   agent: 'research-agent',
 *   tools: { web_search: { slowCallRate: { rate: 0.5, slowerThanMs: 5_000, windowMs: 60_000 } } },
 * });
 * ```
 */
export interface SlowCallRateConfig extends RateConfig {
  /** Duration above which a call is slow. Milliseconds > 0. */
  readonly slowerThanMs: number;
}

export const slowCallRate = {
  name: 'slow_call_rate',
  category: 'timeout',
  ...rateTrip<'slowCallRate', SlowCallRateConfig>(
    'slowCallRate',
    '{ rate: 0.5, slowerThanMs: 5000 }',
    ({ durationMs = 0 }, { slowerThanMs }) => durationMs > slowerThanMs,
    { slowerThanMs: number(0, ': a call that takes longer is slow.', { above: true }) },
  ),
} as const;
