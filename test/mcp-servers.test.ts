/**
 * Real MCP servers from npm over stdio that are killed, hang, and restart. Tests beside the guard's source cover its results. Here the
 * servers themselves fail and recover.
 */
import { join } from 'node:path';
import { guardMcpClient } from '@breakerbox/instrumentation/mcp';
import { afterEach, describe, expect, test } from 'vitest';
import { type NpmServer, sdks } from '../packages/instrumentation/src/test-support/mcp-servers.ts';
import { watchedSession } from '../packages/instrumentation/src/test-support/watched-session.ts';
import {
  closeAll,
  connect,
  EVERYTHING,
  echo,
  hang,
  hello,
  kill,
  long,
  neighbour,
  newFolder,
  notes,
  skipped,
  skippedWith,
  stateOf,
  sum,
  textOf,
  turns,
  underWay,
} from './mcp-processes.ts';

afterEach(closeAll);

const everything: NpmServer = { name: 'everything', args: ['stdio'] };

describe.each(Object.entries(sdks))('with %s over stdio', (_, sdk) => {
  test('C13: a server that is killed during a call opens its group at once, and one probe closes it', async () => {
    const { box, session, outcomes } = watchedSession();
    const reasons: string[] = [];
    box.on('decision', ({ tool, decision, reason }) => reasons.push(`${tool}: ${decision}, ${reason}`));
    const { client, pid, restart } = await connect(sdk, everything);
    const guarded = guardMcpClient(client, session);
    const othersGoOn = await neighbour(sdk, session);
    const { tools } = await guarded.listTools();

    const { call } = await underWay(sdk, guarded);
    process.kill(pid, 'SIGKILL');
    await expect(call).rejects.toThrow('Connection closed');
    expect(stateOf(session, EVERYTHING)).toBe('open');
    expect(outcomes).toEqual([`${long}: failure, network`]);
    for (const { name } of tools) {
      expect(await guarded.callTool({ name, arguments: {} })).toEqual(skippedWith(name, EVERYTHING));
    }
    expect(reasons.splice(0).slice(1)).toEqual(tools.map(({ name }) => `${name}: skip, group_open`));
    await othersGoOn();

    await restart();
    turns(session);
    expect(await guarded.callTool(echo)).toEqual(hello);
    expect(stateOf(session, EVERYTHING)).toBe('closed');
    expect(textOf(await guarded.callTool(sum))).toContain('3');
    expect(reasons.filter((one) => !one.startsWith('files.'))).toEqual([
      'echo: probe, group_probe_due',
      'get-sum: call, closed',
    ]);
    await othersGoOn();
  });

  test('C13: a server that dies before its tools are listed also opens its group', async () => {
    const { session } = watchedSession();
    const { client, pid } = await connect(sdk, everything);
    const guarded = guardMcpClient(client, session);
    await kill(pid);
    await expect(guarded.callTool(echo)).rejects.toThrow();
    expect(await guarded.callTool(echo)).toEqual(skippedWith('echo', EVERYTHING));
  });

  test('C13: closing the client opens no group, and calls under way cost nothing', async () => {
    const { session, outcomes } = watchedSession();
    const { client } = await connect(sdk, everything);
    const guarded = guardMcpClient(client, session);
    const { call } = await underWay(sdk, guarded);
    const closed = expect(call).rejects.toThrow('Connection closed');
    await client.close();
    await closed;
    expect(outcomes).toEqual([`${long}: ignored, cancelled`]);
    expect(stateOf(session, EVERYTHING)).not.toBe('open');
  });

  test('calls to a server that hangs time out, by us or by the SDK, and it is used again once it continues', async () => {
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

  test('C15: a probe of a server that is still down opens its group again, and costs nothing', async () => {
    const { session, decisions, outcomes } = watchedSession();
    const { client, pid, restart } = await connect(sdk, everything);
    const guarded = guardMcpClient(client, session, { tools: ['echo', 'get-sum'] });
    await kill(pid);
    await expect(guarded.callTool(echo)).rejects.toThrow('Not connected');
    turns(session);
    await expect(guarded.callTool(sum)).rejects.toThrow('Not connected');
    expect(await guarded.callTool(echo)).toEqual(skippedWith('echo', EVERYTHING));
    const { limit, remaining } = session.view().budget;
    expect(limit - remaining).toBe(1);
    await restart();
    turns(session);
    expect(await guarded.callTool(echo)).toEqual(hello);
    expect(decisions).toEqual(['echo: call', 'get-sum: probe', 'echo: skip', 'echo: probe']);
    expect(outcomes).toEqual(['echo: failure, network', 'get-sum: failure, network', 'echo: success']);
    expect(stateOf(session, EVERYTHING)).toBe('closed');
  });

  test('the filesystem server, killed between calls and started again, reads the same file', async () => {
    const { session, decisions } = watchedSession();
    const { read, pid, restart } = await notes(sdk, session);
    expect(textOf(await read())).toBe('remember the milk');
    await kill(pid);
    await expect(read()).rejects.toThrow();
    expect(await read()).toEqual(skippedWith('files.read_text_file', 'files'));
    await restart();
    turns(session);
    expect(textOf(await read())).toBe('remember the milk');
    expect(decisions.slice(-2)).toEqual(['files.read_text_file: skip', 'files.read_text_file: probe']);
    expect(stateOf(session, 'files')).toBe('closed');
  });

  test('the probe reads back what the memory server wrote before it was killed', async () => {
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
    await expect(read()).rejects.toThrow();
    expect(await read()).toMatchObject(skippedWith('memory.read_graph', 'memory'));

    await restart();
    turns(session);
    expect(await read()).toMatchObject(graph);
    expect(stateOf(session, 'memory')).toBe('closed');
    expect(outcomes).toEqual([
      'memory.create_entities: success',
      'memory.read_graph: success',
      'memory.read_graph: failure, network',
      'memory.read_graph: success',
    ]);
  });
});
