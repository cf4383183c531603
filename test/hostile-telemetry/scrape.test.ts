/** The client of /metrics is not trusted either: the endpoint shows only names and counts, stays up, and keeps nothing in memory. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createBreakerbox } from '@breakerbox/core';
import { report } from '@breakerbox/core/report';
import { startTelemetry, type TelemetryHandle } from '@breakerbox/telemetry';
import { registerBreakerboxMetrics } from '@breakerbox/telemetry/prom-client';
import { diag } from '@opentelemetry/api';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openScrapeServer } from '../../packages/telemetry/src/scrape-server.ts';
import { secretOf, secretsIn } from '../secrets/plants.ts';

let telemetry: TelemetryHandle;
let url: URL;
beforeEach(async () => {
  telemetry = startTelemetry({ prometheus: { port: 0 } });
  await telemetry.ready;
  url = new URL(telemetry.metricsUrl ?? '');
  createBreakerbox({ agent: 'scraped', tools: { search: {} } });
});
afterEach(async () => {
  await telemetry.shutdown();
  diag.disable();
});

const open = async (): Promise<Socket> => {
  const socket = connect(Number(url.port), url.hostname);
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
};

const expectServed = async (): Promise<void> => {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  expect(await response.text()).toContain('breakerbox_decisions_total{');
};

test('listens only on loopback by default', () => {
  expect(url.hostname).toBe('127.0.0.1');
});

test.each([
  ['nothing', ''],
  ['an incomplete request', 'GET /metrics HTTP/1.1\r\nhost: x'],
  ['bytes that are not HTTP', '\u0000\u0001 nonsense\r\n\r\n'],
  ['a header of a megabyte', `GET /metrics HTTP/1.1\r\nx: ${'y'.repeat(1_000_000)}\r\n\r\n`],
  ['a body that never arrives', 'POST /metrics HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000\r\n\r\n'],
  ['200 requests at once', 'GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(200)],
  ['a path outside', 'GET /../../etc/passwd HTTP/1.1\r\nhost: x\r\n\r\n'],
])('serves others while a client sends %s', async (_, bytes) => {
  const sockets = await Promise.all(Array.from({ length: 50 }, open));
  for (const socket of sockets) if (bytes !== '') socket.write(bytes);
  await expectServed();
  for (const socket of sockets) socket.destroy();
  await expectServed();
});

test('has each series once, even if names differ only in characters that UTF-8 cannot encode', async () => {
  const registry = new Registry();
  const unregister = registerBreakerboxMetrics(registry);
  const session = createBreakerbox({ agent: 'scraped', tools: {} }).session();
  for (const name of ['a\ud800', 'a\ud801', 'a\udc00', 'a\ufffd']) {
    session.declare(name); // As an adapter does with a server's list.
    session.acquire(name).settle({ outcome: 'success' });
  }
  expect(report(session).tools.map(({ tool }) => tool)).toEqual(['a\ufffd']);
  const scraped = await (await fetch(url)).text();
  for (const text of [scraped, Buffer.from(await registry.metrics()).toString()]) {
    expect(text).toMatch(/_count\{[^\n]*gen_ai_tool_name="a\ufffd"[^\n]*\} 4$/m);
    const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const names = series.map((line) => line.replace(/ \S+$/, ''));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  }
  unregister();
});

test('shutdown does not wait for clients', async () => {
  const socket = await open();
  socket.write('GET /metrics HTTP/1.1\r\n');
  const closed = new Promise((resolve) => socket.on('close', resolve));
  await telemetry.shutdown();
  await closed;
});

test("does not show an error's text to a client", async () => {
  const failing = openScrapeServer({ host: '127.0.0.1', port: 0, endpoint: '/metrics' }, async () => {
    throw new Error(secretOf('an error of a metric'));
  });
  await failing.ready;
  try {
    const response = await fetch(failing.url() ?? '');
    expect(response.status).toBe(500);
    expect(secretsIn(await response.text(), ['an error of a metric'])).toEqual([]);
  } finally {
    await failing.close();
  }
});
