import type { Settlement } from '@breakerbox/core';
import { hasMethod, orUndefined } from '../untrusted.ts';

/** Milliseconds of a call without an answer until the server is asked whether it is alive, and that its answer may take. */
const ASK_AFTER_MS = 20_000;
const PING_MS = 10_000;

/** The server answers nothing any more, not even a ping (O10). */
export const HUNG: Settlement = { outcome: 'failure', category: 'timeout', blames: 'group' };

/** A call, as far as it shows whether its server hangs. */
export interface HangWatch {
  /** Whether the call has waited for 30 s, and a ping in between has no answer. */
  isHung(): boolean;
  /** The server has said something about the call. */
  heard(): void;
  /** The call has ended. */
  end(): void;
}

/**
 * Finds out whether a server hangs while a call waits for it. The reasons with which clients give up a call are no evidence: a person's
 * cancellation and a timeout look alike. Evidence is a ping without an answer. A client without `ping` is not asked.
 *
 * @param onReturn Called if a server that hung answers the ping within a minute.
 */
export const watchHang = (client: object, onReturn: () => void): HangWatch => {
  let state: 'fine' | 'asked' | 'hung' = 'fine';
  const ask = (): void => {
    const ping = (client as { ping(options: object): Promise<unknown> }).ping({ timeout: 6 * PING_MS });
    state = 'asked';
    const answered = (): void => {
      const wasHung = state === 'hung';
      state = 'fine';
      if (wasHung) onReturn();
    };
    timer = setTimeout(() => {
      if (state === 'asked') state = 'hung';
    }, PING_MS).unref();
    // An error of the server is an answer. The client's own timeout of the ping comes after ours.
    ping.then(answered, (error: unknown) => {
      if (state === 'asked' || !isTimeout(error)) answered();
    });
  };
  let timer: NodeJS.Timeout | undefined = hasMethod(client, 'ping')
    ? setTimeout(() => orUndefined(ask), ASK_AFTER_MS).unref()
    : undefined;
  const end = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  return {
    isHung: () => state === 'hung',
    heard: () => {
      end();
      state = 'fine';
    },
    end,
  };
};

/** The errors of the SDKs for a request without an answer. */
export const isTimeout = (error: unknown): boolean => {
  const code = orUndefined(() => (error as { readonly code?: unknown } | null)?.code);
  return code === -32_001 || code === 'REQUEST_TIMEOUT';
};
