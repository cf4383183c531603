import { createBreakerbox } from '@breakerbox/core';

export { breakerHooks, breakerProcessor } from '@breakerbox/instrumentation/mastra';

export const session = createBreakerbox({ agent: 'snippets' }).session();
/** In place of `MCPClient` of `@mastra/mcp`. */
export const mcp = {
  listTools: async (): Promise<Record<string, { readonly mcpMetadata?: { readonly serverName: string } }>> => ({}),
};
