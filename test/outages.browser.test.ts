/** Playwright's MCP server on a real Chromium: dead links are not an outage (C14), and a browser that does not start is one. */
import { chmod, rename, writeFile } from 'node:fs/promises';
import { guardMcpClient } from '@breakerbox/instrumentation/mcp';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../packages/demo/src/child.ts';
import { kill, skipped, textOf, turns } from './mcp-processes.ts';
import { browserServer, CHROMIUM, servePages, WITHOUT } from './outages/browser.ts';
import { connect, sdks, spent, watched } from './outages/clients.ts';
import { childrenOf } from './processes.ts';

/** CI must have Chromium. */
const canRun = CHROMIUM !== undefined || process.env.CI === 'true';

beforeAll(() => {
  // Reporters do not show why a test is skipped.
  if (!canRun) process.stderr.write(`outages.browser.test.ts: ${WITHOUT}\n`);
});
beforeEach((context) => {
  if (!canRun) context.skip(WITHOUT);
});

const browsing = async () => {
  const seen = watched();
  const { program, executable } = await browserServer();
  const server = await connect(sdks['SDK 1'], program);
  // A server that ends by itself ends its browser and removes its folders.
  onTestFinished(() => server.client.close());
  const guarded = guardMcpClient(server.client, seen.session);
  const call = (name: string, given: Record<string, unknown>) => guarded.callTool({ name, arguments: given });
  const open = (url: string) => call('browser_navigate', { url });
  /**
   * Opens a page after a dead link. Chromium may still be loading its error page for the dead link, and then fails the next navigation. In
   * that case the browser gets another second.
   */
  const openNext = async (url: string, attempt = 1): Promise<string> => {
    const text = textOf(await open(`${url}?attempt=${attempt}`));
    if (attempt === 10 || !text.includes('interrupted by another navigation')) return text;
    await server.client.callTool({ name: 'browser_wait_for', arguments: { time: 1 } });
    return openNext(url, attempt + 1);
  };
  const killBrowser = async (): Promise<void> => {
    for (const child of childrenOf(server.pid, /chrom/)) await kill(child);
  };
  return { ...seen, ...server, executable, call, open, openNext, killBrowser, port: await servePages() };
};

test('C14: dead links leave the browser usable for other addresses', async () => {
  const { session, open, openNext, call, outcomes, reasons, port } = await browsing();
  for (const host of ['one.invalid', 'two.invalid', 'three.invalid', `127.0.0.1:${await freePort()}`]) {
    expect(textOf(await open(`http://${host}/`))).toContain('net::ERR_');
  }
  for (const element of ['#buy', '#sell', '#rent', '#lend']) {
    expect(await call('browser_click', { element, target: element })).toMatchObject({ isError: true });
  }
  expect(await openNext(`http://shop.test:${port}/`)).toContain('Page Title: Shop');
  expect(reasons.filter((one) => !one.endsWith(': call, closed'))).toEqual([]);
  expect(outcomes.filter((one) => one.includes('failure'))).toEqual([]);
  expect(spent(session)).toBe(0);
});

test('C14: a host that is dead three times is skipped, and other addresses open', async () => {
  const { session, open, openNext, outcomes, reasons, port } = await browsing();
  for (const page of ['a', 'b', 'c']) expect(textOf(await open(`http://dead.invalid/${page}`))).toContain('net::ERR_');
  expect(textOf(await open('http://dead.invalid/d'))).toContain("Tool 'browser_navigate' is unavailable");
  expect(await openNext(`http://shop.test:${port}/`)).toContain('Page Title: Shop');
  expect(reasons.slice(3, 5)).toEqual(['browser_navigate: skip, key_open', 'browser_navigate: call, closed']);
  expect(outcomes.filter((one) => one.includes('failure'))).toEqual([]);
  expect(session.peek('browser_navigate')).toMatchObject({ state: 'closed', openKeys: 1 });
  expect(spent(session)).toBe(0);
});

test('O2: a killed browser costs at most one failure, because its server starts another', async () => {
  const { session, open, killBrowser, outcomes, port } = await browsing();
  const page = `http://shop.test:${port}/`;
  expect(textOf(await open(page))).toContain('Page Title: Shop');
  await killBrowser();
  await open(page); // Fails if the server has not noticed it yet.
  expect(textOf(await open(page))).toContain('Page Title: Shop');
  expect(outcomes).toHaveLength(3);
  expect(session.peek('browser_navigate')?.state).toBe('closed');
  expect(spent(session)).toBeLessThanOrEqual(1);
});

test.each([
  ['is missing', async () => undefined],
  [
    'ends at once',
    async (executable: string) => {
      await writeFile(executable, '#!/bin/sh\nexit 1\n');
      await chmod(executable, 0o755);
    },
  ],
])('O2: a killed browser that then %s opens the circuit, and one probe closes it', async (_, replace) => {
  const { session, open, executable, killBrowser, outcomes, reasons, port } = await browsing();
  const page = (name: string) => `http://shop-${name}.test:${port}/`;
  expect(textOf(await open(page('a')))).toContain('Page Title: Shop');
  await rename(executable, `${executable}-away`);
  await replace(executable);
  await killBrowser();

  for (const name of ['b', 'c', 'd']) expect(await open(page(name))).toMatchObject({ isError: true });
  const failures = outcomes.slice(1);
  expect(failures.filter((one) => !one.startsWith('browser_navigate: failure, '))).toEqual([]);
  const category = failures.at(-1)?.split(', ')[1] ?? 'no category';
  expect(await open(page('e'))).toEqual(skipped('browser_navigate', category));
  expect(spent(session)).toBe(1);

  await rename(`${executable}-away`, executable);
  turns(session);
  expect(textOf(await open(page('f')))).toContain('Page Title: Shop');
  expect(reasons.slice(-2)).toEqual(['browser_navigate: skip, open', 'browser_navigate: probe, probe_due']);
  expect(session.peek('browser_navigate')?.state).toBe('closed');
});
