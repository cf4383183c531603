/**
 * A route handler of Next.js, `app/api/chat/route.ts`, that streams while its web search is out. It is a plain web handler, so it
 * runs here without Next. With AI_GATEWAY_API_KEY in the environment a real model answers.
 */
import { createBreakerbox } from '@breakerbox/core';
import { ToolUnavailableError } from '@breakerbox/instrumentation';
import { breakerPrepareStep, guardTools } from '@breakerbox/instrumentation/ai-sdk';
import { scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import { startTelemetry } from '@breakerbox/telemetry';
import { context } from '@opentelemetry/api';
import { consumeStream, convertToModelMessages, isStepCount, streamText, tool, type UIMessage } from 'ai';
import { z } from 'zod';

const search = [{ tool: 'web_search', input: { query: 'circuit breakers' } }];
const script = [search, search, 'This is from what I know.'];
const model = () => (process.env.AI_GATEWAY_API_KEY ? 'openai/gpt-5-mini' : scriptedModel(script).model);

const tools = {
  web_search: tool({
    description: 'Searches the web',
    inputSchema: z.object({ query: z.string() }),
    execute: async ({ query }, { abortSignal: signal = null }) => {
      const response = await fetch(`http://127.0.0.1:2/?q=${encodeURIComponent(query)}`, { signal });
      if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status });
      return response.text();
    },
  }),
};

const box = createBreakerbox({
  agent: 'chat',
  scope: 'process', // what one request found out, the next one knows
  tools: { web_search: { failureThreshold: 1 } },
});

export async function POST(request: Request): Promise<Response> {
  const { messages } = (await request.json()) as { messages: UIMessage[] };
  const prompt = await convertToModelMessages(messages);
  const session = box.session({ span: true }); // one for each request, and one trace
  const end = () => session.end(); // not before: the stream is read after POST has returned
  const answer = context.with(session.context, () =>
    streamText({
      model: model(),
      tools: guardTools(tools, session, { timeoutMs: 10_000 }),
      prepareStep: breakerPrepareStep(session),
      stopWhen: isStepCount(10),
      messages: prompt,
      abortSignal: request.signal,
      onFinish: end,
      onAbort: end, // the client has closed the request
      onError: ({ error }) => {
        console.error(error); // the model has failed
        end();
      },
    }),
  );
  return answer.toUIMessageStreamResponse({
    consumeSseStream: consumeStream, // to its end: when a reader just leaves, the SDK calls none of the three
    // The browser reads no error of a tool or model, only our rejections.
    onError: (error) => (error instanceof ToolUnavailableError ? error.message : 'An error occurred.'),
  });
}

if (import.meta.main) {
  const telemetry = startTelemetry({ serviceName: 'chat' }); // Next has instrumentation.ts for it
  const question = { role: 'user', parts: [{ type: 'text', text: 'What is new about circuit breakers?' }] };
  const init = { method: 'POST', body: JSON.stringify({ messages: [question] }) };
  console.log(await (await POST(new Request('http://127.0.0.1/api/chat', init))).text());
  await telemetry.shutdown();
}
