/** An application that serves conversations by HTTP: each of its handlers is called once. */
import { createBreakerbox, type Session } from '@breakerbox/core';
import { currentSession } from '@breakerbox/instrumentation';
import { breakerPrepareStep, guardTools } from '@breakerbox/instrumentation/ai-sdk';
import { scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import { type ModelMessage, type ToolSet, tool } from 'ai';
import { z } from 'zod';

export { createBreakerbox } from '@breakerbox/core';
export { currentSession, withSession } from '@breakerbox/instrumentation';
export { breakerPrepareStep, guardTools } from '@breakerbox/instrumentation/ai-sdk';
export { generateText } from 'ai';

export const ownTools: ToolSet = {
  fetch_page: tool({
    description: 'Reads a web page',
    inputSchema: z.object({ url: z.string() }),
    execute: async ({ url }) => `The page ${url}.`,
  }),
};
export const tools = guardTools(ownTools, currentSession);
export const prepareStep = breakerPrepareStep(currentSession);
export const model = scriptedModel([[{ tool: 'fetch_page', input: { url: 'news' } }], 'Nothing is new.']).model;
export const prompt = 'What is new?';

const box = createBreakerbox({ agent: 'chat' });
export const conversationId = 'conversation-7';
export const sessionOf = (id: string): Session => box.session({ id });

interface ChatRequest {
  readonly conversation: string;
  readonly messages: ModelMessage[];
}

const request: ChatRequest = { conversation: conversationId, messages: [{ role: 'user', content: prompt }] };
let served: Promise<unknown> = new Promise((resolve) => setImmediate(resolve));

export const app = {
  post(_path: string, serve: (request: ChatRequest) => unknown): void {
    served = served.then(() => serve(request));
  },
};
