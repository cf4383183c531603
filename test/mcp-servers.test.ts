/**
 * Real MCP servers from npm over stdio: killed, hung, started again. What a guard makes of their results is tested beside its
 * source; here the servers themselves go out and come back.
 */
import { join } from 'node:path';
import { guardMcpClient } from '@breakerbox/instrumentation/mcp';
import { afterEach, describe, expect, test } from 'vitest';
import { type NpmServer, sdks } from '../packages/instrumentation/src/test-support/mcp-servers.ts';
import { watchedSession } from '../packages/instrumentation/src/test-support/watched-session.ts';
import {
  closeAll,
  connect,
  echo,
  hang,
  hello,
  kill,
  long,
  neighbour,
  newFolder,
  notes,
  skipped,
  textOf,
  turns,
  underWay,
} from './mcp-processes.ts';

afterEach(closeAll);

const everything: NpmServer = { name: 'everything', args: ['stdio'] };

describe.each(Object.entries(sdks))('with %s over stdio', (_, sdk) => {
  test('a server that is killed in the middle of a call is out, the others go on, and it is used again once it is back', async () => {
    const { session, outcomes, decisions } = watchedSession();
    const { client, pid, restart } = await connect(sdk, everything);
    const guarded = guardMcpClient(client, session);
    const othersGoOn = await neighbour(sdk, session);
    const operate = (duration: number) => guarded.callTool({ name: long, arguments: { duration, steps: 1 } });

    const { call } = await underWay(sdk, guarded);
    process.kill(pid, 'SIGKILL');
    await expect(call).rejects.toThrow('Connection closed');
    for (let again = 0; again < 2; again += 1) await expect(operate(600 + again)).rejects.toThrow('Not connected');

    expect(await operate(0)).toEqual(skipped(long, 'network'));
    expect(session.peek(long)).toMatchObject({ state: 'open', category: 'network' });
    expect(outcomes).toEqual(Array(3).fill(`${long}: failure, network`));
    await othersGoOn();

    await restart();
    turns(session);
    expect(textOf(await operate(0))).toContain('completed');
    expect(decisions.slice(-1)).toEqual([`${long}: probe`]);
    expect(session.peek(long)?.state).toBe('closed');
    await othersGoOn();
  });

  test('a server that died before anybody listed its tools opens circuits all the same', async () => {
    const { session } = watchedSession();
    const { client, pid } = await connect(sdk, everything);
    const guarded = guardMcpClient(client, session);
    await kill(pid);
    for (let call = 0; call < 3; call += 1) await expect(guarded.callTool(echo)).rejects.toThrow();
    expect(await guarded.callTool(echo)).toEqual(skipped('echo', 'network'));
  });

  test('a server that hangs is timed out, by us and by the SDK, and is used again once it goes on', async () => {
    const { session, outcomes, decisions } = watchedSession();
    const { client, pid } = await connect(sdk, everything);
    const othersGoOn = await neighbour(sdk, session);
    const guarded = guardMcpClient(client, session, { timeoutMs: 50 });
    const unbounded = guardMcpClient(client, session);
    await guarded.listTools();

    hang(pid);
    for (let call = 0; call < 2; call += 1) {
      await expect(guarded.callTool(echo)).rejects.toMatchObject({ name: 'TimeoutError' });
    }
    await expect(unbounded.callTool(echo, ...sdk.withOptions({ timeout: 50 }))).rejects.toThrow('Request timed out');
    expect(await guarded.callTool(echo)).toEqual(skipped('echo', 'timeout'));
    expect(outcomes).toEqual(Array(3).fill('echo: failure, timeout'));
    await othersGoOn();

    process.kill(pid, 'SIGCONT');
    turns(session);
    expect(await unbounded.callTool(echo)).toEqual(hello);
    expect(decisions.slice(-1)).toEqual(['echo: probe']);
    expect(session.peek('echo')?.state).toBe('closed');
  });

  test('a probe of a server that is still out opens the circuit again', async () => {
    const { session, decisions, outcomes } = watchedSession();
    const { client, pid, restart } = await connect(sdk, everything);
    const guarded = guardMcpClient(client, session, { tools: ['echo'] });
    await kill(pid);
    for (let call = 0; call < 3; call += 1) await expect(guarded.callTool(echo)).rejects.toThrow();
    turns(session);
    await expect(guarded.callTool({ ...echo, arguments: { message: 'anybody?' } })).rejects.toThrow('Not connected');
    expect(await guarded.callTool(echo)).toEqual(skipped('echo', 'network'));
    await restart();
    turns(session);
    expect(await guarded.callTool(echo)).toEqual(hello);
    expect(decisions.slice(3)).toEqual(['echo: probe', 'echo: skip', 'echo: probe']);
    expect(outcomes).toEqual([...Array(4).fill('echo: failure, network'), 'echo: success']);
  });

  test('the filesystem server, killed between calls and started again, reads the same file', async () => {
    const { session, decisions } = watchedSession();
    const { read, pid, restart } = await notes(sdk, session);
    expect(textOf(await read())).toBe('remember the milk');
    await kill(pid);
    for (let call = 0; call < 3; call += 1) await expect(read()).rejects.toThrow();
    expect(await read()).toEqual(skipped('files.read_text_file', 'network'));
    await restart();
    turns(session);
    expect(textOf(await read())).toBe('remember the milk');
    expect(decisions.slice(-2)).toEqual(['files.read_text_file: skip', 'files.read_text_file: probe']);
    expect(session.peek('files.read_text_file')?.state).toBe('closed');
  });

  test('what the memory server wrote before it was killed is read back by the probe', async () => {
    const file = join(await newFolder(), 'memory.jsonl');
    const { session, outcomes } = watchedSession();
    const { client, pid, restart } = await connect(sdk, { name: 'memory', env: { MEMORY_FILE_PATH: file } });
    const guarded = guardMcpClient(client, session, { prefix: 'memory.', timeoutMs: 20_000 });
    const read = () => guarded.callTool({ name: 'read_graph', arguments: {} });
    const milk = { name: 'milk', entityType: 'food', observations: ['runs out'] };
    const graph = { structuredContent: { entities: [milk], relations: [] } };

    await guarded.callTool({ name: 'create_entities', arguments: { entities: [milk] } });
    expect(await read()).toMatchObject(graph);
    await kill(pid);
    for (let call = 0; call < 3; call += 1) await expect(read()).rejects.toThrow();
    expect(await read()).toMatchObject(skipped('memory.read_graph', 'network'));

    await restart();
    turns(session);
    expect(await read()).toMatchObject(graph);
    expect(session.peek('memory.read_graph')?.state).toBe('closed');
    expect(outcomes).toEqual([
      'memory.create_entities: success',
      'memory.read_graph: success',
      ...Array(3).fill('memory.read_graph: failure, network'),
      'memory.read_graph: success',
    ]);
  });
});
