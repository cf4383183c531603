import { diag } from '@opentelemetry/api';
import { afterEach, expect, test } from 'vitest';
import { openScrapeServer } from './scrape-server.ts';
import { collectDiag } from './test-support/diag-messages.ts';

const address = { host: '127.0.0.1', port: 0, endpoint: '/metrics' };

afterEach(() => diag.disable());

async function serve(
  render: () => Promise<string>,
): Promise<{ url: string; [Symbol.asyncDispose]: () => Promise<void> }> {
  const server = openScrapeServer(address, render);
  await server.ready;
  return { url: server.url() ?? '', [Symbol.asyncDispose]: server.close };
}

test('serves the metrics in the text format of Prometheus, and nothing else', async () => {
  await using server = await serve(async () => 'up 1\n');
  const response = await fetch(`${server.url}?name[]=up`);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(await response.text()).toBe('up 1\n');
  expect((await fetch(new URL('/other', server.url))).status).toBe(404);
  expect((await fetch(server.url, { method: 'POST' })).status).toBe(405);
});

test('answers 500 when the metrics cannot be written, and works again after', async () => {
  const messages = collectDiag();
  const answers = [() => JSON.stringify(1n), () => 'up 1\n'];
  await using server = await serve(async () => answers.shift()?.() ?? '');
  const failed = await fetch(server.url);
  expect(failed.status).toBe(500);
  expect(await failed.text()).toContain('BigInt');
  expect(messages).toHaveLength(1);
  expect((await fetch(server.url)).status).toBe(200);
});

test('says which address is wrong when it is none of this machine', async () => {
  const messages = collectDiag();
  // 192.0.2.0/24 is set aside for documentation.
  const server = openScrapeServer({ ...address, host: '192.0.2.1' }, async () => '');
  await server.ready;
  expect(server.url()).toBeUndefined();
  expect(messages).toEqual([expect.stringMatching(/192\.0\.2\.1:0 \(EADDRNOTAVAIL\).*OTEL_EXPORTER_PROMETHEUS_HOST/)]);
  await server.close();
});
