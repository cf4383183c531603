/** The limits of a run, as the configuration gives them (D2). They hold for all calls, successful ones too. */

/** What a run can use up. */
export const LIMIT_KINDS = ['calls', 'steps', 'tokens', 'cost', 'durationMs'] as const;

/** What a limit counts: calls of tools, steps, tokens, money, or the time since the run began. */
export type LimitKind = (typeof LIMIT_KINDS)[number];

/** Those of which calls use something up. Time passes by itself. */
export type CountedKind = Exclude<LimitKind, 'durationMs'>;

export const COUNTED_KINDS = ['calls', 'steps', 'tokens', 'cost'] as const satisfies readonly CountedKind[];

export const LIMIT_MODES = ['observe', 'advise', 'pause'] as const;

/**
 * What a limit does. `observe`: reports and views show it. `advise`: at 80 %, the model also reads what is left. `pause`: at 100 %, all
 * decisions are also `pause`.
 */
export type LimitMode = (typeof LIMIT_MODES)[number];

/** A limit with its mode. */
export interface LimitOptions {
  /** What may be used up. Whole number ≥ 1. */
  readonly limit: number;
  /** What the limit does: `observe`, `advise` or `pause`. Default `pause`. */
  readonly mode?: LimitMode;
}

/** A limit of money. */
export interface CostLimitOptions {
  /** How much the run may cost. Number > 0. */
  readonly amount: number;
  /** The currency of `amount`, and of each cost that you report: `USD`. */
  readonly currency: string;
  /** What the limit does: `observe`, `advise` or `pause`. Default `pause`. */
  readonly mode?: LimitMode;
}

/** Limits of a run, for all of its calls (D2). */
export interface LimitsOptions {
  /** Calls of tools, successful ones too. Whole number ≥ 1. Default: any number. */
  readonly calls?: number | LimitOptions;
  /** Steps of the agent loop, as `session.step()` ends them. Whole number ≥ 1. Default: any number. */
  readonly steps?: number | LimitOptions;
  /** Tokens that calls and models report (D3). Whole number ≥ 1. Default: any number. */
  readonly tokens?: number | LimitOptions;
  /** Money that calls and models cost, as they report it (D3). Default: any amount. */
  readonly cost?: CostLimitOptions;
  /**
   * Time from the beginning of the run, pauses included (D4). A tenth of it, at least 5 s and at most a quarter, is kept for the final
   * answer, so that calls end before. Whole milliseconds ≥ 1. Default: any time.
   */
  readonly durationMs?: number | LimitOptions;
}

/** One limit of a run. */
export interface Limit {
  /** It grows by `session.extend()`. */
  size: number;
  readonly mode: LimitMode;
  /** It is a part of the limit of the run above (D1). */
  readonly reserves: boolean;
  /** Of a limit of money: `USD`. */
  readonly currency: string | undefined;
  /** The size of the box's limit when the run got it from there; undefined for a limit of its own. */
  boxSize?: number | undefined;
  /** What was told of it: the level, whether it pauses, and the sizes at which it was advised and reached (D7). */
  told?: { level: 'advised' | 'reached' | undefined; pauses: boolean; advisedAt: number; reachedAt: number };
}

/** A run has only those that were set. */
export type Limits = Partial<Record<LimitKind, Limit>>;

/** The limits with every default filled in; undefined without any. */
export const limitsOf = (options: LimitsOptions | undefined): Limits | undefined => {
  const limits: Limits = {};
  for (const kind of LIMIT_KINDS) {
    const limit = limitOf(options?.[kind]);
    if (limit !== undefined) limits[kind] = limit;
  }
  return Object.keys(limits).length === 0 ? undefined : limits;
};

/** D2: the limits of a session: its own, and those of its box. */
export const limitsOfSession = (ofBox: LimitsOptions, own: LimitsOptions): Limits | undefined => {
  const limits = limitsOf({ ...ofBox, ...own });
  for (const kind of LIMIT_KINDS) {
    const limit = kind in own ? undefined : limits?.[kind];
    if (limit !== undefined) limit.boxSize = limit.size;
  }
  return limits;
};

/**
 * C11: a limit that a restored run has from its box grows if that of the box has grown, and one that the box has got since holds from now on.
 * What was extended stays.
 */
export const growWithBox = (limits: Limits, ofBox: LimitsOptions | undefined): void => {
  const now = limitsOf(ofBox);
  for (const kind of LIMIT_KINDS) {
    const [limit, size] = [limits[kind], now?.[kind]?.size];
    if (limit === undefined && now?.[kind] !== undefined) limits[kind] = { ...now[kind], boxSize: size };
    if (limit?.boxSize === undefined || size === undefined || size <= limit.boxSize) continue;
    if (limit.currency !== now?.[kind]?.currency) continue;
    limit.size += size - limit.boxSize;
    limit.boxSize = size;
  }
};

const limitOf = (given: number | LimitOptions | CostLimitOptions | undefined): Limit | undefined => {
  if (given === undefined) return undefined;
  const { mode = 'pause', ...own } = typeof given === 'number' ? { limit: given } : given;
  return 'amount' in own
    ? { size: own.amount, mode, reserves: false, currency: own.currency.toUpperCase() }
    : { size: own.limit, mode, reserves: false, currency: undefined };
};

/** D4: the time that is kept for the final answer. */
export const answerTime = (durationMs: number): number => Math.min(Math.max(durationMs / 10, 5_000), durationMs / 4);
