import http from 'node:http';
import type { ErrorCategory } from '@breakerbox/core';
import { Client as ClientOfSdk2, StreamableHTTPClientTransport as HttpOfSdk2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioOfSdk2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientOfSdk1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport as StdioOfSdk1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpOfSdk1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { categoryOf, listen, NOW, refusedUrl, thrownBy } from '../../test-support/classify/failing.ts';
import { classifyError, classifyResult } from '../../test-support/classify/verdicts.ts';

const WHO = { name: 'breakerbox-test', version: '0.0.0' };
type Options = { timeout?: number; signal?: AbortSignal };
interface Caller {
  call(name: string, input: Record<string, unknown>, options?: Options): Promise<unknown>;
  list(): Promise<unknown>;
  close(): Promise<void>;
}

const SDKS = {
  'SDK 1': async (url: URL): Promise<Caller> => {
    const client = new ClientOfSdk1(WHO);
    await client.connect(new HttpOfSdk1(url) as Transport);
    return {
      call: (name, input, options) => client.callTool({ name, arguments: input }, undefined, options),
      list: () => client.listTools(),
      close: () => client.close(),
    };
  },
  'SDK 2': async (url: URL): Promise<Caller> => {
    const client = new ClientOfSdk2(WHO);
    await client.connect(new HttpOfSdk2(url));
    return {
      call: (name, input, options) => client.callTool({ name, arguments: input }, options),
      list: () => client.listTools(),
      close: () => client.close(),
    };
  },
};

const STDIO = {
  'SDK 1': () => ({ client: new ClientOfSdk1(WHO), transport: StdioOfSdk1 }),
  'SDK 2': () => ({ client: new ClientOfSdk2(WHO), transport: StdioOfSdk2 }),
};

/** A real MCP server over streamable HTTP, whose answers can be broken while a client is connected. */
async function mcpServer() {
  const state: { broken?: number | 'drop' | 'page' | 'no JSON' | 'not MCP' } = {};
  const server = http.createServer(async (request, response) => {
    if (request.method === 'GET') response.writeHead(405).end();
    else if (state.broken === 'drop') request.socket.destroy();
    else if (state.broken === 'page') response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    else if (state.broken === 'no JSON') response.writeHead(200, { 'content-type': 'application/json' }).end('{');
    else if (state.broken === 'not MCP') response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}');
    else if (state.broken !== undefined) response.writeHead(state.broken).end('no');
    else await answer(request, response);
  });
  return { state, url: new URL(`http://127.0.0.1:${await listen(server)}/mcp`) };
}

async function answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  const server = new McpServer(WHO);
  const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });
  server.registerTool('find', { inputSchema: { city: z.string() } }, async ({ city }) => text(city));
  server.registerTool('hang', {}, () => new Promise<never>(() => undefined));
  server.registerTool('fail', { inputSchema: { how: z.string() } }, async ({ how }) => {
    throw new Error(how);
  });
  const outputSchema = { nights: z.number() };
  const wrong = { content: [], structuredContent: { nights: 'three' } };
  server.registerTool('typed', { outputSchema }, async () => wrong as never);
  const transport = new StreamableHTTPServerTransport({});
  await server.connect(transport as Transport);
  await transport.handleRequest(request, response);
}

async function connected(sdk: keyof typeof SDKS) {
  const { state, url } = await mcpServer();
  const caller = await SDKS[sdk](url);
  onTestFinished(() => caller.close());
  return { state, url, caller };
}

describe.each(Object.keys(SDKS) as (keyof typeof SDKS)[])("O2: MCP's own errors: %s", (sdk) => {
  it('O2: results with `isError`: bad arguments, unknown tool, outages, answers', async () => {
    const { caller } = await connected(sdk);
    const read = async (name: string, input: Record<string, unknown>) =>
      classifyResult(await caller.call(name, input), NOW)?.category;
    expect(await read('find', { city: 'Graz' })).toBeUndefined();
    expect(await read('find', { city: 3 })).toBe('invalid_input');
    expect(await read('nope', {})).toBe('invalid_input');
    expect(await read('fail', { how: 'connect ECONNREFUSED 127.0.0.1:5432' })).toBe('network');
    expect(await read('fail', { how: 'HTTP 503 from upstream' })).toBe('server');
    expect(await read('fail', { how: 'unknown order id 503' })).toBe('tool_error');
    expect(await read('fail', { how: "ENOENT: no such file or directory, open '/x'" })).toBe('tool_error');
  });

  it('O2: a tool that breaks its own output schema is at fault, although the code is that of bad arguments', async () => {
    const { caller } = await connected(sdk);
    const result = await caller.call('typed', {}).catch((error: unknown) => error);
    expect(classifyResult(result, NOW)).toEqual({ category: 'server' });
  });

  it('O2: request timeout, and aborts with and without a custom reason', async () => {
    const { caller } = await connected(sdk);
    expect(await categoryOf(() => caller.call('hang', {}, { timeout: 20 }))).toBe('timeout');
    expect(await categoryOf(() => caller.call('hang', {}, { signal: AbortSignal.timeout(20) }))).toBe('timeout');
    expect(await categoryOf(() => caller.call('hang', {}, { signal: AbortSignal.abort() }))).toBe('cancelled');
    const signal = AbortSignal.abort(new Error('the user left'));
    const error = await thrownBy(() => caller.call('hang', {}, { signal }));
    expect(classifyError(error, { ...NOW, signal }).category).toBe('cancelled');
    if (sdk === 'SDK 2') expect(classifyError(error, NOW).category).toBe('cancelled');
  });

  const STATUSES: readonly (readonly [number, ErrorCategory])[] = [
    [400, 'server'],
    [401, 'permission'],
    [403, 'permission'],
    [404, 'server'],
    [405, 'server'],
    [408, 'timeout'],
    [429, 'rate_limit'],
    [500, 'server'],
    [503, 'server'],
    [504, 'timeout'],
  ];

  it.each(STATUSES)('O2: status %i of the endpoint is %s: it is never about the arguments', async (status, wanted) => {
    const { state, url, caller } = await connected(sdk);
    state.broken = status;
    expect(await categoryOf(() => caller.call('find', { city: 'Graz' }))).toBe(wanted);
    expect(await categoryOf(() => SDKS[sdk](url))).toBe(wanted);
  });

  it.each([
    ['drop', 'network'],
    ['page', 'server'],
    ['no JSON', 'server'],
    ['not MCP', 'server'],
  ] as const)('O2: an endpoint that answers with a %s is %s', async (broken, wanted) => {
    const { state, caller } = await connected(sdk);
    state.broken = broken;
    expect(await categoryOf(() => caller.call('find', { city: 'Graz' }))).toBe(wanted);
  });

  it('O2: the server no longer listens; the client was closed', async () => {
    const { caller } = await connected(sdk);
    const refused = new URL(await refusedUrl());
    expect(await categoryOf(() => SDKS[sdk](refused))).toBe('network');
    await caller.close();
    expect(await categoryOf(() => caller.call('find', { city: 'Graz' }))).toBe('network');
  });

  it('O2: a server over stdio that is killed during and before a call', async () => {
    const { client, transport: Stdio } = STDIO[sdk]();
    const source = new URL('../../test-support/classify/mcp-server.ts', import.meta.url).pathname;
    const transport = new Stdio({ command: process.execPath, args: [source], stderr: 'ignore' });
    await client.connect(transport as never);
    onTestFinished(() => client.close());
    const waiting = categoryOf(() => client.callTool({ name: 'hang', arguments: {} }));
    process.kill(transport.pid ?? Number.NaN, 'SIGKILL');
    expect(await waiting).toBe('network');
    expect(await categoryOf(() => client.callTool({ name: 'hang', arguments: {} }))).toBe('network');
  });

  it('O2: a server over stdio that does not exist', async () => {
    const { client, transport: Stdio } = STDIO[sdk]();
    const transport = new Stdio({ command: '/nope/breakerbox', stderr: 'ignore' });
    expect(await categoryOf(() => client.connect(transport as never))).toBe('filesystem');
  });
});

it('O2: SSE: an endpoint that does not exist', async () => {
  const { url } = await mcpServer();
  const connecting = () => new ClientOfSdk1(WHO).connect(new SSEClientTransport(url) as Transport);
  expect(await categoryOf(connecting)).toBe('server');
});
