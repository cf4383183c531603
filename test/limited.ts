import { setTimeout as wait } from 'node:timers/promises';
import { type Breakerbox, createBreakerbox } from '@breakerbox/core';

/** An agent whose one run has a limit of calls, or spends money. No call fails. */
export interface Limited {
  readonly box: Breakerbox;
  /** The run goes on until its limit pauses it, and waits. One that spends money goes on. Before this message it is idle. */
  spend(): void;
  /** Extends the limit, so that it does not reach it again. */
  resume(): void;
  stop(): Promise<void>;
}

const CALLS = 50;
const CALL_MS = 10;

/** Starts it. It is idle at first. `cost`: what a call costs in USD, instead of a limit of calls. */
export const startLimited = (agent: string, cost?: number): Limited => {
  const limits = cost === undefined ? { calls: CALLS } : { cost: { amount: 1e6, currency: 'USD' } };
  const box = createBreakerbox({ agent, tools: { list_files: {} }, limits });
  const session = box.session({ id: 'run-1' });
  const stopped = new AbortController();
  const work = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      session.acquire('list_files').settle({ outcome: 'success', cost });
      await wait(CALL_MS);
    }
  };
  let working: Promise<void> | undefined;
  return {
    box,
    spend: () => {
      working ??= work();
    },
    resume: () => void session.extend('calls', 1_000_000),
    stop: async () => {
      stopped.abort();
      await working;
    },
  };
};
