/**
 * A research agent whose tools come from two MCP servers, real processes; the first is killed during the run.
 * Runs on a script; on a real model if OPENAI_API_KEY is set (OPENAI_BASE_URL for any service with the same API).
 */
import { fileURLToPath } from 'node:url';
import { startControl } from '@breakerbox/control';
import { createBreakerbox } from '@breakerbox/core';
import { formatReport, report } from '@breakerbox/core/report';
import { guardMcpClient } from '@breakerbox/instrumentation/mcp';
import { type Call, openAiModel, runLoop, scriptedModel } from '@breakerbox/scripted-models/plain';
import { startTelemetry } from '@breakerbox/telemetry';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const telemetry = startTelemetry({ serviceName: 'research-agent' }); // http://127.0.0.1:9464/metrics
await startControl(); // npm run breakerbox -- ctl list

const alternatives = [{ tool: 'news_echo', degradation: 'low', note: 'recent items only' }] as const;
const box = createBreakerbox({ agent: 'research-agent', tools: { web_echo: { alternatives }, news_echo: {} } });
const session = box.session({ span: true });

const args = [fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js')), 'stdio'];
const connect = async (prefix: string) => {
  const transport = new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' });
  const client = new Client({ name: 'research-agent', version: '1.0.0' });
  await client.connect(transport);
  const guarded = guardMcpClient(client, session, { prefix, timeoutMs: 10_000 });
  const { tools } = await guarded.listTools(); // from here on they have circuits
  const described = tools.map(({ name, inputSchema }) => ({ name: `${prefix}${name}`, parameters: inputSchema }));
  return { prefix, guarded, described, pid: transport.pid };
};
const [web, news] = [await connect('web_'), await connect('news_')];

const callTool = async ({ tool, input }: Call): Promise<string> => {
  const { prefix, guarded } = tool.startsWith(news.prefix) ? news : web;
  const params = { name: tool.slice(prefix.length), arguments: input as Record<string, unknown> };
  // While the tool is out this gives a result as well, whose text says what is out, and where to go instead.
  const text = await guarded.callTool(params).then(
    ({ content }) => content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n'),
    (error: unknown) => `${error}`,
  );
  console.log(`${tool}: ${text}`);
  if (text === 'Echo: one' && web.pid !== null) process.kill(web.pid, 'SIGKILL');
  return text;
};

const say = (tool: string, message: string) => [{ tool, input: { message } }];
const model = process.env.OPENAI_API_KEY
  ? openAiModel('gpt-5-mini', [...web.described, ...news.described])
  : scriptedModel([
      ...['one', 'two', 'three', 'four', 'five'].map((message) => say('web_echo', message)),
      say('news_echo', 'five'),
      'The web server went out after one; the news server said five.',
    ]).model;

const prompt = 'Say one, two, three, four and five by web_echo, each in a turn of its own.';
console.log(`\n${await runLoop(model, prompt, callTool, () => session.step())}\n`);
console.log(formatReport(report(session)));
await Promise.all([web.guarded.close(), news.guarded.close()]);
session.end();
await telemetry.shutdown();
