import {
  type Classification,
  DEFAULT_JUDGEMENT,
  type ErrorCategory,
  labelled,
  type Permit,
  type Settlement,
} from '@breakerbox/core';
import { callDeadline, dropAlternative, reportThrown, type TriedEnd } from '@breakerbox/core/internal';
import { context } from '@opentelemetry/api';
import { adviseError, adviseResult, notedResult, notice } from './advice.ts';
import { isDeadline, isWithin, noteStopped, type Start, watchLimits } from './call-limits.ts';
import { type Judge, plainJudge } from './judging.ts';
import { calls, endCall, type RunningCall, runningCall, withinCall } from './running-calls.ts';
import { costOf, type Reading, readResult, settlementOf } from './settlement.ts';
import { hasMethod, orUndefined } from './untrusted.ts';

/**
 * One call of a tool under way: it runs in the permit's context, and its end settles the permit. It ends once: by its result, its error,
 * its timeout or the caller's abort.
 */
export class Run {
  /** The tool's signal. It fires on timeout and on the caller's abort. */
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #permit: Permit;
  readonly #start: Start;
  readonly #reading: Reading;
  readonly #judge: Judge;
  /** Undefined if no agent can run in the tool. */
  readonly #running: RunningCall | undefined;
  /** Clears the timer and the listener. Undefined if nothing can stop the call from outside. */
  readonly #unwatch: (() => void) | undefined;
  #listener: ((reason: unknown) => void) | undefined;
  /** The category of the error that the tool threw or reported; undefined for any other end. */
  #category: ErrorCategory | undefined;
  /** The end of a call whose caller reads advice, without the advice. */
  #end: { readonly value: unknown } | { readonly error: unknown } | undefined;

  /**
   * Starts the timer of the call, and listens to its caller's signal.
   *
   * @throws the reason if the caller aborted while the call was being decided, and any error of its signal. The permit is settled then.
   */
  constructor(permit: Permit, start: Start, reading: Reading = NOTHING, judge: Judge = plainJudge(permit.tool)) {
    this.signal = this.#controller.signal;
    this.#permit = permit;
    this.#start = start;
    this.#reading = reading;
    this.#judge = judge;
    this.#running = calls.running && runningCall(permit);
    const isCut = start.canStop !== false && callDeadline(permit) !== undefined;
    if (isCut || start.timeoutMs !== undefined || start.signal !== undefined) this.#unwatch = this.#watch(isCut);
  }

  /** The permit's context, for parts that run later, when another context may be active. */
  get context(): Permit['context'] {
    return this.#permit.context;
  }

  /**
   * Runs the whole tool in the permit's context, and settles the permit by its end. Results and errors that arrive after a stop are
   * dropped.
   *
   * @param tool Async, so that a lazy promise, such as a query that is sent when it is first awaited, is awaited in the context too.
   * @param followStream Follows a result that is an async iterable. Default: it is the tool's answer.
   */
  async execute<Output>(
    tool: () => Promise<Output>,
    followStream?: (run: Run, stream: Output) => Output,
  ): Promise<Output> {
    try {
      const end = this.#running === undefined ? runInContext(this.#permit, tool) : this.enter(tool);
      const result = await (this.#unwatch ? this.#unlessStopped(end) : end);
      return followStream && typeof result === 'object' && hasMethod(result, Symbol.asyncIterator)
        ? followStream(this, result)
        : this.returned(result);
    } catch (error) {
      throw this.threw(error);
    }
  }

  /** The category of the call's error. The error may be the run's own, if the tool was stopped. */
  get failed(): ErrorCategory | undefined {
    return this.#category;
  }

  /** R5: why a call in place of another did not answer; undefined if it did. A tool that only cannot answer this call can still be called. */
  get unanswered(): TriedEnd | undefined {
    const category = this.#category;
    if (category === undefined) return undefined;
    return DEFAULT_JUDGEMENT[category] === 'ignored' && this.#permit.message === '' ? 'unanswered' : 'failed';
  }

  /** The caller's signal. */
  get caller(): AbortSignal | undefined {
    return this.#start.signal;
  }

  /** R5: where to go instead of the tool, if its error left it unavailable. */
  get instead(): Permit['route'] {
    return this.#category === undefined ? undefined : this.#permit.route;
  }

  /** Runs a part of the tool in the permit's context, or in the one that it had. */
  enter<Value>(part: () => Value, within: Pick<Permit, 'context'> = this.#permit): Value {
    const call = this.#running;
    return call === undefined ? runInContext(within, part) : withinCall(call, () => runInContext(within, part));
  }

  /**
   * The tool returned. Its result may still report an error, which its judge reads. Gives the caller's result: the same object, or
   * one with a label if it may not be current and the tool's results are labelled (F1).
   */
  returned<Value>(result: Value): Value {
    this.#unwatch?.();
    const permit = this.#permit;
    const { input, isToolsSignal = true } = this.#start;
    const signal = isToolsSignal ? this.signal : undefined;
    const { known, tokens, freshness, label = labelled } = this.#reading;
    const settlement = known
      ? settlementOf({ result }, this.#judge, input, known, signal)
      : { result, verdict: this.#judge.returned(result, input, result, signal) };
    this.#settle(
      tokens || freshness ? { ...settlement, ...readResult(permit.tool, this.#reading, result) } : settlement,
    );
    if ('verdict' in settlement && settlement.verdict) this.#note(settlement.verdict);
    const message = this.#category === undefined ? '' : permit.message;
    if (message !== '') return this.#advisedResult(result, message);
    notice(result, ''); // Tools may return the same object again.
    const found = permit.freshness;
    const labelledOne = found === undefined ? result : ((orUndefined(() => label(result, found)) ?? result) as Value);
    return this.#noted(labelledOne);
  }

  /** The tool returned a stream, which has been read to its end. It is neither kept nor labelled. */
  ended(stream: unknown): void {
    this.#unwatch?.();
    this.#settle({ outcome: 'success', ...readResult(this.#permit.tool, this.#reading, stream) });
  }

  /** The tool threw, or the call was stopped before. Gives the error for the caller, with the advice where a model reads it (R5). */
  threw(error: unknown): unknown {
    if (this.signal.aborted) return this.#advised(this.signal.reason);
    this.#unwatch?.();
    if (isDeadline(error)) {
      this.#settle({ outcome: 'ignored', category: 'cancelled', tokens: this.#cost(error) });
      return error;
    }
    const { input, isToolsSignal = true } = this.#start;
    const settlement = settlementOf(
      { error },
      this.#judge,
      input,
      this.#reading.known,
      isToolsSignal ? this.signal : undefined,
    );
    this.#settle(this.#reading.tokens ? { ...settlement, tokens: this.#cost(error) } : settlement);
    if ('verdict' in settlement && settlement.verdict) this.#note(settlement.verdict);
    return this.#advised(error);
  }

  /** D2: the model reads the note of the call beside its result. */
  #noted<Value>(result: Value): Value {
    const { advise } = this.#reading;
    if (advise === undefined || advise.note === false) return result;
    const { note } = this.#permit;
    if (note === '') return result;
    return (orUndefined(() => notedResult(result, note, advise)) ?? result) as Value;
  }

  #note({ category }: Classification): void {
    if (category !== 'cancelled') this.#category = category;
  }

  /** R5: the alternative did not answer in place either. Gives the end again, with advice that says so. */
  withoutAlternative(how: TriedEnd): { readonly value: unknown } | { readonly error: unknown } | undefined {
    dropAlternative(this.#permit, how);
    const end = this.#end;
    if (end === undefined || 'error' in end) return end && { error: this.#advised(end.error) };
    return { value: this.#advisedResult(end.value, this.#permit.message) };
  }

  #advisedResult<Value>(value: Value, advice: string): Value {
    this.#end = { value };
    return adviseResult(value, advice, this.#reading.advise);
  }

  #advised(error: unknown): unknown {
    this.#end = { error };
    const advice = this.#category === undefined ? '' : this.#permit.message;
    const { advise } = this.#reading;
    if (advise !== undefined) return adviseError(error, advice, advise);
    notice(error, advice);
    return error;
  }

  /** The caller does not need the rest. */
  abandoned(): void {
    this.#unwatch?.();
    const error = new DOMException('The consumer stopped before the tool was done', 'AbortError');
    this.#settle({ error, verdict: this.#judge.byOption(error) });
    this.#abort(undefined);
  }

  /** Calls back with the reason if the run is stopped from outside; at once if it already was. */
  onStopped(listener: (reason: unknown) => void): void {
    this.#listener = listener;
    if (this.signal.aborted) listener(this.signal.reason);
  }

  #unlessStopped<Output>(end: Promise<Output>): Promise<Output> {
    return new Promise((resolve, reject) => {
      this.onStopped(reject);
      end.then(resolve, reject);
    });
  }

  /** @param isCut Whether the run's deadline ends the call. It is asked again when it comes, because the run may have been extended. */
  #watch(isCut: boolean): () => void {
    const { signal } = this.#start;
    let unwatch: (() => void) | undefined;
    try {
      unwatch = watchLimits(
        this.#start,
        () => (isCut ? callDeadline(this.#permit) : undefined),
        (reason, ranMs) => this.#stop(reason, ranMs),
      );
      // A listener of the box may have ended the run while it was being decided.
      if (!signal?.aborted) return unwatch;
      this.#stop(signal.reason, 0);
      throw signal.reason;
    } catch (error) {
      this.#settle({ outcome: 'ignored', category: 'cancelled' }); // So that a probe's place is not lost. May be settled already.
      unwatch?.();
      throw error;
    }
  }

  /** @param ranMs How long the call had run, if its caller stopped it. */
  #stop(given: unknown, ranMs?: number): void {
    this.#unwatch?.();
    // First the signal, then the settlement: core uses the signal to tell a timeout from an abort.
    this.#abort(given);
    const { signal } = this;
    const error = signal.reason;
    const tokens = this.#cost(error);
    if (isWithin(this.#start.signal)) this.#settle({ outcome: 'ignored', category: 'cancelled', tokens });
    else {
      const { input, isOwnLimit } = this.#start;
      const own = ranMs === undefined || (isOwnLimit && orUndefined(() => isOwnLimit(ranMs, error)));
      const verdict = this.#judge.thrown(error, input, signal, own ? undefined : ranMs);
      this.#settle({ error, signal, tokens, verdict });
      this.#note(verdict);
    }
    this.#listener?.(error);
  }

  #abort(reason: unknown): void {
    noteStopped(this.signal);
    this.#controller.abort(reason);
  }

  #settle(settlement: Settlement): void {
    // D1: the tool reports that its sub-agent may not begin. A verdict is about an error.
    const isDenied = this.#running?.isDenied && 'verdict' in settlement && settlement.verdict !== undefined;
    this.#permit.settle(isDenied ? { outcome: 'ignored', category: 'denied' } : settlement);
    if (this.#running !== undefined) endCall(this.#running);
  }

  #cost(error: unknown): number | undefined {
    return costOf(this.#permit.tool, this.#reading.tokens, { error });
  }
}

const NOTHING: Reading = {};

/**
 * Runs a part of a tool in its permit's context, or a run in its session's. If a context manager throws, the error is reported and at
 * most the context is lost: the part still runs exactly once, and its result or error is its own (E5).
 */
export const runInContext = <Value>({ context: wanted }: Pick<Permit, 'context'>, part: () => Value): Value => {
  let isActive = false;
  try {
    isActive = context.active() === wanted;
  } catch {} // The context manager throws. `enterContext` reports it.
  return isActive ? part() : enterContext(wanted, part);
};

const enterContext = <Value>(wanted: Permit['context'], part: () => Value): Value => {
  let end: { readonly value?: Value; readonly error?: unknown } | undefined;
  const once = (): void => {
    if (end !== undefined) return; // The context manager calls twice, or later.
    end = {};
    try {
      end = { value: part() };
    } catch (error) {
      end = { error };
    }
  };
  try {
    context.with(wanted, once);
  } catch (error) {
    reportThrown("OpenTelemetry's context manager", error);
  }
  once();
  if (end !== undefined && 'error' in end) throw end.error;
  return (end as { readonly value?: Value } | undefined)?.value as Value;
};
