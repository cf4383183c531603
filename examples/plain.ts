/**
 * A research agent in a loop of its own, with no framework: `guardAll` guards the functions, `session.step()` ends each turn.
 * Runs on a script; on a real model if OPENAI_API_KEY is set (OPENAI_BASE_URL for any service with the same API).
 */
import { startControl } from '@breakerbox/control';
import { createBreakerbox } from '@breakerbox/core';
import { formatReport, report } from '@breakerbox/core/report';
import { guardAll, unavailableNotice } from '@breakerbox/instrumentation';
import { type Message, openAiModel, scriptedModel } from '@breakerbox/scripted-models/plain';
import { startTelemetry } from '@breakerbox/telemetry';

startTelemetry({ serviceName: 'research-agent' }); // http://127.0.0.1:9464/metrics
await startControl(); // npm run breakerbox -- ctl list

const session = createBreakerbox({
  agent: 'research-agent',
  tools: {
    web_search: { alternatives: [{ tool: 'news_search', degradation: 'low', note: 'recent items only' }] },
    news_search: {},
  },
}).session({ span: true });

const tools = guardAll(session, {
  web_search: async ({ query }: { query: string }, { signal }) => {
    const response = await fetch(`http://127.0.0.1:2/?q=${encodeURIComponent(query)}`, { signal }); // nothing listens here
    if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status });
    return response.text();
  },
  news_search: async ({ query }: { query: string }) => `News of ${query}: tool breakers are in fashion.`,
});

const query = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] };
const described = Object.keys(tools).map((name) => ({ name, parameters: query }));
const model = process.env.OPENAI_API_KEY
  ? openAiModel('gpt-5-mini', described)
  : scriptedModel([
      ...['breakers', 'fuses', 'relays', 'switches'].map((query) => [{ tool: 'web_search', input: { query } }]),
      [{ tool: 'news_search', input: { query: 'breakers' } }],
      'The web search is out. The news say: tool breakers are in fashion.',
    ]).model;

const messages: Message[] = [{ role: 'user', content: 'Search the web for what is new in circuit breakers.' }];
let turn = await model(messages);
while (turn.calls.length > 0) {
  messages.push({ role: 'assistant', turn });
  for (const { id, tool, input } of turn.calls) {
    let content: string;
    try {
      const { query } = input as { query?: unknown };
      const [, run] = Object.entries(tools).find(([name]) => name === tool) ?? [];
      if (!run || typeof query !== 'string') throw new Error(`No tool '${tool}' takes ${JSON.stringify(input)}.`);
      content = await run({ query }, { callId: id });
    } catch (error) {
      content = [(error as Error).message, unavailableNotice(error)].filter(Boolean).join('\n'); // what the model can do instead
    }
    messages.push({ role: 'tool', callId: id, content });
    console.log(`${tool}: ${content}`);
  }
  session.step();
  turn = await model(messages);
}
console.log(`\n${turn.text}\n\n${formatReport(report(session))}`);
session.end();
