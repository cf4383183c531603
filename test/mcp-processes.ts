/** Real MCP servers from npm, as processes that tests kill, stop and start again. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Session } from '@breakerbox/core';
import { guardMcpClient } from '@breakerbox/instrumentation/mcp';
import { expect } from 'vitest';
import {
  type NpmServer,
  type Sdk,
  startHttpServer,
  type TestClient,
} from '../packages/instrumentation/src/test-support/mcp-servers.ts';

const undo: (() => unknown)[] = [];
const pids: number[] = [];

/** Time limit for a process to end on a busy machine, in milliseconds. */
const PATIENT = { timeout: 30_000 };

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

export const kill = async (pid: number): Promise<void> => {
  if (isRunning(pid)) process.kill(pid, 'SIGKILL');
  await expect.poll(() => isRunning(pid), PATIENT).toBe(false);
};

/** The server hangs until it gets SIGCONT, at the latest at the end of the test. */
export const hang = (pid: number): void => {
  process.kill(pid, 'SIGSTOP');
  undo.push(() => isRunning(pid) && process.kill(pid, 'SIGCONT'));
};

/** For `afterEach`: closes everything that a test opened. A closed client ends its server, so nothing keeps running. */
export const closeAll = async (): Promise<void> => {
  for (const step of undo.splice(0).toReversed()) await step();
  for (const pid of pids.splice(0)) await expect.poll(() => isRunning(pid), PATIENT).toBe(false);
};

export const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'breakerbox-'));
  undo.push(() => rm(folder, { recursive: true }));
  return folder;
};

/** Starts a server and connects to it over stdio. `restart` does so again once the server is gone. */
export const connect = async (sdk: Sdk, server: NpmServer) => {
  const { client, start } = sdk.create();
  undo.push(() => client.close());
  const restart = async (): Promise<number> => {
    const pid = await start(server);
    pids.push(pid);
    return pid;
  };
  return { client, pid: await restart(), restart };
};

/** Starts the everything server on streamable HTTP. */
export const serve = async (port?: number) => {
  const server = await startHttpServer(port);
  pids.push(server.pid);
  undo.push(() => kill(server.pid));
  return server;
};

/** Connects to it. `reconnect` is what an agent does if the server has forgotten its session. */
export const connectTo = async (sdk: Sdk, url: string) => {
  const { client, join } = sdk.create();
  undo.push(() => client.close());
  await join(url);
  const reconnect = async (): Promise<void> => {
    await client.close();
    await join(url);
  };
  return { client, reconnect };
};

/** The filesystem server with a note to read through a guard. */
export const notes = async (sdk: Sdk, session: Session) => {
  const folder = await newFolder();
  const path = join(folder, 'notes.md');
  await writeFile(path, 'remember the milk');
  const { client, ...server } = await connect(sdk, { name: 'filesystem', args: [folder] });
  const guarded = guardMcpClient(client, session, { prefix: 'files.' });
  return { ...server, read: () => guarded.callTool({ name: 'read_text_file', arguments: { path } }) };
};

/** A healthy server on the same session. The returned function checks that its tool still works. */
export const neighbour = async (sdk: Sdk, session: Session) => {
  const { read } = await notes(sdk, session);
  return async (): Promise<void> => expect(textOf(await read())).toBe('remember the milk');
};

export const echo = { name: 'echo', arguments: { message: 'hello' } };
export const hello = { content: [{ type: 'text', text: 'Echo: hello' }] };
export const sum = { name: 'get-sum', arguments: { a: 1, b: 2 } };
export const long = 'trigger-long-running-operation';
/** The everything server's own name. */
export const EVERYTHING = 'mcp-servers/everything';

/** A call that is under way: the server has reported its progress. */
export const underWay = async (sdk: Sdk, client: TestClient): Promise<{ readonly call: Promise<unknown> }> => {
  let counted = (): void => {};
  const progress = new Promise<void>((resolve) => (counted = resolve));
  const operation = { name: long, arguments: { duration: 600, steps: 60_000 } };
  const call = client.callTool(operation, ...sdk.withOptions({ onprogress: counted }));
  await Promise.race([progress, call]);
  return { call };
};

export const textOf = ({ content }: { content: unknown }): string =>
  (content as readonly { text: string }[]).map(({ text }) => text).join('\n');

const rejection = (text: string) => ({
  isError: true,
  content: [{ type: 'text', text: expect.stringContaining(`${text}. Do not call it now`) }],
});

/** What the model reads about an unavailable tool. */
export const skipped = (tool: string, category: string) =>
  rejection(`Tool '${tool}' is unavailable: the last calls failed (${category})`);

/** What the model reads about a tool whose server is unavailable. */
export const skippedWith = (tool: string, server: string) =>
  rejection(`Tool '${tool}' is unavailable: the tools of group '${server}' failed (network)`);

/** The state of a server's circuit. */
export const stateOf = (session: Session, server: string) =>
  session.view().circuits.find(({ tool }) => tool === `group:${server}`)?.state;

/** Turns of the agent until a probe is due. */
export const turns = (session: Session): void => {
  for (let turn = 0; turn < 3; turn += 1) session.step();
};
