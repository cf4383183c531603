import { createBreakerbox } from '@breakerbox/core';
import { scriptedModel } from '@breakerbox/scripted-models/langchain';

export { createAgent } from 'langchain';

export const session = createBreakerbox({ agent: 'snippets' }).session();
export const model = scriptedModel(['Nothing to do.']).model;
export const tools: [] = [];
