import { createBreakerbox } from '@breakerbox/core';
import { boxModels } from '@breakerbox/core/internal';
import { vi } from 'vitest';
import { type GuardFunctionsOptions, guardModels } from './guard-models.ts';

export type Call = (request: string, options: { signal: AbortSignal }) => unknown;

/** A guarded pair of functions: `one`, and a second that answers. */
export const guarded = (one: Call, options: Partial<GuardFunctionsOptions<string, unknown>> = {}) => {
  const box = createBreakerbox({ agent: 'models' });
  const two = vi.fn<Call>(async () => 'two');
  const models = [
    { name: 'a/one', call: one },
    { name: 'b/two', call: two },
  ];
  const { session } = boxModels(box);
  return {
    box,
    session,
    two,
    ask: guardModels(box, { models, ...options }),
    failures: () => session.peek('model:a/one')?.failures,
  };
};
