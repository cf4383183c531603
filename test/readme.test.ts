import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { metrics, trace } from '@opentelemetry/api';
import { afterAll, beforeAll, expect, test } from 'vitest';

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

/** What the snippet expects from the application: a model, tools, a prompt and the conversation's id. */
const AROUND = `
import { MockLanguageModelV4 } from 'ai/test';
import { tool } from 'ai';
import { z } from 'zod';
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const finish = (unified) => ({ finishReason: { unified, raw: undefined }, usage, warnings: [] });
let turn = 0;
export const prompts = [];
const model = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => {
    prompts.push(JSON.stringify(prompt));
    turn += 1;
    return turn <= 5
      ? { content: [{ type: 'tool-call', toolCallId: 'call-' + turn, toolName: 'web_search', input: '{"query":"x"}' }], ...finish('tool-calls') }
      : { content: [{ type: 'text', text: 'done' }], ...finish('stop') };
  },
});
const tools = {
  web_search: tool({
    inputSchema: z.object({ query: z.string() }),
    execute: () => fetch('http://127.0.0.1:2/'),
  }),
};
const prompt = 'hello';
const conversationId = 'readme';
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(import.meta.dirname, '.readme-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  metrics.disable();
  trace.disable();
});

test('the ten lines of the README instrument an agent: a dead tool is skipped, and the model reads why', async () => {
  const [snippet = ''] = README.split('```ts\n').filter((block) => block.includes('guardTools(tools, session)'));
  const file = join(folder, 'snippet.ts');
  // Only the port is changed, because an agent on this machine may use 9464.
  const ownPort = (snippet.split('```')[0] ?? '').replace(
    "serviceName: 'research-agent'",
    "serviceName: 'research-agent', prometheus: { port: 0 }",
  );
  expect(ownPort).toContain('port: 0');
  const imports = ownPort.slice(0, ownPort.indexOf('\n\n'));
  await writeFile(file, `${imports}\n${AROUND}\n${ownPort.slice(imports.length)}`);
  const { prompts } = (await import(file)) as { prompts: string[] };
  expect(prompts).toHaveLength(6);
  expect(prompts.at(-1)).toContain("Tool 'web_search' is unavailable: the last calls failed (network)");
});
