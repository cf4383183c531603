import { type FreshnessHint, type FreshnessLabel, labelled, type Permit, type Settlement } from '@breakerbox/core';
import { atOnce, safely } from '@breakerbox/core/internal';
import { enter } from './enter.ts';
import { type Judge, plainJudge } from './judging.ts';
import { readable } from './readable.ts';
import { shared } from './shared.ts';
import { ToolUnavailableError } from './unavailable.ts';

/** The input and the limits of a call. */
export interface Start {
  /** The tool's input. Errors may quote it. */
  readonly input?: unknown;
  /** The caller's signal. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds from the start of the call to the end of its result. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds of `timeoutMs` that are over already. */
  readonly spentMs?: number;
}

/** The end of a call. */
export type CallEnd<Output> =
  | { readonly result: Output; readonly error?: undefined }
  /** The error that it threw, or the reason that stopped it. */
  | { readonly result?: undefined; readonly error: unknown };

/** An outcome, or the value to judge as the call's result: the error that a result reports, or a thrown error that is the tool's answer. */
export type KnownEnd =
  | Extract<Settlement, { readonly outcome: unknown }>
  | { readonly outcome?: never; readonly result: unknown };

/** What the executor reads from the end of a call, and how it labels a result that may not be current. */
export interface Reading {
  /** The cost of the call in tokens (O4). */
  readonly tokens?: ((end: CallEnd<unknown>) => number | undefined) | undefined;
  /** How current its result is (F1). */
  readonly freshness?: ((result: unknown) => FreshnessHint | undefined) | undefined;
  /** The end of a call that only the framework's own form shows. Default: the end unchanged. */
  readonly known?: ((end: CallEnd<unknown>) => KnownEnd | undefined) | undefined;
  /** Adds a label to a result. Default: core's `labelled`. */
  readonly label?: (result: unknown, label: FreshnessLabel) => unknown;
}

/** One call of a tool under way. It ends once: by its result, its error, its timeout or the caller's abort. */
export interface Run {
  /** The tool's signal. It fires on timeout and on the caller's abort. It is made at its first use. */
  readonly signal: AbortSignal;
  /** Whether the run may be stopped from outside: it has a timeout, or a caller with a signal. */
  readonly bounded: boolean;
  /** The permit's context, for parts that run later, when another context may be active. */
  readonly context: Permit['context'];
  /** Runs a part of the tool in the permit's context. */
  enter<Value>(part: () => Value): Value;
  /**
   * The tool returned. Its result may still report an error, which its judge reads. Gives the caller's result: the same object, or
   * one with a label if it may not be current and the tool's results are labelled (F1).
   */
  returned<Value>(result: Value): Value;
  /** The tool returned a stream, which has been read to its end. It is neither kept nor labelled. */
  ended(stream: unknown): void;
  /** The tool threw. */
  threw(error: unknown): void;
  /** The caller does not need the rest. */
  abandoned(): void;
  /** Calls back with the reason if the run is stopped from outside; at once if it already was. */
  onStopped(listener: (reason: unknown) => void): void;
}

/**
 * Signals of guarded calls that have fired, and the reasons of calls that timed out: frameworks derive their own signals from ours, and
 * keep the reason. If a guarded call is stopped, a guarded call within it is cut off by that and is not late itself. One charge is
 * enough (B3).
 */
const guardedCalls = shared('guarded-calls', 1, () => ({
  signals: new WeakSet<AbortSignal>(),
  timeouts: new WeakSet<object>(),
}));

const ONCE = { once: true } as const;

/**
 * Starts the timer of a call, and listens to its caller's signal.
 *
 * @throws the reason if the caller aborted while the call was being decided, and any error of its signal. The permit is settled then.
 */
export const startRun = (
  permit: Permit,
  start: Start,
  reading: Reading = NOTHING,
  judge: Judge = plainJudge(permit.tool),
): Run => {
  const { input, signal, timeoutMs, spentMs = 0 } = start;
  if (timeoutMs === undefined && signal === undefined)
    return new PermittedRun(permit, undefined, reading, judge, input);
  const run = new PermittedRun(permit, new Bounds(timeoutMs, signal), reading, judge, input);
  run.bind(spentMs);
  return run;
};

const NOTHING: Reading = {};

/** The limits that may stop a call from outside. */
class Bounds {
  readonly timeoutMs: number | undefined;
  readonly outer: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #onAbort: (() => void) | undefined;

  constructor(timeoutMs: number | undefined, outer: AbortSignal | undefined) {
    this.timeoutMs = timeoutMs;
    this.outer = outer;
  }

  /** Waits for the timeout and the signal, and calls back with the reason. */
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
    // All calls of a run often share one signal, and a listener left on it is a leak. A signal that throws must not cost the result.
    safely('the signal of a call', () => outer.removeEventListener('abort', onAbort));
  }
}

const lateAfter = (timeoutMs: number): DOMException => {
  const reason = new DOMException(`No answer within ${timeoutMs} ms`, 'TimeoutError');
  guardedCalls.timeouts.add(reason);
  return reason;
};

/** A class, because one is made for every tool call, and most need no signal, timer or listener. */
class PermittedRun implements Run {
  readonly #permit: Permit;
  readonly #bounds: Bounds | undefined;
  readonly #reading: Reading;
  readonly #judge: Judge;
  readonly #input: unknown;
  #controller: AbortController | undefined;
  #listener: ((reason: unknown) => void) | undefined;

  constructor(permit: Permit, bounds: Bounds | undefined, reading: Reading, judge: Judge, input: unknown) {
    this.#permit = permit;
    this.#bounds = bounds;
    this.#reading = reading;
    this.#judge = judge;
    this.#input = input;
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
      this.#permit.settle({ outcome: 'ignored', category: 'cancelled' }); // So that a probe's place is not lost. May be settled already.
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
    const settlement = this.#settlementOf({ result });
    const read = this.#read(result);
    permit.settle(read ? { ...settlement, ...read } : settlement);
    const { freshness } = permit;
    if (freshness === undefined) return result;
    const { label = labelled } = reading;
    return (readable(() => label(result, freshness)) ?? result) as Value;
  }

  ended(stream: unknown): void {
    this.#bounds?.release();
    this.#permit.settle({ outcome: 'success', ...this.#read(stream) });
  }

  threw(error: unknown): void {
    this.#bounds?.release();
    this.#permit.settle({ ...this.#settlementOf({ error }), tokens: this.#cost({ error }) });
  }

  abandoned(): void {
    this.#bounds?.release();
    const error = new DOMException('The consumer stopped before the tool was done', 'AbortError');
    this.#permit.settle({ error, verdict: this.#judge.told(error) });
    this.#abort(undefined);
  }

  onStopped(listener: (reason: unknown) => void): void {
    this.#listener = listener;
    if (this.#controller?.signal.aborted) listener(this.#controller.signal.reason);
  }

  #stop(given: unknown): void {
    this.#bounds?.release();
    // First the signal, then the settlement: core uses the signal to tell a timeout from an abort.
    const signal = this.#abort(given);
    const { reason } = signal;
    const tokens = this.#cost({ error: reason });
    if (isWithin(this.#bounds?.outer)) this.#permit.settle({ outcome: 'ignored', category: 'cancelled', tokens });
    else
      this.#permit.settle({ error: reason, signal, tokens, verdict: this.#judge.thrown(reason, this.#input, signal) });
    this.#listener?.(reason);
  }

  /** Fires the tool's signal. Code that asks for it later gets one that has already fired. */
  #abort(reason: unknown): AbortSignal {
    this.#controller ??= new AbortController();
    guardedCalls.signals.add(this.#controller.signal);
    this.#controller.abort(reason);
    return this.#controller.signal;
  }

  #settlementOf(end: CallEnd<unknown>): Settlement {
    return settlementOf(end, this.#judge, this.#input, this.#reading.known);
  }

  #read(result: unknown): Pick<Settlement, 'tokens' | 'freshness'> | undefined {
    const { tokens, freshness } = this.#reading;
    if (tokens === undefined && freshness === undefined) return undefined; // As in nearly every call.
    return {
      tokens: this.#cost({ result }),
      freshness: freshness && answerOf(`freshness() of tool '${this.#permit.tool}'`, () => freshness(result)),
    };
  }

  #cost(end: CallEnd<unknown>): number | undefined {
    return costOf(this.#permit.tool, this.#reading.tokens, end);
  }
}

/** The settlement of a call: from the framework's own form, or else from its judge. */
export const settlementOf = (
  end: CallEnd<unknown>,
  judge: Judge,
  input: unknown,
  known?: Reading['known'],
): Settlement => {
  const told = known && readable(() => known(end));
  if (told !== undefined && 'outcome' in told) return told;
  if (!('error' in end)) return { result: end.result, verdict: judge.returned(end.result, input, told?.result) };
  if (told !== undefined) {
    return { result: told.result, verdict: judge.told(end.error) ?? judge.returned(told.result, input) };
  }
  return excused(end.error) ?? { error: end.error, verdict: judge.thrown(end.error, input) };
};

/** A caller's settlement, with the judge's reading. An explicit outcome stays as it is. Never throws. */
export const judged = (given: Settlement, judge: Judge, input: unknown): Settlement =>
  readable(() => {
    if (given instanceof Error) return settlementOf({ error: given }, judge, input); // A bare error, which core accepts too.
    if ('outcome' in given && given.outcome !== undefined) return given;
    if ('error' in given) {
      const excuse = excused(given.error);
      if (excuse) return { ...excuse, tokens: given.tokens };
      return { ...given, verdict: given.verdict ?? judge.thrown(given.error, input, given.signal) };
    }
    if (!('result' in given) || given.verdict !== undefined) return given;
    return { ...given, verdict: judge.returned(given.result, input) };
  }) ?? given;

/** The cost that `tokens` reads from the end of a call; undefined without `tokens`, or if it gives no number. */
export const costOf = (tool: string, tokens: Reading['tokens'], end: CallEnd<unknown>): number | undefined =>
  tokens && answerOf(`tokens() of tool '${tool}'`, () => tokens(end));

/** The synchronous answer of a user's callback; undefined if it throws or gives a promise, which may reject. */
const answerOf = <Answer>(what: string, ask: () => Answer): Answer | undefined =>
  safely(what, () => atOnce(what, ask()));

/** Whether the caller that stopped is a guarded call, or was stopped by the timeout of one. */
const isWithin = (caller: AbortSignal | undefined): boolean =>
  caller?.aborted === true && (guardedCalls.signals.has(caller) || guardedCalls.timeouts.has(caller.reason));

/** B3. A tool that failed because another was refused. The failures that caused the refusal are charged already. */
export const excused = (error: unknown): KnownEnd | undefined =>
  isUnavailable(error) ? { outcome: 'ignored', category: 'denied' } : undefined;

/** Tools may throw any value, even a proxy that throws on access. */
const isUnavailable = (error: unknown): boolean => {
  try {
    return error instanceof ToolUnavailableError;
  } catch {
    return false;
  }
};
