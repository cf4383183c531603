import { createBreakerbox } from '@breakerbox/core';
import { guardTools } from '@breakerbox/instrumentation/ai-sdk';
import { tool } from '@langchain/core/tools';
import { z } from 'zod';

const session = createBreakerbox({ agent: 'research-agent' }).session();
const search = tool(async ({ query }) => `pages about ${query}`, {
  name: 'web_search',
  description: 'Searches the web',
  schema: z.object({ query: z.string() }),
});
guardTools({ web_search: search as never }, session);
guardTools({ web_search: search as never }, session);
session.end();
