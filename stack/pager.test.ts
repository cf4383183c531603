/** The pager prints the messages of Alertmanager, and nothing else. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../packages/demo/src/child.ts';
import { ROOT, readText } from './files.ts';
import { startPager } from './pager.ts';
import { until } from './running.ts';

let server: Server;
let url: string;
let printed = '';

beforeAll(async () => {
  const print = (text: string): void => {
    printed += text;
  };
  server = await startPager({ host: '127.0.0.1', port: 0, print, now: () => new Date('2026-11-20T18:00:10Z') });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

const post = (body: string) => fetch(url, { method: 'POST', body });

it('prints a message with its time, as in the golden text', async () => {
  expect((await post(readText('stack/golden/mixed.slack.txt'))).status).toBe(200);
  const [rule, time, , title] = printed.split('\n');
  expect(rule).toMatch(/^─+$/);
  expect(time).toBe('2026-11-20T18:00:10.000Z');
  expect(title).toMatch(/^Warning: mixed-agent: list_deployments is out of use/);
  expect(printed).toMatch(/No longer:\n.*query_logs/);
});

it('answers a health check, and rejects a body that is not a message', async () => {
  const before = printed;
  expect((await fetch(url)).status).toBe(200);
  for (const body of ['hello', '{}', JSON.stringify({ attachments: [{}] }), `"${'x'.repeat(1_000_001)}"`]) {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/^not printed: /);
  }
  expect(printed).toBe(before);
});

it('runs as a process, and ends on request', async () => {
  const port = await freePort();
  const child = spawn(process.execPath, ['--conditions=breakerbox-source', resolve(ROOT, 'stack/pager.ts')], {
    env: { ...process.env, PAGER_PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  await until(() => (text.includes(`port ${port}`) ? true : undefined));
  const body = readText('stack/golden/resolved.slack.txt');
  expect((await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body })).status).toBe(200);
  await until(() => (text.includes('Resolved, no longer: ') ? true : undefined));
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});
