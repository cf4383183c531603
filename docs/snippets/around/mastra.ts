import { createBreakerbox } from '@breakerbox/core';
import { scriptedModel } from '@breakerbox/scripted-models/mastra';

export { Agent } from '@mastra/core/agent';

process.env.MASTRA_TELEMETRY_DISABLED = '1';
export const session = createBreakerbox({ agent: 'snippets' }).session();
export const id = 'reader';
export const name = 'Reader';
export const instructions = 'Read.';
export const model = scriptedModel(['Nothing to do.']).model;
export const tools = {};
