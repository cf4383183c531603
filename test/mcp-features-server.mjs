/** An MCP server (see mcp-serve.mjs) that asks the client for something and tells it of changes, in the protocol of sessions. */
import { setTimeout as after } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SubscribeRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { serve } from './mcp-serve.mjs';

const text = (value) => ({ content: [{ type: 'text', text: value }] });
await serve(() => {
  const mcp = new McpServer(
    { name: 'features', version: '0.0.0' },
    { capabilities: { logging: {}, resources: { subscribe: true } } },
  );
  const { server } = mcp;

  mcp.registerTool('progress', {}, async ({ _meta, sendNotification }) => {
    for (const progress of [1, 2, 3]) {
      const params = { progressToken: _meta.progressToken, progress, total: 3 };
      await sendNotification({ method: 'notifications/progress', params });
    }
    await after(50); // The SDKs' clients forget progress that arrives together with the answer, also without a relay.
    return text('done');
  });
  mcp.registerTool('sampling', {}, async () => {
    const messages = [{ role: 'user', content: { type: 'text', text: 'Hello?' } }];
    const { content } = await server.createMessage({ messages, maxTokens: 10 });
    return text(content.text);
  });
  mcp.registerTool('elicitation', {}, async () => {
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
    const { content } = await server.elicitInput({ mode: 'form', message: 'Who?', requestedSchema });
    return text(content.name);
  });
  mcp.registerTool('roots', {}, async () => text((await server.listRoots()).roots[0].uri));
  mcp.registerTool('change', {}, async () => {
    mcp.registerTool('added', {}, () => text('added'));
    await server.sendResourceUpdated({ uri: 'test://one' });
    await server.sendLoggingMessage({ level: 'info', data: 'changed' });
    return text('done');
  });
  mcp.registerResource('one', 'test://one', {}, (uri) => ({ contents: [{ uri: uri.href, text: 'one' }] }));
  server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  return mcp;
});
