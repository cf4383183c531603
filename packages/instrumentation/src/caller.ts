import { BreakerboxUsageError } from '@breakerbox/core';
import { show } from './options.ts';

/** What a caller may give with a call. */
export interface ToolCall {
  /** Ends the call: it rejects with the signal's reason at once, and counts as `cancelled`, which costs nothing. */
  readonly signal?: AbortSignal | undefined;
  /** The framework's id of the tool call; goes on the span. */
  readonly callId?: string | undefined;
}

const NOTHING: ToolCall = { signal: undefined, callId: undefined };

/**
 * Reads what came with a call, once, and before anybody is asked: what goes wrong here takes no probe with it.
 *
 * @throws BreakerboxUsageError for what can't be that.
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
 * A caller's signal.
 *
 * @throws BreakerboxUsageError for what is none: listening to it would fail when the call is decided already.
 */
export const readSignal = (where: string, signal: unknown): AbortSignal | undefined => {
  if (signal === undefined || signal === null) return undefined; // As fetch takes it.
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

/** Refuses a call whose caller has left already: nothing is decided for it. */
export const throwIfAborted = (signal: AbortSignal | undefined): void => {
  if (signal?.aborted) throw signal.reason;
};

/** Like {@link show}, within a sentence. */
export const aValue = (value: unknown): string => {
  const shown = show(value);
  return shown.startsWith('of type') ? `a value ${shown}` : shown;
};
