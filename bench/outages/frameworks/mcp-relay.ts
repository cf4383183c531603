import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CallToolRequestSchema, type CallToolResult, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Forwarding, Relay } from '../../../packages/cli/src/mcp/relay.ts';
import type { Arguments } from '../airline/tools.ts';
import type { CallTool } from '../protections/protection.ts';
import { ANY_OBJECT, eachTool, INSTRUCTIONS, type Loop, MOST_TURNS } from './loop.ts';

const INFO = { name: 'airline', version: '1.0.0' };

/** The lines between a client and a server, as over standard input and output, with the relay in between if there is one. */
const linesThrough = (relay: Relay | undefined): { readonly client: Transport; readonly server: Transport } => {
  const side = (send: (bytes: Buffer) => void): Transport => ({
    start: async () => {},
    close: async () => {},
    send: async (message) => send(Buffer.from(`${JSON.stringify(message)}\n`)),
  });
  const give = (to: Transport, bytes: Buffer | undefined): void => {
    for (const line of `${bytes ?? ''}`.split('\n'))
      if (line !== '') queueMicrotask(() => to.onmessage?.(JSON.parse(line)));
  };
  const place = ({ toServer, toClient }: Forwarding): void => {
    give(server, toServer);
    give(client, toClient);
  };
  const client = side((bytes) => place(relay ? relay.fromClient({ bytes, whole: true }) : { toServer: bytes }));
  const server = side((bytes) => place(relay ? relay.fromServer({ bytes, whole: true }) : { toClient: bytes }));
  relay?.onTimeout(place);
  relay?.onOwnRequest((toServer) => place({ toServer }));
  return { client, server };
};

const toolServer = (call: CallTool): Server => {
  const server = new Server(INFO, { capabilities: { tools: {} } });
  const tools = eachTool((name) => ({ name, description: name, inputSchema: ANY_OBJECT })).map(([, tool]) => tool);
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }): Promise<CallToolResult> => {
    try {
      const text = await call(params.name, (params.arguments ?? {}) as Arguments, signal);
      return { content: [{ type: 'text', text }] };
    } catch (error) {
      return { content: [{ type: 'text', text: (error as Error).message }], isError: true };
    }
  });
  return server;
};

/** A loop of its own with the client of MCP's SDK. The relay decides between the client and the server. */
export const mcpRelayLoop: Loop = async (request, takeTurn, { call, relay }) => {
  const lines = linesThrough(relay?.another());
  const server = toolServer(call);
  const client = new Client(INFO);
  await server.connect(lines.server);
  await client.connect(lines.client);
  const { tools } = await client.listTools();
  const messages: unknown[] = [{ role: 'user', content: request }];
  let result: string | undefined;
  for (let turns = 0; turns < MOST_TURNS; turns += 1) {
    const turn = await takeTurn([INSTRUCTIONS, tools, messages], result, INSTRUCTIONS);
    if ('text' in turn) break;
    const { tool: name, input } = turn.call;
    // The client gives a call up after 60 s, which retries in the server can exceed. The model reads that error.
    result = await client.callTool({ name, arguments: input as Arguments }).then(
      ({ content }) => (content as { readonly text: string }[]).map(({ text }) => text).join('\n'),
      (error: Error) => error.message,
    );
    const id = `call-${turns}`;
    messages.push({ role: 'assistant', id, call: turn.call }, { role: 'tool', id, content: result });
  }
  await client.close();
  await server.close();
};
