import { type callDeadline, safely } from '@breakerbox/core/internal';
import { processWide } from './process-wide.ts';

/** The input and the limits of a call. */
export interface Start {
  /** The tool's input. Errors may quote it. */
  readonly input?: unknown;
  /** The caller's signal. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds from the start of the call to the end of its result. */
  readonly timeoutMs?: number | undefined;
  /** `false`: the tool has another signal, so an abort may be its caller's (O10). Default: true. */
  readonly isToolsSignal?: boolean;
  /** Whether a time-out of the caller's signal is the tool's own limit, after that many milliseconds (O10). Default: from 30 s. */
  readonly isOwnLimit?: ((ranMs: number, reason: unknown) => boolean) | undefined;
  /** Milliseconds of `timeoutMs` that are over already. */
  readonly spentMs?: number;
  /** `false`: the executor cannot end the tool, so that the end of the run's time does not end the call (D4). Default: true. */
  readonly canStop?: boolean;
}

/**
 * Signals of guarded calls that have fired, and the reasons of calls that timed out: frameworks derive their own signals from ours, and
 * keep the reason. If a guarded call is stopped, a guarded call within it is cut off by that and is not late itself. One charge is
 * enough (B3).
 */
const stopped = processWide('guarded-calls', () => ({
  signals: new WeakSet<AbortSignal>(),
  timeouts: new WeakSet<object>(),
}));

/** D4: the reasons of calls that ended with the time of their run. */
const deadlines = processWide('deadlines', () => new WeakSet<object>());

/** The longest delay of a timer. */
const LONGEST_MS = 2 ** 31 - 1;

/** When the time of its run for calls ends (D4). */
export type Deadline = NonNullable<ReturnType<typeof callDeadline>>;

/**
 * Waits for the timeout and the caller's signal, and calls back with the reason. Gives a function that ends the wait.
 *
 * @param deadlineNow When the time of the run ends. It is asked again at that time, because the limit may have been extended (D2).
 */
export const watchLimits = (
  { timeoutMs, signal, spentMs = 0 }: Start,
  deadlineNow: () => Deadline | undefined,
  stop: (reason: unknown, ranMs?: number) => void,
): (() => void) => {
  const startMs = performance.now();
  const ranMs = (): number => performance.now() - startMs;
  const onAbort = (): void => stop(signal?.reason, ranMs());
  signal?.addEventListener('abort', onAbort, { once: true });
  const ownMs = timeoutMs === undefined ? LONGEST_MS : timeoutMs - spentMs;
  let timer: NodeJS.Timeout | undefined;
  const wait = (deadline: Deadline | undefined, sinceMs: number): void => {
    if (deadline !== undefined && deadline.leftMs < ownMs) timer = setTimeout(onDeadline, deadline.leftMs - sinceMs);
    else if (timeoutMs !== undefined) timer = setTimeout(() => stop(timeoutAfter(timeoutMs)), ownMs - sinceMs);
  };
  const onDeadline = (): void => {
    const deadline = deadlineNow();
    const ran = ranMs();
    const isOver = deadline !== undefined && deadline.leftMs - ran < 1; // A timer may end a moment early.
    if (isOver) stop(deadlineReason(), isOfTool(ran, deadline) ? undefined : ran);
    else wait(deadline, ran);
  };
  wait(deadlineNow(), 0);
  return () => {
    clearTimeout(timer);
    // All calls of a run often share one signal, and a listener left on it is a leak. A signal that throws must not cost the result.
    if (signal !== undefined) safely('the signal of a call', () => signal.removeEventListener('abort', onAbort));
  };
};

/** O10: the run's time ended because of a tool that had most of it. */
const isOfTool = (ranMs: number, { ofMs }: Deadline): boolean => ranMs >= Math.max(5_000, ofMs / 2);

const deadlineReason = (): DOMException => {
  const reason = new DOMException(
    'The deadline of the run: it has no more time for tool calls (limits.durationMs)',
    'TimeoutError',
  );
  stopped.timeouts.add(reason);
  deadlines.add(reason);
  return reason;
};

const timeoutAfter = (timeoutMs: number): DOMException => {
  const reason = new DOMException(`No answer within ${timeoutMs} ms`, 'TimeoutError');
  stopped.timeouts.add(reason);
  return reason;
};

/** D4: whether a guarded call within the tool ended with the time of the run, a moment before the tool itself. */
export const isDeadline = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && deadlines.has(error);

/** Whether the caller that stopped is a guarded call, or was stopped by the timeout of one. */
export const isWithin = (caller: AbortSignal | undefined): boolean =>
  caller?.aborted === true && (stopped.signals.has(caller) || stopped.timeouts.has(caller.reason));

/** A guarded call was stopped. */
export const noteStopped = (signal: AbortSignal): void => void stopped.signals.add(signal);
