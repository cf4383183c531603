/** A server that fetches pages: dead addresses are not an outage (C14), but a missing network is one. */
import { spawnSync } from 'node:child_process';
import type { RequestListener } from 'node:http';
import { guardMcpClient } from '@breakerbox/instrumentation/mcp';
import { describe, expect, test } from 'vitest';
import { freePort } from '../packages/demo/src/child.ts';
import { skipped, textOf, turns } from './mcp-processes.ts';
import { connect, ownServer, type Program, sdks, spent, watched } from './outages/clients.ts';
import { serve } from './outages/web.ts';

/** Pages of any host. The path decides the content. */
const pages: RequestListener = ({ url }, response) => {
  response.statusCode = Number(/\d{3}/.exec(url ?? '')?.[0] ?? 200);
  response.end(`the page ${url}`);
};

const HOSTS = ['one', 'two', 'three', 'four', 'five'];

/** Before the first success of a tool, so many hosts that fail open it. */
const FIRST = HOSTS.length;

/** A network namespace of its own has no network. Not every machine allows a test to make one. */
const UNSHARE = spawnSync('unshare', ['-n', 'true']).status === 0;

const withoutNetwork = ({ command, args }: Program): Program => ({
  command: 'unshare',
  args: ['-n', command, ...args],
});

describe.each(Object.entries(sdks))('with %s', (_, sdk) => {
  const fetching = async (program: Program) => {
    const seen = watched();
    const server = await connect(sdk, program);
    const guarded = guardMcpClient(server.client, seen.session);
    const get = (url: string, name = 'fetch_page') => guarded.callTool({ name, arguments: { url } });
    return { ...seen, ...server, get };
  };

  test('C14: dead links to different hosts do not affect the tool', async () => {
    const { session, get, outcomes, reasons } = await fetching(ownServer({ TEST_NAMES: '1' }));
    const port = await serve(pages);
    const dead = [...HOSTS.map((host) => `http://${host}.invalid/`), `http://127.0.0.1:${await freePort()}/`];
    expect(textOf(await get(`http://alive.test:${port}/`))).toBe('the page /');
    for (const url of dead) expect(await get(url)).toMatchObject({ isError: true });
    expect(textOf(await get(`http://alive.test:${port}/home`))).toBe('the page /home');
    expect(new Set(reasons)).toEqual(new Set(['fetch_page: call, closed']));
    expect(outcomes.filter((one) => one.includes('failure'))).toEqual([]);
    expect(session.view().circuits.filter(({ state }) => state !== 'closed')).toEqual([]);
    expect(spent(session)).toBe(0);
  });

  test.each([
    ['a host that does not resolve', async () => 'dead.invalid'],
    ['a port that refuses', async () => `127.0.0.1:${await freePort()}`],
  ])('C14: %s is skipped after three failures, and other hosts are called', async (_name, hostOf) => {
    const { session, get, reasons } = await fetching(ownServer({ TEST_NAMES: '1' }));
    const port = await serve(pages);
    const host = await hostOf();
    for (const page of [1, 2, 3]) expect(textOf(await get(`http://${host}/${page}`))).toContain('Failed to fetch');
    expect(textOf(await get(`http://${host}/4`))).toContain("Tool 'fetch_page' is unavailable");
    expect(textOf(await get(`http://alive.test:${port}/`))).toBe('the page /');
    expect(reasons.slice(-2)).toEqual(['fetch_page: skip, key_open', 'fetch_page: call, closed']);
    expect(session.peek('fetch_page')).toMatchObject({ state: 'closed', openKeys: 1 });
    expect(spent(session)).toBe(0);
  });

  test('C14: one probe closes the circuit of a host that answers again', async () => {
    const { session, get, reasons } = await fetching(ownServer({ TEST_NAMES: '1' }));
    const port = await freePort();
    for (const page of [1, 2, 3]) await get(`http://127.0.0.1:${port}/${page}`);
    await serve(pages, port);
    expect(textOf(await get(`http://127.0.0.1:${port}/4`))).toContain('unavailable');
    turns(session);
    expect(textOf(await get(`http://127.0.0.1:${port}/5`))).toBe('the page /5');
    expect(reasons.slice(-2)).toEqual(['fetch_page: skip, key_open', 'fetch_page: probe, key_probe_due']);
    expect(session.peek('fetch_page')).toMatchObject({ state: 'closed', openKeys: 0 });
  });

  test('C14: pages that are forbidden count only for their host, and pages that do not exist count nowhere', async () => {
    const { session, get, reasons } = await fetching(ownServer({ TEST_NAMES: '1' }));
    const port = await serve(pages);
    for (const page of ['404/a', '403/b', '404/c', '403/d', '404/e', '403/f']) {
      expect(textOf(await get(`http://shop.test:${port}/${page}`))).toContain('status code');
    }
    expect(textOf(await get(`http://shop.test:${port}/g`))).toContain('unavailable');
    expect(textOf(await get(`http://docs.test:${port}/h`))).toBe('the page /h');
    expect(reasons.slice(-2)).toEqual(['fetch_page: skip, key_open', 'fetch_page: call, closed']);
    expect(spent(session)).toBe(0);
  });

  test('C14: a tool that every host turns away is blocked itself: its circuit opens', async () => {
    const { session, get, reasons } = await fetching(ownServer({ TEST_NAMES: '1' }));
    const port = await serve(pages);
    for (let n = 0; n < 16; n += 1) await get(`http://host${n}.test:${port}/${n % 2 ? 403 : 429}`);
    expect(textOf(await get(`http://six.test:${port}/`))).toContain("Tool 'fetch_page' is unavailable");
    expect(reasons.slice(-1)).toEqual(['fetch_page: skip, open']);
    expect(spent(session)).toBe(1);
    turns(session);
    expect(textOf(await get(`http://six.test:${port}/x`))).toBe('the page /x');
    expect(session.peek('fetch_page')?.state).toBe('closed');
  });

  test.each([
    // What fetch_page says names the proxy, so it blames the tool. What fetch_html says could be about each host.
    ['refuses', 'fetch_page', 3, 'failure', async () => `http://127.0.0.1:${await freePort()}`],
    ['refuses', 'fetch_html', FIRST, 'ignored', async () => `http://127.0.0.1:${await freePort()}`],
    ['does not resolve', 'fetch_page', 3, 'failure', async () => 'http://proxy.invalid:3128'],
  ])(
    'C14: behind a proxy that %s, %s fails on %i hosts, and its circuit opens',
    async (_, tool, most, outcome, proxyOf) => {
      const { session, get, outcomes, reasons, restart } = await fetching(
        ownServer({ NODE_USE_ENV_PROXY: '1', http_proxy: await proxyOf(), TEST_NAMES: '1' }),
      );
      for (const host of HOSTS.slice(0, most))
        expect(await get(`http://${host}.test/`, tool)).toMatchObject({ isError: true });
      expect(outcomes).toEqual(Array(most).fill(`${tool}: ${outcome}, network`));
      expect(await get(`http://six.test/`, tool)).toEqual(skipped(tool, 'network'));
      expect(reasons.slice(-1)).toEqual([`${tool}: skip, open`]);
      expect(spent(session)).toBe(1);

      const port = await serve(pages);
      await restart(ownServer({ TEST_NAMES: '1' }));
      turns(session);
      expect(textOf(await get(`http://six.test:${port}/x`, tool))).toBe('the page /x');
      expect(session.peek(tool)?.state).toBe('closed');
    },
  );

  test.skipIf(!UNSHARE).each(['fetch_page', 'fetch_html'])(
    'C14: without a network %s fails on every host, and its circuit opens',
    async (tool) => {
      const { session, get, outcomes } = await fetching(withoutNetwork(ownServer()));
      for (const host of HOSTS) expect(await get(`http://${host}.test/`, tool)).toMatchObject({ isError: true });
      expect(outcomes).toEqual(Array(FIRST).fill(`${tool}: ignored, network`));
      expect(session.peek(tool)).toMatchObject({ state: 'open', trip: 'keys' });
      expect(await get(`http://six.test/`, tool)).toEqual(skipped(tool, 'network'));
      expect(spent(session)).toBe(1);
    },
  );
});
