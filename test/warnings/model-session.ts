import { createBreakerbox } from '@breakerbox/core';
import { guardModels } from '@breakerbox/instrumentation';

const box = createBreakerbox({ agent: 'research-agent', limits: { tokens: 100_000 } });
const ask = guardModels(box, { models: [{ name: 'openai/gpt-5', call: async (prompt: string) => prompt }] });
await ask('How are you?');
await ask('How are you?');
const session = box.session();
await guardModels(box, { models: [{ name: 'openai/gpt-5', call: async (prompt: string) => prompt }], session })('Hi');
session.end();
