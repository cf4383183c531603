import { BreakerboxUsageError } from '@breakerbox/core';
import { show } from './options.ts';

/** Options that a caller may give with a call. */
export interface ToolCall {
  /** Ends the call: it rejects with the signal's reason at once, and counts as `cancelled`, which costs nothing. */
  readonly signal?: AbortSignal | undefined;
  /** The framework's id of the tool call. It is recorded on the span. */
  readonly callId?: string | undefined;
}

const NOTHING: ToolCall = { signal: undefined, callId: undefined };

/**
 * Reads the options of a call once, before the session is asked, so that an error here does not use up a probe.
 *
 * @throws BreakerboxUsageError for invalid options.
 */
export const readCall = (where: string, call?: unknown): ToolCall =>
  call === undefined ? NOTHING : readGiven(where, call);

const readGiven = (where: string, call: unknown): ToolCall => {
  if (typeof call !== 'object' || call === null) {
    throw new BreakerboxUsageError(
      `${where}: a call got ${aValue(call)} as its second argument, where its signal and its id stand, so nobody asked for ` +
        `the tool. Give { signal, callId } or nothing; in a map write (input) => tool(input), for map gives more than the input.`,
    );
  }
  const { signal, callId } = call as ToolCall;
  return { signal: readSignal(where, signal), callId };
};

/**
 * The signal of a caller.
 *
 * @throws BreakerboxUsageError if it is not a signal. Otherwise listening to it would fail after the call is decided.
 */
export const readSignal = (where: string, signal: unknown): AbortSignal | undefined => {
  if (signal === undefined || signal === null) return undefined; // `fetch` accepts null too.
  const { aborted, addEventListener, removeEventListener } = signal as Partial<AbortSignal>;
  if (
    typeof aborted === 'boolean' &&
    typeof addEventListener === 'function' &&
    typeof removeEventListener === 'function'
  ) {
    return signal as AbortSignal;
  }
  throw new BreakerboxUsageError(
    `${where}: a call got ${aValue(signal)} as its signal, which nobody can listen to, so the tool was not called. Give the ` +
      `signal of an AbortController or AbortSignal.timeout(), or leave it out.`,
  );
};

/** Refuses a call whose caller has already aborted. Nothing is decided for it. */
export const throwIfAborted = (signal: AbortSignal | undefined): void => {
  if (signal?.aborted) throw signal.reason;
};

/** The result of {@link show}, for use within a sentence. */
export const aValue = (value: unknown): string => {
  const shown = show(value);
  return shown.startsWith('of type') ? `a value ${shown}` : shown;
};
