import { type FreshnessHint, type FreshnessLabel, labelled, type Permit, type Settlement } from '@breakerbox/core';
import { safely } from '@breakerbox/core/internal';
import { enter } from './enter.ts';
import { shared } from './shared.ts';
import { ToolUnavailableError } from './unavailable.ts';

/** What bounds a call. */
export interface Limits {
  /** The caller's. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds from the start of the call to the end of its result. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds of them that are over already. */
  readonly spentMs?: number;
}

/** How a call ended. */
export type CallEnd<Output> =
  | { readonly result: Output; readonly error?: undefined }
  /** What it threw, or what stopped it. */
  | { readonly result?: undefined; readonly error: unknown };

/** What the executor reads in the end of a call, and how it labels a result that may not be current. */
export interface Reading {
  /** What the call cost (O4). */
  readonly tokens?: ((end: CallEnd<unknown>) => number | undefined) | undefined;
  /** How current its result is (F1). */
  readonly freshness?: ((result: unknown) => FreshnessHint | undefined) | undefined;
  /** What core is to judge in place of a result that reports an error in the framework's own way. Default: the result itself. */
  readonly evidence?: ((result: unknown) => unknown) | undefined;
  /** Default: core's `labelled`. */
  readonly label?: (result: unknown, label: FreshnessLabel) => unknown;
}

/** One call of a tool on its way: ends once, by its result, its error, its time-out or the caller's abort. */
export interface Run {
  /** The tool's signal: fires on time-out and on the caller's abort. */
  readonly signal: AbortSignal;
  /** Runs a part of the tool in the permit's context. */
  enter<Value>(part: () => Value): Value;
  /**
   * The tool came back. What it returned may still report an error; core judges that. Gives what the caller is to get: the
   * very result, with a label if it may not be current and the tool's results are labelled (F1).
   */
  returned<Value>(result: Value): Value;
  /** The tool came back with a stream, which now has been read to its end. It is neither kept nor labelled. */
  ended(stream: unknown): void;
  /** The tool threw. */
  threw(error: unknown): void;
  /** Nobody wants the rest. */
  abandoned(): void;
  /** Calls back if the run is stopped from outside, with the reason; at once if it has been. */
  onStopped(listener: (reason: unknown) => void): void;
}

/**
 * Signals of guarded calls, and why such calls ran out of time: frameworks make signals of their own of ours, and keep the reason. A
 * call within a guarded call that is stopped was cut off by that, and is not late itself: one charge is enough (B3).
 */
const guardedCalls = shared('guarded-calls', () => ({
  signals: new WeakSet<AbortSignal>(),
  timeouts: new WeakSet<object>(),
}));

/**
 * Starts the clock of a call, and listens to its caller.
 *
 * @throws the reason of a caller who left while the call was being decided, and what its signal throws; the permit is
 * settled then.
 */
export const startRun = (
  permit: Permit,
  { signal: outer, timeoutMs, spentMs = 0 }: Limits,
  { tokens, freshness, evidence, label = labelled }: Reading = {},
): Run => {
  const controller = new AbortController();
  const { signal } = controller;
  guardedCalls.signals.add(signal);
  let listener: ((reason: unknown) => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const cost = (end: CallEnd<unknown>): number | undefined =>
    tokens && safely(`tokens() of tool '${permit.tool}'`, () => tokens(end));

  const release = (): void => {
    clearTimeout(timer);
    // A signal is often shared by all calls of a run: what stays on it is a leak.
    outer?.removeEventListener('abort', onOuterAbort);
  };

  const stop = (reason: unknown): void => {
    release();
    // First the signal, then the settlement: core tells a time-out from an abort by it.
    controller.abort(reason);
    const tokens = cost({ error: signal.reason });
    if (isWithin(outer)) permit.settle({ outcome: 'ignored', category: 'cancelled', tokens });
    else permit.settle({ error: signal.reason, signal, tokens });
    listener?.(signal.reason);
  };

  const onOuterAbort = (): void => stop(outer?.reason);

  const onLate = (): void => {
    const reason = new DOMException(`No answer within ${timeoutMs} ms`, 'TimeoutError');
    guardedCalls.timeouts.add(reason);
    stop(reason);
  };

  const currentness = (result: unknown): FreshnessHint | undefined =>
    freshness && safely(`freshness() of tool '${permit.tool}'`, () => freshness(result));

  const evidenceOf = (result: unknown): unknown =>
    (evidence && safely(`what tool '${permit.tool}' reports`, () => evidence(result))) ?? result;

  try {
    if (timeoutMs !== undefined) timer = setTimeout(onLate, timeoutMs - spentMs);
    outer?.addEventListener('abort', onOuterAbort, { once: true });
    // A listener of the box may have ended the run while it was being decided.
    if (outer?.aborted) {
      onOuterAbort();
      throw outer.reason;
    }
  } catch (error) {
    clearTimeout(timer);
    permit.settle({ outcome: 'ignored', category: 'cancelled' }); // A probe's place must not be lost. Else settled already.
    throw error;
  }

  return {
    signal,
    enter: (part) => enter(() => permit.context, part),
    returned: (result) => {
      release();
      permit.settle({ result: evidenceOf(result), tokens: cost({ result }), freshness: currentness(result) });
      return permit.freshness === undefined ? result : (label(result, permit.freshness) as typeof result);
    },
    ended: (result) => {
      release();
      permit.settle({ outcome: 'success', tokens: cost({ result }), freshness: currentness(result) });
    },
    threw: (error) => {
      release();
      permit.settle(excused({ error, tokens: cost({ error }) }));
    },
    abandoned: () => {
      release();
      permit.settle({ error: new DOMException('The consumer stopped before the tool was done', 'AbortError') });
      controller.abort();
    },
    onStopped: (callback) => {
      listener = callback;
      if (signal.aborted) callback(signal.reason);
    },
  };
};

/** Whether a caller that stopped is a guarded call, or was stopped by the time-out of one. */
const isWithin = (caller: AbortSignal | undefined): boolean =>
  caller?.aborted === true && (guardedCalls.signals.has(caller) || guardedCalls.timeouts.has(caller.reason));

/** B3. A tool that failed because another was refused: the failures behind that are charged already. */
export const excused = (settlement: Settlement): Settlement =>
  'error' in settlement && isUnavailable(settlement.error)
    ? { outcome: 'ignored', category: 'denied', tokens: settlement.tokens }
    : settlement;

/** What tools throw is anything, proxies that throw when they are looked at too. */
const isUnavailable = (error: unknown): boolean => {
  try {
    return error instanceof ToolUnavailableError;
  } catch {
    return false;
  }
};

/** Runs a part of the tool that may throw at once. */
export const attempt = <Value>(run: Run, part: () => Value): Value => {
  try {
    return run.enter(part);
  } catch (error) {
    run.threw(error);
    throw error;
  }
};

/**
 * Follows a result to its end. What arrives after a stop is dropped, rejections too.
 *
 * @param conclude makes of what arrived what the caller is to get. Default: it is the tool's answer.
 */
export const follow = <Output>(
  run: Run,
  result: PromiseLike<Output>,
  conclude: (arrived: Output) => Output = run.returned,
): Promise<Output> =>
  new Promise((resolve, reject) => {
    run.onStopped(reject);
    Promise.resolve(result)
      .then(conclude)
      .then(resolve, (error) => {
        run.threw(error);
        reject(error);
      });
  });
