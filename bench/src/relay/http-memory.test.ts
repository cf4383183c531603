import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startChain } from './chain.ts';
import { startListening } from './listening.ts';

const MAIN = fileURLToPath(new URL('../../../packages/cli/src/main.ts', import.meta.url));
const RELAY = ['--conditions=breakerbox-source', MAIN, 'mcp'];
const MEGABYTES = 10;
const SIZE = MEGABYTES * 1024 * 1024;

/** Answers with JSON, or at the path `/events` with a stream of events. */
const server: Server = createServer(async (request, response) => {
  const { id, method, params } = JSON.parse((await textOf(request)) || '{}');
  if (id === undefined) {
    response.writeHead(request.method === 'POST' ? 202 : 405).end();
    return;
  }
  const { size = 1 } = params.arguments ?? {};
  const results: Record<string, object> = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'b', version: '0' } },
    'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'x'.repeat(size) }] },
  };
  const json = JSON.stringify({ jsonrpc: '2.0', id, result: results[method] });
  const isEvents = request.url === '/events';
  response.writeHead(200, { 'content-type': isEvents ? 'text/event-stream' : 'application/json' });
  response.end(isEvents ? `event: message\r\ndata: ${json}\r\n\r\n` : json);
});

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** How many times the size of a message it takes. What clients send is read in turns, which keeps more of it. */
const TIMES = { stdio: 3, '--listen': 4 } as const;
const TO_CLIENT = { text: '', size: SIZE };
const MESSAGES = [
  ['stdio', 'JSON to the client', '/json', TO_CLIENT],
  ['stdio', 'events to the client', '/events', TO_CLIENT],
  ['stdio', 'JSON to the server', '/json', { text: 'x'.repeat(SIZE) }],
  ['--listen', 'JSON to the client', '/json', TO_CLIENT],
  ['--listen', 'events to the client', '/events', TO_CLIENT],
  ['--listen', 'JSON to the server', '/json', { text: 'x'.repeat(SIZE) }],
] as const;
/** Only Linux says how much memory a process has taken. */
const measured = existsSync('/proc/self/status') ? MESSAGES : [];

test.each(measured)(
  'M10: over HTTP with %s, 10 MB as %s take at most three times their size, or four with --listen',
  async (front, _, path, call) => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
    const chain = await (front === 'stdio'
      ? startChain([...RELAY, url])
      : startListening([...RELAY, '--listen', '0', url]));
    try {
      for (let n = 0; n < 100; n += 1) await chain.call({ text: 'x' });
      const rest = chain.restMb();
      await chain.call(call);
      expect(chain.peakMb() - rest).toBeLessThan(TIMES[front] * MEGABYTES);
    } finally {
      await chain.close();
    }
  },
);
