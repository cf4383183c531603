/**
 * An application that serves a conversation by HTTP, as a reader would have it: of many questions, with a tool that fails at every second
 * one. Its circuit never opens, and no question is answered worse for those before it.
 */
import { createBreakerbox, type Session } from '@breakerbox/core';
import { ToolUnavailableError } from '@breakerbox/instrumentation';
import { breakerPrepareStep, guardTools } from '@breakerbox/instrumentation/ai-sdk';
import { currentSession } from '@breakerbox/instrumentation/session';
import { scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import { isStepCount, type ModelMessage, type ToolSet, tool } from 'ai';
import { z } from 'zod';

export { createBreakerbox } from '@breakerbox/core';
export { ToolUnavailableError } from '@breakerbox/instrumentation';
export { breakerPrepareStep, guardTools } from '@breakerbox/instrumentation/ai-sdk';
export { currentSession, withSession } from '@breakerbox/instrumentation/session';
export { consumeStream, generateText, isStepCount, streamText } from 'ai';

/** With every second one failed, thrice the default budget of a session. */
const QUESTIONS = 30;

let pages = 0;
export const ownTools: ToolSet = {
  fetch_page: tool({
    description: 'Reads a web page',
    inputSchema: z.object({ url: z.string() }),
    execute: async ({ url }) => {
      pages += 1;
      if (pages % 2 === 0) throw Object.assign(new Error('HTTP 503'), { status: 503 });
      return `The page ${url}.`;
    },
  }),
};
export const tools = guardTools(ownTools, currentSession);
export const stopWhen = isStepCount(10);
export const prepareStep = breakerPrepareStep(currentSession);
const script = Array.from({ length: 3 * QUESTIONS }, (_, index) => [
  [{ tool: 'fetch_page', input: { url: `news/${index}` } }],
  'Nothing is new.',
]).flat();
export const model = scriptedModel(script).model;
export const prompt = 'What is new?';

const box = createBreakerbox({ agent: 'chat' });
export const conversationId = 'conversation-7';
export const sessionOf = (id: string): Session => box.session({ id });

interface ChatRequest {
  /** Fires when the client closes the request. */
  readonly signal: AbortSignal;
  readonly conversation: string;
  readonly messages: ModelMessage[];
}

const request: ChatRequest = {
  conversation: conversationId,
  messages: [{ role: 'user', content: prompt }],
  signal: new AbortController().signal,
};
let served: Promise<unknown> = new Promise((resolve) => setImmediate(resolve));

/** What came of a question, as far as it is of use here: the parts of each step. */
interface Answer {
  readonly steps?: readonly { readonly content: readonly { readonly type: string; readonly error?: unknown }[] }[];
}

const refusalIn = ({ steps = [] }: Answer): unknown =>
  steps
    .flatMap(({ content }) => content)
    .find(({ type, error }) => type === 'tool-error' && error instanceof ToolUnavailableError)?.error;

export const app = {
  post(path: string, serve: (request: ChatRequest) => unknown): void {
    const times = path === '/chat' ? QUESTIONS : 1;
    for (let time = 0; time < times; time += 1) {
      served = served.then(async () => {
        const refusal = refusalIn(((await serve(request)) ?? {}) as Answer);
        if (refusal !== undefined) throw refusal;
      });
    }
  },
};
