/** `breakerbox mcp` between MCP servers and clients in Python: both lines of the SDK, FastMCP, and reference servers. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../packages/demo/src/child.ts';
import { mcpRecorder } from './mcp-recorder.ts';
import { PATIENT, relayTo } from './mcp-relay-pipes.ts';
import { type Line, NO_PYTHON, type Python, pythonOf, pythonScript } from './python-programs.ts';

const SERVER = pythonScript('server.py');
const KINDS = [
  ['sdk1', 'sdk1'],
  ['sdk2', 'sdk2'],
  ['fastmcp', 'sdk1'],
] as const;

const recorder = mcpRecorder();

/** A client of a relay. `args` are those of Node. */
const connected = async (args: string[], env: Readonly<Record<string, string>> = {}) => {
  const client = new Client({ name: 'python-test', version: '0.0.0' });
  let changes = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changes += 1;
  });
  onTestFinished(() => client.close());
  const all = { ...(process.env as Record<string, string>), ...env };
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env: all, stderr: 'ignore' }));
  const tools = (await client.listTools()).tools.map(({ name }) => name);
  const call = async (name: string, input: Record<string, unknown> = {}): Promise<string> => {
    const { content } = (await client.callTool({ name, arguments: input })) as { content: { text?: string }[] };
    return content[0]?.text ?? '';
  };
  return { client, tools, call, changes: () => changes };
};

type Call = Awaited<ReturnType<typeof connected>>['call'];

const expectThreeCalls = async (call: Call): Promise<void> => {
  const texts: string[] = [];
  for (let n = 0; n < 8; n += 1) texts.push(await call('broken', { n }));
  expect(texts.filter((text) => text.includes('Connect call failed'))).toHaveLength(3);
  expect(texts.slice(3).every((text) => text.startsWith("Tool 'broken' is unavailable"))).toBe(true);
  expect(await call('echo', { text: 'works' })).toBe('works');
};

/** Calls that fail because of what they ask for: all of them reach the server. */
const expectAllReached = async (call: Call, tool: string, input: (n: number) => object): Promise<void> => {
  for (let n = 0; n < 6; n += 1) expect(await call(tool, { ...input(n) })).not.toContain('unavailable');
};

describe.skipIf(NO_PYTHON !== undefined)(`in Python${NO_PYTHON === undefined ? '' : ` (${NO_PYTHON})`}`, () => {
  let lines: Readonly<Record<Line, Python>>;
  beforeAll(async () => {
    lines = { sdk1: await pythonOf('sdk1'), sdk2: await pythonOf('sdk2') };
  }, 300_000);

  describe.each(KINDS)('a server of %s', (kind, line) => {
    /** Behind HTTP, on a port that stays. */
    const started = async (port: number): Promise<ChildProcess> => {
      const { command, env } = lines[line];
      const child = spawn(command, [SERVER, kind, `${port}`], {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      let said = '';
      child.stderr.on('data', (part) => {
        said += part;
      });
      await expect.poll(() => said, PATIENT).toMatch(/Uvicorn running/);
      return child;
    };

    test('M2, M3: bytes are equal, and a dead backend costs three calls in a row', async () => {
      const { command, env } = lines[line];
      const args = recorder.recordedCommand([], command, SERVER, kind);
      const plain = await connected(args, env);
      expect(plain.tools).toContain('broken');
      expect(await plain.call('echo', { text: 'Grüße €' })).toBe('Grüße €');
      await expectAllReached(plain.call, 'read_file', (n) => ({ path: `/no/such/file-${n}` }));
      recorder.expectEqualBytes();
      await expectThreeCalls(plain.call);
    });

    test('M7: a process that ends is started again, and the client hears of it', async () => {
      const { command, env } = lines[line];
      const { call, changes } = await connected(relayTo('--restart', '--', command, SERVER, kind), env);
      expect(await call('die')).toContain('breakerbox mcp starts it again');
      await expect.poll(changes, PATIENT).toBe(1);
      expect(await call('echo', { text: 'back' })).toBe('back');
    });

    test('M1: a server behind HTTP that was started again is met with a new session', async () => {
      const port = await freePort();
      const first = await started(port);
      const { call, changes } = await connected(relayTo(`http://127.0.0.1:${port}/mcp`));
      await expectThreeCalls(call);
      first.kill('SIGKILL');
      await once(first, 'exit');
      await started(port);
      expect(await call('echo', { text: 'back' })).toBe('back');
      expect(changes()).toBe(1);
    });
  });

  describe('reference servers', () => {
    const server = (name: string, ...args: string[]) =>
      connected(recorder.recordedCommand([], 'python3', '-m', `mcp_server_${name}`, ...args), lines.sdk1.env);

    test('O2: mcp-server-time: names of places that do not exist', async () => {
      const { call } = await server('time');
      expect(await call('get_current_time', { timezone: 'Europe/Berlin' })).toContain('Europe/Berlin');
      await expectAllReached(call, 'get_current_time', (n) => ({ timezone: `Mars/${n}` }));
      recorder.expectEqualBytes();
    });

    test('O2: mcp-server-git: folders that are no repositories', async () => {
      const repository = join(recorder.folder(), 'repository');
      mkdirSync(repository);
      await promisify(execFile)('git', ['init', '-q', repository]);
      const { call } = await server('git');
      expect(await call('git_status', { repo_path: repository })).toContain('On branch');
      await expectAllReached(call, 'git_status', (n) => ({ repo_path: join(recorder.folder(), `no-${n}`) }));
      recorder.expectEqualBytes();
    });

    test('C14: mcp-server-fetch: a site that is down concerns no other site', async () => {
      const page = '<html><body><article><h1>hi</h1><p>a page with words</p></article></body></html>';
      const site = createServer(({ url = '' }, response) => {
        const status = Number(/^\/(\d{3})/.exec(url)?.[1] ?? 200);
        response.writeHead(status, { 'content-type': 'text/html' }).end(page);
      });
      await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => void site.close());
      const { port } = site.address() as AddressInfo;
      const { call } = await server('fetch', '--ignore-robots-txt', '--allow-private-ips');
      const urls = [
        ...[0, 1, 2, 3].map((n) => `http://127.0.0.1:${port}/503/${n}`),
        ...[0, 1, 2, 3].map((n) => `http://localhost:${port}/404/${n}`),
        `http://localhost:${port}/`,
      ];
      const texts: string[] = [];
      for (const url of urls) texts.push(await call('fetch', { url, raw: true }));
      expect(texts.slice(0, 3).every((text) => text.includes('status code 503'))).toBe(true);
      expect(texts[3]).toContain('unavailable for this target');
      expect(texts.slice(4, 8).every((text) => text.includes('status code 404'))).toBe(true);
      expect(texts[8]).toContain('a page with words');
    });
  });

  describe.each(['sdk1', 'sdk2'] as const)('a client of %s', (line) => {
    const asked = async (seconds: number, tool: string, count: number): Promise<string[]> => {
      const { command, env } = lines[line];
      const relay = relayTo('--', command, SERVER, line);
      const args = [pythonScript('client.py'), `${seconds}`, tool, `${count}`, process.execPath, ...relay];
      const { stdout } = await promisify(execFile)(command, args, { env: { ...process.env, ...env } });
      return stdout
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text));
    };

    test('M3: a dead backend costs three calls in a row', async () => {
      const texts = await asked(30, 'broken', 6);
      expect(texts.filter((text) => text.includes('Connect call failed'))).toHaveLength(3);
      expect(texts[4]).toMatch(/^Tool 'broken' is unavailable/);
      expect(texts[6]).toBe('works');
    });

    test('M6: a tool that is slow for a client is unavailable only if the client says that its time was over', async () => {
      const texts = await asked(2, 'slow', 5);
      // The first line of the SDK says nothing at all, and the server answers pings.
      expect(texts.filter((text) => text.includes('unavailable'))).toHaveLength(line === 'sdk1' ? 0 : 2);
      expect(texts[5]).toBe('works');
    });
  });
});
