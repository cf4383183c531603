/** The installed entry as a client starts it, as processes. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, onTestFinished, test } from 'vitest';

const MAIN = fileURLToPath(new URL('../../main.ts', import.meta.url));
const BREAKERBOX = ['--conditions=breakerbox-source', MAIN];
const EVERYTHING = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');

const folderOfTest = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-install-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

const breakerbox = (...args: readonly string[]) => promisify(execFile)(process.execPath, [...BREAKERBOX, ...args]);

/** Starts a server as an entry says, and calls a tool of it. */
const echoOf = async ({
  command,
  args,
  env = {},
}: {
  command: string;
  args: string[];
  env?: Record<string, string>;
}) => {
  const client = new Client({ name: 'install-test', version: '0.0.0' });
  const transport = new StdioClientTransport({
    command,
    args,
    env: { PATH: process.env.PATH ?? '', ...env },
    stderr: 'ignore',
  });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return client.callTool({ name: 'echo', arguments: { message: 'hello' } });
};

const hello = { content: [{ type: 'text', text: 'Echo: hello' }] };

test('M8: an installed entry starts the server through the relay, and uninstall gives the same bytes', async () => {
  const file = join(folderOfTest(), 'config.json');
  const source = `${JSON.stringify({ mcpServers: { all: { command: process.execPath, args: [EVERYTHING] } } })}\n`;
  writeFileSync(file, source);
  const flags = ['--client', 'claude-desktop', '--file', file, '--write'];
  await breakerbox('mcp', 'install', ...flags, '--launcher', 'node', '--', '--agent', 'desk');
  const { mcpServers } = JSON.parse(readFileSync(file, 'utf8'));
  expect(mcpServers.all).toEqual({
    command: process.execPath,
    args: [...BREAKERBOX, 'mcp', '--restart', '--agent', 'desk', '--', process.execPath, EVERYTHING],
  });
  expect(await echoOf(mcpServers.all)).toEqual(hello);
  const { stdout } = await breakerbox('mcp', 'uninstall', ...flags);
  expect(stdout).toContain('Written. The backup is removed.');
  expect(readFileSync(file, 'utf8')).toBe(source);
});

test('M8: behind -- a server whose command is install is started', async () => {
  const folder = folderOfTest();
  const command = join(folder, 'install');
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${EVERYTHING}'\n`);
  chmodSync(command, 0o755);
  const env = { PATH: `${folder}${delimiter}${process.env.PATH}` };
  expect(await echoOf({ command: process.execPath, args: [...BREAKERBOX, 'mcp', '--', 'install'], env })).toEqual(
    hello,
  );
});

test('M8: the help of breakerbox mcp names install and uninstall', async () => {
  const { stdout } = await breakerbox('mcp', '--help');
  expect(stdout).toContain('breakerbox mcp install --client <client>');
  expect(stdout).not.toContain('default: []');
  expect((await breakerbox('mcp', 'uninstall', '--help')).stdout).toContain('--client <client>');
});
