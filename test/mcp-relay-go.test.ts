/** `breakerbox mcp` before MCP servers in Go: of the official SDK and of mark3labs/mcp-go. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../packages/demo/src/child.ts';
import { goServers, NO_GO } from './go-programs.ts';
import { mcpRecorder } from './mcp-recorder.ts';
import { PATIENT, relayTo } from './mcp-relay-pipes.ts';

const recorder = mcpRecorder();

const connected = async (args: string[]) => {
  const capabilities = { roots: {}, sampling: {}, elicitation: {} };
  const client = new Client({ name: 'go-test', version: '0.0.0' }, { capabilities });
  client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [{ uri: 'file:///a' }] }));
  client.setRequestHandler(CreateMessageRequestSchema, async () => ({
    ...{ model: 'none', role: 'assistant' as const },
    content: { type: 'text' as const, text: 'sampled' },
  }));
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept' as const, content: {} }));
  onTestFinished(() => client.close());
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));
  await client.listTools();
  /** The text of a result, or of an error of JSON-RPC. */
  return async (name: string, input: Record<string, unknown> = {}): Promise<string> => {
    const { content } = (await client
      .callTool({ name, arguments: input })
      .catch((error: Error) => ({ content: [{ text: error.message }] }))) as { content: { text: string }[] };
    return content[0]?.text ?? '';
  };
};

/** A dead backend, and files that do not exist. */
const expectThreeCalls = async (call: Awaited<ReturnType<typeof connected>>): Promise<void> => {
  for (let n = 0; n < 6; n += 1)
    expect(await call('read_file', { text: `/no/such/file-${n}` })).toContain('no such file or directory');
  const texts: string[] = [];
  for (let n = 0; n < 6; n += 1) texts.push(await call('broken', { n }));
  expect(texts.filter((text) => text.includes('connect: connection refused'))).toHaveLength(3);
  expect(texts[5]).toMatch(/^Tool 'broken' is unavailable: the last calls failed \(network\)/);
  expect(await call('echo', { text: 'Grüße €' })).toBe('Grüße €');
};

describe.skipIf(NO_GO !== undefined)(`in Go${NO_GO === undefined ? '' : ` (${NO_GO})`}`, () => {
  let folder = '';
  beforeAll(async () => {
    folder = await goServers();
  }, 300_000);

  describe.each(['official', 'mark'])('a server of %s', (kind) => {
    const command = (): string => join(folder, kind);

    /** Behind HTTP, on a port that stays. */
    const listening = async (port: number) => {
      const child = spawn(command(), [`${port}`], { stdio: 'ignore' });
      onTestFinished(() => void child.kill('SIGKILL'));
      await expect
        .poll(async () => {
          const socket = connect(port, '127.0.0.1');
          const [event] = await Promise.race([
            once(socket, 'connect').then(() => ['connect']),
            new Promise<string[]>((resolve) => socket.once('error', () => resolve(['error']))),
          ]);
          socket.destroy();
          return event;
        }, PATIENT)
        .toBe('connect');
      return child;
    };

    test('M3, O2: a dead backend costs three calls in a row, and missing files nothing', async () => {
      await expectThreeCalls(await connected(relayTo('--', command())));
    });

    test('M7: a process that ends is started again', async () => {
      const call = await connected(relayTo('--restart', '--', command()));
      expect(await call('echo', { text: 'one' })).toBe('one');
      expect(await call('die')).toContain('breakerbox mcp starts it again');
      await expect.poll(() => call('echo', { text: 'back' }), PATIENT).toBe('back');
    });

    test('M1, M3: behind HTTP, and after it was started again', async () => {
      const port = await freePort();
      const first = await listening(port);
      const call = await connected(relayTo(`http://127.0.0.1:${port}/mcp`));
      await expectThreeCalls(call);
      first.kill('SIGKILL');
      await once(first, 'exit');
      await expect.poll(() => call('echo', { text: 'gone' }), PATIENT).toContain('is unavailable');
      await listening(port);
      // The stream that is opened again shows that the server is back.
      await expect.poll(() => call('echo', { text: 'back' }), PATIENT).toBe('back');
    });
  });

  test('M2, M6: the bytes are equal, with questions of the server during a call', async () => {
    const call = await connected(recorder.recordedCommand([], join(folder, 'official')));
    expect(await call('ask')).toBe('1 root, sampled, accept');
    expect(await call('echo', { text: 'Grüße €' })).toBe('Grüße €');
    recorder.expectEqualBytes();
  });
});
