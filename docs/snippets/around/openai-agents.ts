import { createBreakerbox } from '@breakerbox/core';
import { scriptedModel } from '@breakerbox/scripted-models/openai-agents';
import { type MCPServer, setTracingDisabled } from '@openai/agents';
import { z } from 'zod';

export { Agent, run, tool } from '@openai/agents';

setTracingDisabled(true);
export const server: MCPServer = {
  name: 'files',
  cacheToolsList: false,
  connect: async () => {},
  close: async () => {},
  listTools: async () => [],
  callTool: async () => [],
  invalidateToolsCache: async () => {},
};
export const session = createBreakerbox({ agent: 'snippets' }).session();
export const name = 'reader';
export const model = scriptedModel(['Nothing to do.']).model;
export const prompt = 'Read.';
export const fetchPage = {
  name: 'fetch_page',
  description: 'Reads a web page',
  parameters: z.object({ url: z.string() }),
  execute: async ({ url }: { url: string }) => url,
};
