/** A real MCP server from npm over streamable HTTP: killed, hung, started again on its port. */
import { guardMcpClient } from '@breakerbox/instrumentation/mcp';
import { afterEach, describe, expect, test } from 'vitest';
import { sdks } from '../packages/instrumentation/src/test-support/mcp-servers.ts';
import { watchedSession } from '../packages/instrumentation/src/test-support/watched-session.ts';
import {
  closeAll,
  connectTo,
  echo,
  hang,
  hello,
  kill,
  long,
  neighbour,
  serve,
  skipped,
  turns,
  underWay,
} from './mcp-processes.ts';

afterEach(closeAll);

describe.each(Object.entries(sdks))('with %s over streamable HTTP', (_, sdk) => {
  test('a server that is killed is out; restarted on its port it wants a new session, and with that is used again', async () => {
    const { session, outcomes, decisions } = watchedSession({ budget: { failures: 9 } });
    const { pid, port, url } = await serve();
    const { client, reconnect } = await connectTo(sdk, url);
    const othersGoOn = await neighbour(sdk, session);
    const guarded = guardMcpClient(client, session);
    expect(await guarded.callTool(echo)).toEqual(hello);

    await kill(pid);
    for (let call = 0; call < 3; call += 1) await expect(guarded.callTool(echo)).rejects.toThrow('fetch failed');
    expect(await guarded.callTool(echo)).toEqual(skipped('echo', 'network'));
    await othersGoOn();

    await serve(port);
    turns(session);
    await expect(guarded.callTool(echo)).rejects.toThrow('No valid session ID');
    expect(session.peek('echo')).toMatchObject({ state: 'open', category: 'server' });

    await reconnect();
    turns(session);
    expect(await guarded.callTool(echo)).toEqual(hello);
    expect(session.peek('echo')?.state).toBe('closed');
    const own = (one: string): boolean => one.startsWith('echo');
    expect(decisions.filter(own).slice(4)).toEqual(['echo: skip', 'echo: probe', 'echo: probe']);
    expect(outcomes.filter(own)).toEqual([
      'echo: success',
      ...Array(3).fill('echo: failure, network'),
      'echo: failure, server',
      'echo: success',
    ]);
  });

  test('of a server that is killed in the middle of a call, our time-out alone tells', async () => {
    const { session, outcomes } = watchedSession();
    const { pid, url } = await serve();
    const { client } = await connectTo(sdk, url);
    const guarded = guardMcpClient(client, session, { timeoutMs: 1_000 });
    const { call } = await underWay(sdk, guarded);
    process.kill(pid, 'SIGKILL');
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(outcomes).toEqual([`${long}: failure, timeout`]);
  });

  test('a server that hangs is timed out, and is used again once it goes on', async () => {
    const { session, outcomes, decisions } = watchedSession();
    const { pid, url } = await serve();
    const { client } = await connectTo(sdk, url);
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
    await othersGoOn();

    process.kill(pid, 'SIGCONT');
    turns(session);
    expect(await unbounded.callTool(echo)).toEqual(hello);
    expect(decisions.slice(-1)).toEqual(['echo: probe']);
    expect(session.peek('echo')?.state).toBe('closed');
    expect(outcomes.slice(0, 3)).toEqual(Array(3).fill('echo: failure, timeout'));
  });
});
