/** MCP clients of both major versions of the SDK, with servers that run as processes over stdio. */
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Session } from '@breakerbox/core';
import { Client as ClientOfSdk2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioOfSdk2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientOfSdk1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioOfSdk1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { onTestFinished } from 'vitest';
import type { TestClient } from '../../packages/instrumentation/src/test-support/mcp-servers.ts';
import { type Watched, watchedSession } from '../../packages/instrumentation/src/test-support/watched-session.ts';
import { kill } from '../mcp-processes.ts';

/** The program of a server. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

interface Started {
  readonly client: TestClient;
  /** Starts the server and connects to it. A second call does so again after the connection is closed. Returns the pid. */
  start(program: Program): Promise<number>;
}

const who = { name: 'breakerbox-test', version: '0.0.0' };
const resolver = createRequire(import.meta.url);

const parameters = ({ command, args, env = {}, cwd }: Program) => ({
  command,
  args: [...args],
  env: { PATH: process.env.PATH ?? '', TMPDIR: tmpdir(), ...env },
  stderr: 'ignore' as const,
  ...(cwd !== undefined && { cwd }),
});

const pidOf = ({ pid }: { readonly pid: number | null }): number => {
  if (pid === null) throw new Error('The MCP server did not start.');
  return pid;
};

/** The client of each major version. */
export const sdks: Readonly<Record<'SDK 1' | 'SDK 2', () => Started>> = {
  'SDK 1': () => {
    const client = new ClientOfSdk1(who);
    const start = async (program: Program): Promise<number> => {
      const transport = new StdioOfSdk1(parameters(program));
      await client.connect(transport);
      return pidOf(transport);
    };
    return { client: client as TestClient, start };
  },
  'SDK 2': () => {
    const client = new ClientOfSdk2(who);
    const start = async (program: Program): Promise<number> => {
      const transport = new StdioOfSdk2(parameters(program));
      await client.connect(transport);
      return pidOf(transport);
    };
    return { client: client as TestClient, start };
  },
};

/** Connects to a server until the test ends. `restart` ends the server if it still runs, and starts it again. */
export const connect = async (create: () => Started, program: Program) => {
  const { client, start } = create();
  let pid = await start(program);
  const end = async (): Promise<void> => {
    await kill(pid);
    await client.close();
  };
  onTestFinished(end);
  const restart = async (next: Program = program): Promise<void> => {
    await end();
    pid = await start(next);
  };
  return { client, pid, restart };
};

/** The script that a package names in its `bin`. */
export const scriptOf = (name: string): string => {
  const manifest = resolver.resolve(`${name}/package.json`);
  const { bin } = resolver(manifest) as { bin: Readonly<Record<string, string>> };
  return join(dirname(manifest), Object.values(bin)[0] ?? 'has no bin');
};

/** The tests' own server. The file describes its variables. */
export const ownServer = (env: Readonly<Record<string, string>> = {}): Program => ({
  command: process.execPath,
  args: [fileURLToPath(new URL('server.ts', import.meta.url))],
  env,
});

/** A temporary folder until the test ends. */
export const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'breakerbox-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** A session on a clock that does not move, and the decisions of its calls with their reasons, such as `search: skip, open`. */
export const watched = (): Watched & { readonly reasons: readonly string[] } => {
  const made = watchedSession();
  const reasons: string[] = [];
  made.box.on('decision', ({ tool, decision, reason }) => reasons.push(`${tool}: ${decision}, ${reason}`));
  return { ...made, reasons };
};

/** How many failures were charged to the session. */
export const spent = (session: Session): number => {
  const { limit, remaining } = session.view().budget;
  return limit - remaining;
};
