/**
 * A research agent in a loop of its own, with no framework: `guardAll` guards the functions, `session.step()` ends each turn.
 * Runs on a script; on a real model if OPENAI_API_KEY is set (OPENAI_BASE_URL for any service with the same API).
 */
import { createBreakerbox, formatStateTable } from '@breakerbox/core';
import { guardAll } from '@breakerbox/instrumentation';
import { type Message, openAiModel, scriptedModel } from '@breakerbox/scripted-models/plain';
import { startTelemetry } from '@breakerbox/telemetry';

startTelemetry({ serviceName: 'research-agent' }); // http://127.0.0.1:9464/metrics

const session = createBreakerbox({
  agent: 'research-agent',
  tools: {
    web_search: { alternatives: [{ tool: 'news_search', degradation: 'low', note: 'recent items only' }] },
    news_search: {},
  },
}).session();

const tools: Readonly<Record<string, (input: { query: string }, call: { callId: string }) => Promise<string>>> =
  guardAll(session, {
    web_search: async ({ query }: { query: string }, { signal }) => {
      const response = await fetch(`http://127.0.0.1:2/?q=${encodeURIComponent(query)}`, { signal }); // nobody listens there
      if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status });
      return response.text();
    },
    news_search: async ({ query }: { query: string }) => `News of ${query}: tool breakers are in fashion.`,
  });

const query = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] };
const model = process.env.OPENAI_API_KEY
  ? openAiModel(
      'gpt-5-mini',
      Object.keys(tools).map((name) => ({ name, parameters: query })),
    )
  : scriptedModel([
      ...['circuit breakers', 'breakers', 'fuses', 'switches'].map((query) => [
        { tool: 'web_search', input: { query } },
      ]),
      [{ tool: 'news_search', input: { query: 'breakers' } }],
      'The web search is out. The news say: tool breakers are in fashion.',
    ]).model;

const messages: Message[] = [{ role: 'user', content: 'Search the web for what is new in circuit breakers.' }];
let turn = await model(messages);
while (turn.calls.length > 0) {
  messages.push({ role: 'assistant', turn });
  for (const { id, tool, input } of turn.calls) {
    // A tool that is out rejects with a message that the model can act on: it is handed on like any other error.
    const call = tools[tool]?.(input as { query: string }, { callId: id }) ?? Promise.reject(new Error('No such tool'));
    const content = await call.catch((error: Error) => error.message);
    messages.push({ role: 'tool', callId: id, content });
    console.log(`${tool}: ${content}`);
  }
  session.step();
  turn = await model(messages);
}
console.log(`\n${turn.text}\n\n${formatStateTable(session.report())}`);
