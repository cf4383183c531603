import { someNames } from './checks/names.ts';
import { type Blamed, type Classification, classifyError, classifyResult } from './classify/classify.ts';
import { isError, readErrorResult } from './classify/error-result.ts';
import {
  DEFAULT_JUDGEMENT,
  ERROR_CATEGORIES,
  type ErrorCategory,
  isFromOutside,
  type Outcome,
} from './classify/taxonomy.ts';
import type { Clock } from './clock.ts';
import type { ResultJudge } from './config/config.ts';
import { warnOfAmount } from './limits/amounts.ts';
import { atOnce, isObject, read, readKeys, reportThrown, safely } from './safely.ts';
import type { ToolSettings } from './tool.ts';
import { warnOnce } from './warnings/warnings.ts';

/**
 * How a tool call ended, as reported by the executor. Give a thrown error as `error`. Give a returned value as `result` if the tool
 * may report errors in its results (MCP's `isError`, an `{ error }` object). Or set `outcome` directly.
 */
export type Settlement = SettledAs & {
  /**
   * The cost of the call. Tokens of a failed call are wasted (O4): they are counted, charged to the token budget, and may open
   * the circuit.
   */
  readonly tokens?: number | undefined;
  /** What the call cost, in the currency of the run's limit (D3). It counts there alone. */
  readonly cost?: number | undefined;
  /**
   * Milliseconds that the tool itself took. Set it if the time since the decision is misleading, for example because a person was
   * asked in between. Default: the time since the decision.
   */
  readonly durationMs?: number | undefined;
  /**
   * What the failure blames. `tool`: the tool, or a service that it depends on. `key`: the one host, file or account that the call chose; it
   * counts there alone (C14). `group`: all tools of the group are unreachable, such as at the end of an MCP server's transport; the group's
   * circuit opens at once. Ignored unless the call failed: if `outcome` is `ignored`, or the category is `cancelled` or `denied`, it
   * counts nowhere. Default: what the classification of the error says, or `tool`.
   */
  readonly blames?: Blamed | undefined;
  /** What the executor knows about how current the result is, for tools with `labelFreshness` (F1). */
  readonly freshness?: FreshnessHint | undefined;
};

/** How current a result is, as the executor knows it (F1). */
export interface FreshnessHint {
  /** When the data was retrieved, in Unix milliseconds; `null` if unknown. Default: by this call. */
  readonly retrievedUnixMs?: number | null;
  /** `false`: the data was not checked. */
  readonly verified?: boolean;
}

type SettledAs =
  | {
      /** How the call ended, if the executor knows. It is taken as it is; nothing is classified. */
      readonly outcome: 'success';
      /** The returned value, kept as the last good result if the tool has `serveStaleMs` (F2). */
      readonly result?: unknown;
    }
  | {
      readonly outcome: Exclude<Outcome, 'success'>;
      /** What kind of failure it was (O1). Default `unknown`. */
      readonly category?: ErrorCategory;
      /** The wait that the tool asked for, in milliseconds (O3). */
      readonly retryAfterMs?: number;
      /** Give either an outcome or an error: an error is classified, an outcome is taken as it is. */
      readonly error?: never;
    }
  | {
      /** The thrown error. Its category is read from it (O2). */
      readonly error: unknown;
      /** The signal that the call ran under. It distinguishes a time-out of the tool from one of the run and from an abort by the caller (O10). */
      readonly signal?: AbortSignal | undefined;
      /** The executor's own classification (E1). Default: core reads codes and statuses. */
      readonly verdict?: Classification | undefined;
    }
  | {
      /**
       * The returned value. It is checked for an error that it reports, and kept as the last good result if the tool has
       * `serveStaleMs` (F2).
       */
      readonly result: unknown;
      /**
       * The executor's own classification (E1); `null`: the result is a success. Default: core reads codes and statuses of error
       * results.
       */
      readonly verdict?: Classification | null | undefined;
    };

export interface Judged {
  readonly outcome: Outcome;
  /** Undefined on success. */
  readonly category: ErrorCategory | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly tokens?: number;
  /** Set if the executor reported it (D3). */
  readonly cost?: number;
  /** Set if the executor reported how long the call took. */
  readonly durationMs?: number;
  /** `key`: ignored by everything but the circuit of the call's key, where it is a failure (C14). Undefined: the tool, or nothing. */
  readonly blames?: Exclude<Blamed, 'tool'> | undefined;
  /** What is known of an error that nothing could explain (O8). */
  readonly unexplained?: Classification['unexplained'];
  /** The peer has answered that it cannot do this request, so it works (C14). */
  readonly answered?: boolean | undefined;
  /** Why an outage is ignored, if not because of the settings: it counts for a call within this one (E3), or the caller said so. */
  readonly ignoredFor?: IgnoredFor | undefined;
}

export type IgnoredFor = 'nested' | 'caller';

/** C14: whether it is a failure of the call's key: it blames the key, or the tool has failed and the call was a probe of the key. */
export const failsKey = ({ outcome, blames }: Judged, isProbe: boolean): boolean =>
  blames === 'key' || (outcome === 'failure' && isProbe);

const SUCCESS: Judged = { outcome: 'success', category: undefined };

/** O1: outcome and category of a settlement. Never throws: a settlement that can't be read says nothing about the tool. */
export const judge = (
  settlement: Settlement,
  tool: string,
  settings: ToolSettings,
  clock: Clock,
  ranMs: number,
): Judged => {
  try {
    const given = isError(settlement) ? { error: settlement } : settlement; // Untyped callers may pass the error of `catch` itself.
    const judged = weigh(given, tool, settings, clock, ranMs);
    const isPlain = !('tokens' in given || 'cost' in given || 'durationMs' in given); // As nearly all are.
    return isPlain ? judged : withCost(judged, given, tool);
  } catch (error) {
    reportThrown(`reading the settlement of tool '${tool}'`, error);
    return byCaller({ outcome: 'ignored', category: 'unknown' });
  }
};

/** A cost that can't be read does not affect the outcome, which is known by now. */
const withCost = (judged: Judged, settlement: Settlement, tool: string): Judged => {
  try {
    const { tokens, cost, durationMs } = settlement;
    const what = `What a call of tool '${tool}' used`;
    warnOfAmount(what, 'tokens', tokens);
    warnOfAmount(what, 'cost', cost);
    return {
      ...judged,
      ...bounded('tokens', tokens),
      ...bounded('cost', cost),
      ...bounded('durationMs', durationMs),
    };
  } catch (error) {
    reportThrown(`reading what a call of tool '${tool}' cost`, error);
    return judged;
  }
};

/** C14: the outcome for a failure that blames the key. A call that was ended from outside says nothing about the key. */
const ofKey = ({ blames: _, ...judged }: Judged): Judged => ({
  ...judged,
  outcome: 'ignored',
  ...(!isFromOutside(judged.category) && { blames: 'key' }),
});

/** Keeps sums finite, because metrics and snapshots hold them. */
const bounded = (key: 'tokens' | 'cost' | 'durationMs', value: unknown): Partial<Judged> => {
  const amount = value === 0 && key !== 'tokens' ? 0 : sane(value);
  return amount === undefined ? {} : { [key]: Math.min(amount, Number.MAX_SAFE_INTEGER) };
};

const weigh = (settlement: Settlement, tool: string, settings: ToolSettings, clock: Clock, ranMs: number): Judged => {
  // Untyped callers may pass anything. The value isn't shown, because it may be a secret (Q2).
  if (!isObject(settlement))
    throw new TypeError(`It is of type ${typeof settlement}. Give an object, such as { error }.`);
  const says = 'error' in settlement || 'result' in settlement;
  // Types accept `{ outcome: ok ? 'success' : undefined, error }`, which is an error.
  if ('outcome' in settlement && !(says && settlement.outcome === undefined)) {
    const { outcome } = settlement;
    if (outcome === 'success') return SUCCESS;
    if (outcome !== 'failure' && outcome !== 'ignored') {
      return unclear(tool, 'its outcome is not success, failure or ignored');
    }
    const wait = sane(read(settlement, 'retryAfterMs'));
    const told: Judged = { outcome, category: categoryOf(settlement, tool), retryAfterMs: wait };
    return outcome === 'failure' ? blaming(told, read(settlement, 'blames'), settings) : byCaller(told);
  }
  if (!says) {
    return unclear(
      tool,
      `an object with ${someNames(readKeys(settlement)) || 'nothing in it'} doesn't say how the call went`,
    );
  }
  const found: Found | undefined =
    'error' in settlement
      ? ((settings.classify && byUser(settlement.error, false, tool, settings.classify)) ??
        given(settlement.verdict, `the verdict on tool '${tool}'`) ??
        classifyError(settlement.error, {
          unixMs: clock.unixNow(),
          ...(settlement.signal && { signal: settlement.signal, ranMs: settlement.durationMs ?? ranMs }),
        }))
      : classifiedResult(settlement, tool, settings, clock);
  if (found === undefined) return SUCCESS;
  const { category, isFailure } = found;
  const retryAfterMs = sane(found.retryAfterMs);
  const outcome = isFailure ? 'failure' : settings.outcomes[category];
  const blames = blamed(read(settlement, 'blames')) ?? found.blames; // The end of a transport blames the group, even if its text names a key.
  const answered = found.answered === true && (category === 'tool_error' || category === 'invalid_input');
  const isOfTool = blames !== 'group' && (blames !== 'key' || settings.key === false);
  const unexplained = isOfTool ? found.unexplained : undefined;
  const judged: Judged = {
    outcome,
    category,
    retryAfterMs,
    ...(answered && { answered }),
    ...(unexplained !== undefined && { unexplained }),
  };
  return blaming(judged, blames, settings);
};

const byCaller = (judged: Judged): Judged => {
  const isOutage = DEFAULT_JUDGEMENT[judged.category ?? 'unknown'] === 'failure';
  return isOutage ? { ...judged, ignoredFor: 'caller' } : judged;
};

/** C14: a tool that was set to have no keys has one circuit for all calls. */
const blaming = (judged: Judged, blames: unknown, { key }: ToolSettings): Judged => {
  if (blames === 'key' && key !== false) return ofKey(judged);
  return blames === 'group' && judged.outcome === 'failure' ? { ...judged, blames } : judged;
};

const blamed = (value: unknown): Blamed | undefined =>
  value === 'tool' || value === 'key' || value === 'group' ? value : undefined;

/** The classification of a call. `isFailure`: it is a failure, even if the tool's `outcomes` ignore its category (O7). */
type Found = Classification & { readonly isFailure?: boolean };

/** An unclear settlement neither opens nor closes a circuit. Values aren't shown, because they may be secrets (Q2). */
const unclear = (tool: string, why: string): Judged => {
  warnOnce(
    'BREAKERBOX_SETTLEMENT',
    tool,
    () =>
      `settle() of tool '${tool}': ${why}, so the call counts as ignored. Give { outcome: 'success' }, { error }, or { result }.`,
  );
  return byCaller({ outcome: 'ignored', category: 'unknown' });
};

const categoryOf = (settlement: object, tool: string): ErrorCategory => {
  const named = read(settlement, 'category');
  const category = known(named);
  if (category === undefined && named !== undefined) {
    warnOnce(
      'BREAKERBOX_SETTLEMENT',
      `${tool}: category`,
      () =>
        `settle() of tool '${tool}': its category does not exist, so it counts as unknown. Give one of ${ERROR_CATEGORIES.join(', ')}.`,
    );
  }
  return category ?? 'unknown';
};

/** O7: the tool's own settings first, then the executor's classification, then codes and statuses. Undefined: a success. */
const classifiedResult = (
  { result, verdict }: { readonly result?: unknown; readonly verdict?: Classification | null | undefined },
  tool: string,
  settings: ToolSettings,
  clock: Clock,
): Found | undefined => {
  const failed = settings.isFailure && failedBy(settings.isFailure, result, tool);
  if (failed !== undefined) return failed ? { ...failed, isFailure: true } : undefined;
  const found = settings.classify && byUser(result, true, tool, settings.classify);
  if (found !== undefined || verdict === null) return found;
  const said = given(verdict, `the verdict on tool '${tool}'`);
  if (said !== undefined || readErrorResult(result) === undefined) return said; // Almost every result: the clock isn't read for it.
  return classifyResult(result, { unixMs: clock.unixNow() });
};

/** O7: what `isFailure` says; false for a success. */
const failedBy = (isFailure: ResultJudge, result: unknown, tool: string): Classification | false | undefined => {
  const what = `isFailure of tool '${tool}'`;
  return safely(what, () => {
    const answer = atOnce(what, isFailure(result));
    return answer === false ? answer : given(answer === true ? 'server' : answer, what);
  });
};

const byUser = (
  value: unknown,
  returned: boolean,
  tool: string,
  classify: NonNullable<ToolSettings['classify']>,
): Classification | undefined => {
  const what = `the classifier of tool '${tool}'`;
  return safely(what, () => given(atOnce(what, classify(value, { returned })), what));
};

/** A category or a classification from a user or an executor. Any other value is reported to `diag` and has no effect (E5). */
const given = (answer: unknown, what: string): Classification | undefined => {
  if (answer === undefined) return undefined;
  const { category, retryAfterMs, blames, answered, unexplained } = (
    typeof answer === 'object' && answer !== null ? answer : { category: answer }
  ) as Partial<Classification>;
  const valid = known(category);
  if (valid === undefined) {
    warnOnce(
      'BREAKERBOX_SETTLEMENT',
      what,
      () =>
        `${what} returned a value that is not a category, so it is ignored. Return one of ${ERROR_CATEGORIES.join(', ')}, or undefined.`,
    );
  }
  return (
    valid && {
      category: valid,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(blamed(blames) && { blames }),
      ...(typeof read(unexplained, 'digest') === 'string' && { unexplained }),
      ...(answered === true && { answered }),
    }
  );
};

const CATEGORIES: ReadonlySet<unknown> = new Set(ERROR_CATEGORIES);
const known = (category: unknown): ErrorCategory | undefined =>
  CATEGORIES.has(category) ? (category as ErrorCategory) : undefined;

const sane = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : undefined;
