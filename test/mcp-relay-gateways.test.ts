/** `breakerbox mcp` before and behind gateways from npm. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { gateway, installGateways, listeningGateway } from './gateway-programs.ts';
import { PATIENT, piped, relayTo } from './mcp-relay-pipes.ts';
import { startServer } from './mcp-server-process.ts';

const SERVER = fileURLToPath(new URL('mcp-relay-server.mjs', import.meta.url));
const COMMAND = [process.execPath, SERVER];

beforeAll(() => installGateways(), 300_000);

const clientOf = async (transport: object) => {
  const client = new Client({ name: 'gateway-test', version: '0.0.0' });
  onTestFinished(() => client.close());
  await client.connect(transport as Transport);
  return async (name: string, input: Record<string, unknown> = {}): Promise<string> => {
    const { content } = (await client.callTool({ name, arguments: input })) as { content: { text: string }[] };
    return content[0]?.text ?? '';
  };
};

const overStdio = (args: string[]) => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-gateway-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const env = { ...(process.env as Record<string, string>), MCP_REMOTE_CONFIG_DIR: folder };
  return clientOf(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }));
};

const overHttp = (url: string) => clientOf(new StreamableHTTPClientTransport(new URL(url)));

/** A relay that listens in front of an address. Gives its own. */
const listeningRelay = async (target: string): Promise<string> => {
  const { child, texts } = piped(['--listen', '0', target]);
  onTestFinished(() => void child.kill('SIGKILL'));
  await expect.poll(() => texts.err, PATIENT).toMatch(/http:\/\/\S+\n/);
  return /http:\/\/\S+/.exec(texts.err)?.[0] ?? '';
};

const server = async (port = 0) => {
  const started = await startServer(SERVER, port);
  onTestFinished(started.kill);
  return started;
};

/** A dead backend of a server that works. */
const expectThreeCalls = async (call: Awaited<ReturnType<typeof clientOf>>): Promise<void> => {
  expect(await call('echo', { text: 'Grüße €' })).toBe('Grüße €');
  const texts: string[] = [];
  for (let n = 0; n < 6; n += 1) texts.push(await call('broken', { n }));
  expect(texts.filter((text) => text.includes('ECONNREFUSED'))).toHaveLength(3);
  expect(texts[5]).toMatch(/^Tool 'broken' is unavailable: the last calls failed \(network\)/);
  expect(await call('echo', { text: 'works' })).toBe('works');
};

describe('a gateway behind the relay', () => {
  test('M3: mcp-remote', async () => {
    const { url } = await server();
    await expectThreeCalls(await overStdio(relayTo('--', process.execPath, ...gateway('mcp-remote', url))));
  });

  test('M1: mcp-remote, whose server has been started again', async () => {
    const first = await server();
    const call = await overStdio(relayTo('--restart', '--', process.execPath, ...gateway('mcp-remote', first.url)));
    expect(await call('echo', { text: 'one' })).toBe('one');
    await first.kill();
    await server(Number(new URL(first.url).port));
    const texts = [await call('echo', { text: 'two' }), await call('echo', { text: 'three' })];
    expect(texts.at(-1)).toBe('three');
  });

  test.each([
    ['without sessions', []],
    ['with sessions', ['--stateful']],
  ])('M3: supergateway %s', async (_, flags) => {
    const url = await listeningGateway(
      'supergateway',
      ...['--stdio', COMMAND.join(' '), '--outputTransport', 'streamableHttp', '--port', '0', ...flags],
    );
    await expectThreeCalls(await overStdio(relayTo(url)));
    await expectThreeCalls(await overHttp(await listeningRelay(url)));
  });

  test('M3: mcp-proxy', async () => {
    const url = await listeningGateway('mcp-proxy', '--port', '0', '--server', 'stream', '--', ...COMMAND);
    await expectThreeCalls(await overStdio(relayTo(url)));
    await expectThreeCalls(await overHttp(await listeningRelay(url)));
  });
});

describe('a gateway before the relay', () => {
  const relay = [process.execPath, ...relayTo('--', ...COMMAND)];

  test('M3: mcp-remote', async () => {
    const { url } = await server();
    await expectThreeCalls(await overStdio(gateway('mcp-remote', await listeningRelay(url))));
  });

  test('M3: supergateway with sessions', async () => {
    const flags = ['--outputTransport', 'streamableHttp', '--port', '0', '--stateful'];
    await expectThreeCalls(
      await overHttp(await listeningGateway('supergateway', '--stdio', relay.join(' '), ...flags)),
    );
  });

  test('M3: mcp-proxy', async () => {
    await expectThreeCalls(
      await overHttp(await listeningGateway('mcp-proxy', '--port', '0', '--server', 'stream', '--', ...relay)),
    );
  });
});
