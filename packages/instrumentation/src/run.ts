import type { Permit } from '@breakerbox/core';
import { enter } from './enter.ts';
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

/** One call of a tool on its way: ends once, by its result, its error, its time-out or the caller's abort. */
export interface Run {
  /** The tool's signal: fires on time-out and on the caller's abort. */
  readonly signal: AbortSignal;
  /** Runs a part of the tool in the permit's context. */
  enter<Value>(part: () => Value): Value;
  /** The tool came back. What it returned may still report an error; core judges that. */
  returned(result: unknown): void;
  /** The tool threw. */
  threw(error: unknown): void;
  /** Nobody wants the rest. */
  abandoned(): void;
  /** Calls back if the run is stopped from outside, with the reason; at once if it has been. */
  onStopped(listener: (reason: unknown) => void): void;
}

/**
 * Starts the clock of a call, and listens to its caller.
 *
 * @throws the reason of a caller who left while the call was being decided; the permit is settled then.
 */
export const startRun = (permit: Permit, { signal: outer, timeoutMs, spentMs = 0 }: Limits): Run => {
  const controller = new AbortController();
  const { signal } = controller;
  let listener: ((reason: unknown) => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const release = (): void => {
    clearTimeout(timer);
    // A signal is often shared by all calls of a run: what stays on it is a leak.
    outer?.removeEventListener('abort', onOuterAbort);
  };

  const stop = (reason: unknown): void => {
    release();
    // First the signal, then the settlement: core tells a time-out from an abort by it.
    controller.abort(reason);
    permit.settle({ error: signal.reason, signal });
    listener?.(signal.reason);
  };

  const onOuterAbort = (): void => stop(outer?.reason);

  if (timeoutMs !== undefined) {
    const late = (): void => stop(new DOMException(`No answer within ${timeoutMs} ms`, 'TimeoutError'));
    timer = setTimeout(late, timeoutMs - spentMs);
  }
  outer?.addEventListener('abort', onOuterAbort, { once: true });
  // A listener of the box may have ended the run while it was being decided.
  if (outer?.aborted) {
    onOuterAbort();
    throw outer.reason;
  }

  return {
    signal,
    enter: (part) => enter(() => permit.context, part),
    returned: (result) => {
      release();
      permit.settle({ result });
    },
    threw: (error) => {
      release();
      // A tool that failed because another was refused: the failures behind that are charged already (B3).
      if (isUnavailable(error)) permit.settle({ outcome: 'ignored', category: 'denied' });
      else permit.settle({ error });
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

/** What tools throw is anything, proxies that throw when they are looked at too. */
const isUnavailable = (error: unknown): boolean => {
  try {
    return error instanceof ToolUnavailableError;
  } catch {
    return false;
  }
};

/** Refuses a call whose caller has left already: nothing is decided for it. */
export const throwIfAborted = (signal: AbortSignal | undefined): void => {
  if (signal?.aborted) throw signal.reason;
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

/** Follows a result to its end. What arrives after a stop is dropped, rejections too. */
export const follow = <Output>(run: Run, result: PromiseLike<Output>): Promise<Output> =>
  new Promise((resolve, reject) => {
    run.onStopped(reject);
    Promise.resolve(result).then(
      (value) => {
        run.returned(value);
        resolve(value);
      },
      (error) => {
        run.threw(error);
        reject(error);
      },
    );
  });
