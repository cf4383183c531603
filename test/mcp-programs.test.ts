/** Real servers and real clients, with a recorder of the bytes on each side of the relay. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { query } from '@anthropic-ai/claude-agent-sdk';
import { scriptedModel } from '@breakerbox/scripted-models/claude-agent';
import { Client as ClientOfSdk2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioOfSdk2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientOfSdk1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioOfSdk1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { mcpRecorder } from './mcp-recorder.ts';
import { startServer } from './mcp-server-process.ts';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const npm = (name: string): string => path(`node_modules/@modelcontextprotocol/${name}`);
const BROKEN = path('mcp-relay-server.mjs');
const who = { name: 'relay-test', version: '0.0.0' };

const recorder = mcpRecorder();
const { recorded, extra, expectEqualBytes } = recorder;

interface Called {
  call(name: string, input: Record<string, unknown>): Promise<{ content: { text?: string }[]; isError?: boolean }>;
  tools(): Promise<string[]>;
  close(): Promise<void>;
}

const CLIENTS: Record<string, (args: string[], env?: Record<string, string>) => Promise<Called>> = {
  'SDK 1': async (args, env = {}) => {
    const client = new ClientOfSdk1(who);
    await client.connect(new StdioOfSdk1({ command: process.execPath, args, env, stderr: 'ignore' }));
    return {
      call: (name, input) => client.callTool({ name, arguments: input }) as never,
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
      close: () => client.close(),
    };
  },
  'SDK 2': async (args, env = {}) => {
    const client = new ClientOfSdk2(who);
    await client.connect(new StdioOfSdk2({ command: process.execPath, args, env, stderr: 'ignore' }));
    return {
      call: (name, input) => client.callTool({ name, arguments: input }) as never,
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
      close: () => client.close(),
    };
  },
};

describe.each(Object.entries(CLIENTS))('with %s, the bytes are equal on both sides', (_, connect) => {
  test('M2: filesystem', async () => {
    writeFileSync(join(recorder.folder(), 'note.md'), 'remember the milk €');
    const client = await connect(recorded(npm('server-filesystem/dist/index.js'), recorder.folder()));
    expect(await client.tools()).toContain('read_text_file');
    const { content } = await client.call('read_text_file', { path: join(recorder.folder(), 'note.md') });
    expect(content[0]?.text).toBe('remember the milk €');
    for (let n = 0; n < 10; n += 1)
      expect(
        (await client.call('read_text_file', { path: join(recorder.folder(), `no-${n}`) })).content[0]?.text,
      ).toContain('ENOENT');
    await client.close();
    expectEqualBytes();
  });

  test('M2: memory', async () => {
    const client = await connect(recorded(npm('server-memory/dist/index.js')), {
      MEMORY_FILE_PATH: join(recorder.folder(), 'memory.jsonl'),
    });
    await client.tools();
    await client.call('create_entities', {
      entities: [{ name: 'Ada', entityType: 'person', observations: ['wrote'] }],
    });
    expect((await client.call('read_graph', {})).content[0]?.text).toContain('Ada');
    await client.close();
    expectEqualBytes();
  });

  test('M2: everything', async () => {
    const client = await connect(recorded(npm('server-everything/dist/index.js'), 'stdio'));
    await client.tools();
    expect((await client.call('echo', { message: 'hello' })).content[0]?.text).toBe('Echo: hello');
    expect((await client.call('get-sum', { a: 1, b: 2 })).content[0]?.text).toContain('3');
    await client.close();
    expectEqualBytes();
  });

  test('a dead backend: the rejections alone differ', async () => {
    const client = await connect(recorded(BROKEN));
    await client.tools();
    for (let n = 0; n < 8; n += 1) await client.call('broken', { n });
    await client.close();
    expect(extra('in')).toHaveLength(5);
    expect(extra('in').every((line) => JSON.parse(line).params.name === 'broken')).toBe(true);
    expect(extra('out')).toHaveLength(5);
    expect(extra('out').every((line) => JSON.parse(line).result.isError === true)).toBe(true);
  });
});

/** A server behind HTTP until the test ends, and the arguments of Node for a relay to it. */
const behindHttp = async (script: string) => {
  const { url, kill } = await startServer(script);
  onTestFinished(kill);
  return { url, args: ['--conditions=breakerbox-source', path('../packages/cli/src/main.ts'), 'mcp', url] };
};

describe('M1: the Inspector on the command line', () => {
  const inspect = async (...args: string[]): Promise<string> => {
    const inspector = npm('inspector/clients/launcher/build/index.js');
    const run = promisify(execFile);
    const options = { env: { ...process.env, HOME: recorder.folder() }, cwd: recorder.folder() };
    const { stdout } = await run(process.execPath, [inspector, '--cli', ...args, '--method', 'tools/list'], options);
    return stdout;
  };
  /** A launcher, because the Inspector would read the relay's options as its own. */
  const launched = (args: readonly string[]): string => {
    const launcher = join(recorder.folder(), 'launcher.mjs');
    writeFileSync(
      launcher,
      `import { spawn } from 'node:child_process';
      spawn(process.execPath, ${JSON.stringify(args)}, { stdio: 'inherit' }).on('exit', (code) => process.exit(code ?? 1));`,
    );
    return launcher;
  };

  test('M1: before a command', async () => {
    const direct = await inspect(process.execPath, npm('server-everything/dist/index.js'), 'stdio');
    expect(JSON.parse(direct).tools.length).toBeGreaterThan(5);
    const launcher = launched(recorded(npm('server-everything/dist/index.js'), 'stdio'));
    expect(await inspect(process.execPath, launcher)).toBe(direct);
    expectEqualBytes();
  });

  test('M1: before an address', async () => {
    const { url, args } = await behindHttp(npm('server-everything/dist/index.js'));
    const direct = await inspect(url, '--transport', 'http');
    expect(JSON.parse(direct).tools.length).toBeGreaterThan(5);
    expect(await inspect(process.execPath, launched(args))).toBe(direct);
  });
});

describe('M1, M4: Claude Code calls a dead tool three times, and its model reads what to do instead', () => {
  const tool = 'mcp__db__broken';

  const expectThreeCalls = async (args: string[]): Promise<void> => {
    const script = Array.from({ length: 6 }, (_, n) => [{ tool, input: { n } }]);
    const claude = await scriptedModel([...script, [{ tool: 'mcp__db__echo', input: { text: 'works' } }], 'Done.']);
    onTestFinished(() => claude.stop());
    const running = query({
      prompt: 'Go.',
      options: {
        ...claude.options,
        allowedTools: [tool, 'mcp__db__echo'],
        mcpServers: { db: { command: process.execPath, args } },
      },
    });
    for await (const _ of running);
    const heard = claude.heard();
    expect(heard.filter((text) => text.includes('ECONNREFUSED'))).toHaveLength(3);
    expect(heard.slice(3, 6)).toEqual(
      Array(3).fill(
        expect.stringMatching(/^Tool 'broken' is unavailable: the last calls failed \(network\)\. Do not call it now/),
      ),
    );
    expect(heard[6]).toBe('works');
  };

  test('M1, M4: behind a command', async () => {
    await expectThreeCalls(recorded(BROKEN));
    expect(extra('in')).toHaveLength(3);
  });

  test('M1, M4: behind an address', async () => {
    await expectThreeCalls((await behindHttp(BROKEN)).args);
  });
});
