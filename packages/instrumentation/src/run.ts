import { type FreshnessHint, type FreshnessLabel, labelled, type Permit, type Settlement } from '@breakerbox/core';
import { atOnce, safely } from '@breakerbox/core/internal';
import { enter } from './enter.ts';
import { readable } from './readable.ts';
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
  /** The tool's signal: fires on time-out and on the caller's abort. Made for whoever asks first. */
  readonly signal: AbortSignal;
  /** Whether the run may be stopped from outside: it has a time-out, or a caller with a signal. */
  readonly bounded: boolean;
  /** The permit's context, as it is now: for parts that are run later, where another one may be active. */
  readonly context: Permit['context'];
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
 * Signals of guarded calls that have fired, and why such calls ran out of time: frameworks make signals of their own of ours,
 * and keep the reason. A call within a guarded call that is stopped was cut off by that, and is not late itself: one charge
 * is enough (B3).
 */
const guardedCalls = shared('guarded-calls', 1, () => ({
  signals: new WeakSet<AbortSignal>(),
  timeouts: new WeakSet<object>(),
}));

const ONCE = { once: true } as const;

/**
 * Starts the clock of a call, and listens to its caller.
 *
 * @throws the reason of a caller who left while the call was being decided, and what its signal throws; the permit is
 * settled then.
 */
export const startRun = (permit: Permit, limits: Limits, reading?: Reading): Run =>
  limits.timeoutMs === undefined && limits.signal === undefined
    ? new PermittedRun(permit, undefined, reading)
    : boundedRun(permit, limits, reading);

const boundedRun = (permit: Permit, { signal, timeoutMs, spentMs = 0 }: Limits, reading?: Reading): Run => {
  const run = new PermittedRun(permit, new Bounds(timeoutMs, signal), reading);
  run.bind(spentMs);
  return run;
};

/** What may stop a call from outside. */
class Bounds {
  readonly timeoutMs: number | undefined;
  readonly outer: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #onAbort: (() => void) | undefined;

  constructor(timeoutMs: number | undefined, outer: AbortSignal | undefined) {
    this.timeoutMs = timeoutMs;
    this.outer = outer;
  }

  /** Begins to wait for either, and calls back with the reason. */
  watch(spentMs: number, stop: (reason: unknown) => void): void {
    const { timeoutMs, outer } = this;
    if (timeoutMs !== undefined) this.#timer = setTimeout(() => stop(lateAfter(timeoutMs)), timeoutMs - spentMs);
    if (outer === undefined) return;
    const onAbort = () => stop(outer.reason);
    outer.addEventListener('abort', onAbort, ONCE);
    this.#onAbort = onAbort;
  }

  release(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    const { outer } = this;
    const onAbort = this.#onAbort;
    if (outer === undefined || onAbort === undefined) return;
    // A signal is often shared by all calls of a run: what stays on it is a leak. One that throws must not cost the result.
    safely('the signal of a call', () => outer.removeEventListener('abort', onAbort));
  }
}

const lateAfter = (timeoutMs: number): DOMException => {
  const reason = new DOMException(`No answer within ${timeoutMs} ms`, 'TimeoutError');
  guardedCalls.timeouts.add(reason);
  return reason;
};

/** A class, because one is made for every tool call, and most need no signal, no timer and no listener. */
class PermittedRun implements Run {
  readonly #permit: Permit;
  readonly #bounds: Bounds | undefined;
  readonly #reading: Reading | undefined;
  #controller: AbortController | undefined;
  #listener: ((reason: unknown) => void) | undefined;

  constructor(permit: Permit, bounds: Bounds | undefined, reading: Reading | undefined) {
    this.#permit = permit;
    this.#bounds = bounds;
    this.#reading = reading;
  }

  bind(spentMs: number): void {
    const outer = this.#bounds?.outer;
    try {
      this.#bounds?.watch(spentMs, (reason) => this.#stop(reason));
      // A listener of the box may have ended the run while it was being decided.
      if (!outer?.aborted) return;
      this.#stop(outer.reason);
      throw outer.reason;
    } catch (error) {
      this.#permit.settle({ outcome: 'ignored', category: 'cancelled' }); // A probe's place must not be lost. Else settled already.
      this.#bounds?.release();
      throw error;
    }
  }

  get bounded(): boolean {
    return this.#bounds !== undefined;
  }

  get context(): Permit['context'] {
    return this.#permit.context;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  enter<Value>(part: () => Value): Value {
    return enter(this.#permit, part);
  }

  returned<Value>(result: Value): Value {
    this.#bounds?.release();
    const permit = this.#permit;
    const reading = this.#reading;
    permit.settle(reading ? { result: this.#evidence(reading, result), ...this.#read(reading, result) } : { result });
    const { freshness } = permit;
    if (freshness === undefined) return result;
    const { label = labelled } = reading ?? {};
    return (readable(() => label(result, freshness)) ?? result) as Value;
  }

  ended(stream: unknown): void {
    this.#bounds?.release();
    this.#permit.settle({ outcome: 'success', ...(this.#reading && this.#read(this.#reading, stream)) });
  }

  threw(error: unknown): void {
    this.#bounds?.release();
    this.#permit.settle(excused({ error, tokens: this.#cost({ error }) }));
  }

  abandoned(): void {
    this.#bounds?.release();
    this.#permit.settle({ error: new DOMException('The consumer stopped before the tool was done', 'AbortError') });
    this.#abort(undefined);
  }

  onStopped(listener: (reason: unknown) => void): void {
    this.#listener = listener;
    if (this.#controller?.signal.aborted) listener(this.#controller.signal.reason);
  }

  #stop(given: unknown): void {
    this.#bounds?.release();
    // First the signal, then the settlement: core tells a time-out from an abort by it.
    const signal = this.#abort(given);
    const { reason } = signal;
    const tokens = this.#cost({ error: reason });
    if (isWithin(this.#bounds?.outer)) this.#permit.settle({ outcome: 'ignored', category: 'cancelled', tokens });
    else this.#permit.settle({ error: reason, signal, tokens });
    this.#listener?.(reason);
  }

  /** Fires the tool's signal; whoever asks for it only now gets it fired. */
  #abort(reason: unknown): AbortSignal {
    this.#controller ??= new AbortController();
    guardedCalls.signals.add(this.#controller.signal);
    this.#controller.abort(reason);
    return this.#controller.signal;
  }

  #evidence({ evidence }: Reading, result: unknown): unknown {
    return (evidence && readable(() => evidence(result))) ?? result;
  }

  #read({ freshness }: Reading, result: unknown): Pick<Settlement, 'tokens' | 'freshness'> {
    return {
      tokens: this.#cost({ result }),
      freshness: freshness && answerOf(`freshness() of tool '${this.#permit.tool}'`, () => freshness(result)),
    };
  }

  #cost(end: CallEnd<unknown>): number | undefined {
    return costOf(this.#permit.tool, this.#reading?.tokens, end);
  }
}

/** What `tokens` reads in the end of a call; undefined where there is none, and where it can't say. */
export const costOf = (tool: string, tokens: Reading['tokens'], end: CallEnd<unknown>): number | undefined =>
  tokens && answerOf(`tokens() of tool '${tool}'`, () => tokens(end));

/** What a callback of the user's answers at once; undefined where it throws, or gives a promise, which it may reject. */
const answerOf = <Answer>(what: string, ask: () => Answer): Answer | undefined =>
  safely(what, () => atOnce(what, ask()));

/** Whether a caller that stopped is a guarded call, or was stopped by the time-out of one. */
const isWithin = (caller: AbortSignal | undefined): boolean =>
  caller?.aborted === true && (guardedCalls.signals.has(caller) || guardedCalls.timeouts.has(caller.reason));

/** B3. A tool that failed because another was refused: the failures behind that are charged already. */
export const excused = (settlement: Settlement): Settlement => {
  if (isUnavailable(settlement)) return { outcome: 'ignored', category: 'denied' }; // Bare, as core takes an error.
  return typeof settlement === 'object' &&
    settlement !== null &&
    'error' in settlement &&
    isUnavailable(settlement.error)
    ? { outcome: 'ignored', category: 'denied', tokens: settlement.tokens }
    : settlement;
};

/** What tools throw is anything, proxies that throw when they are looked at too. */
const isUnavailable = (error: unknown): boolean => {
  try {
    return error instanceof ToolUnavailableError;
  } catch {
    return false;
  }
};
