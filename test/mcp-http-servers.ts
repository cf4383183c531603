/** MCP servers behind streamable HTTP on loopback, of both SDKs, and one that answers as a test wants. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { Server as ServerOfSdk1 } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  CreateMessageResultSchema,
  InitializeRequestSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

export interface HttpServer {
  readonly url: string;
  /** Method and headers of each request. */
  readonly seen: { method: string; headers: IncomingMessage['headers']; body: string }[];
  /** Cancellations that tools have seen. */
  readonly cancelled: string[];
  stop(): Promise<void>;
  /** Forgets all sessions, as a server that was started again. */
  forget(): void;
}

export const listening = async (listener: RequestListener, port = 0): Promise<{ server: Server; url: string }> => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` };
};

export const stopped = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

const text = (value: string, isError = false) => ({
  content: [{ type: 'text' as const, text: value }],
  ...(isError && { isError }),
});
const REFUSED = 'connect ECONNREFUSED 127.0.0.1:5432';

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
};

const toolsOfSdk1 = (cancelled: string[]): ServerOfSdk1 => {
  const server = new ServerOfSdk1(
    { name: 'http-test', version: '0.0.0' },
    { capabilities: { tools: {}, logging: {} } },
  );
  const names = ['echo', 'broken', 'never', 'progress', 'ask', 'log'];
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: names.map((name) => ({ name, inputSchema: { type: 'object' as const } })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    switch (params.name) {
      case 'broken':
        return text(REFUSED, true);
      case 'never':
        return new Promise((_, reject) => {
          extra.signal.addEventListener('abort', () => {
            cancelled.push('never');
            reject(new Error('cancelled'));
          });
        });
      case 'progress':
        for (let progress = 1; progress <= 3; progress += 1)
          await extra.sendNotification({
            method: 'notifications/progress',
            params: { progressToken: extra._meta?.progressToken ?? '', progress, total: 3 },
          });
        // The SDK's client over stdio loses progress that it reads together with the result, also without a relay.
        await after(200);
        return text('done');
      case 'ask': {
        const params = { messages: [], maxTokens: 10 };
        const answer = await extra.sendRequest({ method: 'sampling/createMessage', params }, CreateMessageResultSchema);
        return text(JSON.stringify(answer.content));
      }
      case 'log': // Without a related request: it takes the stream of GET.
        await server.notification({ method: 'notifications/message', params: { level: 'info', data: 'by GET' } });
        return text('logged');
      default:
        return text(`${params.arguments?.text}`);
    }
  });
  return server;
};

/** A server of the session protocol (to 2025-11-25). */
export const sessionServer = async (enableJsonResponse = false, port = 0): Promise<HttpServer> => {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const seen: HttpServer['seen'] = [];
  const cancelled: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = request.method === 'POST' ? await bodyOf(request) : '';
    seen.push({ method: request.method ?? '', headers: request.headers, body });
    const id = request.headers['mcp-session-id'];
    let transport = typeof id === 'string' ? sessions.get(id) : undefined;
    if (transport === undefined && body !== '' && InitializeRequestSchema.safeParse(JSON.parse(body)).success) {
      const made = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        enableJsonResponse,
        onsessioninitialized: (name) => {
          sessions.set(name, made);
        },
      });
      await toolsOfSdk1(cancelled).connect(made as never);
      transport = made;
    }
    if (transport !== undefined) return transport.handleRequest(request, response, body && JSON.parse(body));
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}');
  };
  const { server, url } = await listening((request, response) => void answer(request, response), port);
  return { url, seen, cancelled, stop: () => stopped(server), forget: () => sessions.clear() };
};

/** A server of the stateless protocol (2026-07-28). */
export const statelessServer = async (): Promise<HttpServer> => {
  const seen: HttpServer['seen'] = [];
  const cancelled: string[] = [];
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: 'http-test', version: '0.0.0' });
      server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text: given }) => text(given));
      server.registerTool('broken', { inputSchema: z.object({ n: z.number() }) }, () => text(REFUSED, true));
      server.registerTool(
        'never',
        { inputSchema: z.object({ n: z.number().optional() }) },
        (_, { mcpReq }) =>
          new Promise((_resolve, reject) => {
            mcpReq.signal.addEventListener('abort', () => {
              cancelled.push('never');
              reject(new Error('cancelled'));
            });
          }),
      );
      return server;
    },
    { legacy: 'reject' },
  );
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request);
    const { method = '', headers } = request;
    seen.push({ method, headers, body });
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const given = await handler.fetch(
      new Request(`http://127.0.0.1${request.url}`, {
        method,
        headers: headers as Record<string, string>,
        signal: gone.signal,
        ...(method === 'POST' && { body }),
      }),
    );
    response.writeHead(given.status, Object.fromEntries(given.headers));
    const reader = given.body?.getReader();
    response.once('close', () => reader?.cancel().catch(() => {}));
    for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read())
      response.write(part.value);
    response.end();
  };
  const { server, url } = await listening((request, response) => void answer(request, response).catch(() => {}));
  return { url, seen, cancelled, stop: () => stopped(server), forget: () => {} };
};
