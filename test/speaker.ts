import { setTimeout as wait } from 'node:timers/promises';
import { type Breakerbox, createBreakerbox } from '@breakerbox/core';
import { guardModels } from '@breakerbox/instrumentation';

/** An agent that asks two models, and uses no tool. */
export interface Speaker {
  readonly box: Breakerbox;
  /** From now on, this many models of the list refuse its key. */
  refuse(models: number): void;
  stop(): Promise<void>;
}

const TURN_MS = 50;
/** Much shorter than in production, so that it is soon well again. */
const SOON = { cooldownMs: 500, maxCooldownMs: 500 };

const badKey = () => Object.assign(new Error('Your API key is not valid.'), { status: 401 });

/** Starts it. */
export const startSpeaker = (agent: string): Speaker => {
  const names = ['anthropic/claude', 'openai/gpt'];
  const box = createBreakerbox({
    agent,
    models: Object.fromEntries(names.map((name) => [name, SOON])),
    groups: { 'model:anthropic': SOON, 'model:openai': SOON },
  });
  const stopped = new AbortController();
  let refusing = 0;
  const models = names.map((name, index) => ({
    name,
    call: async (prompt: string): Promise<string> => {
      if (index < refusing) throw badKey();
      return prompt;
    },
  }));
  const ask = guardModels(box, { models });
  const work = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await ask('Hi').catch(() => undefined);
      await wait(TURN_MS);
    }
  };
  const working = work();
  return {
    box,
    refuse: (count) => {
      refusing = count;
    },
    stop: async () => {
      stopped.abort();
      await working;
    },
  };
};
