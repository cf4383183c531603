/** A real MCP server from npm over streamable HTTP that is killed, hangs, and restarts on its port. */
import { guardMcpClient } from '@breakerbox/instrumentation/mcp';
import { afterEach, describe, expect, test } from 'vitest';
import { sdks } from '../packages/instrumentation/src/test-support/mcp-servers.ts';
import { watchedSession } from '../packages/instrumentation/src/test-support/watched-session.ts';
import {
  closeAll,
  connectTo,
  EVERYTHING,
  echo,
  hello,
  kill,
  long,
  neighbour,
  serve,
  skipped,
  skippedWith,
  stateOf,
  sum,
  turns,
  underWay,
} from './mcp-processes.ts';

afterEach(closeAll);

describe.each(Object.entries(sdks))('with %s over streamable HTTP', (_, sdk) => {
  test('C13: a killed server opens its group when two tools have failed, and one probe closes it with a new session', async () => {
    const { session, outcomes, decisions } = watchedSession();
    const { pid, port, url } = await serve();
    const { client, reconnect } = await connectTo(sdk, url);
    const othersGoOn = await neighbour(sdk, session);
    const guarded = guardMcpClient(client, session);
    expect(await guarded.callTool(echo)).toEqual(hello);

    await kill(pid);
    for (const call of [echo, sum, echo]) await expect(guarded.callTool(call)).rejects.toThrow('fetch failed');
    expect(stateOf(session, EVERYTHING)).toBe('open');
    expect(await guarded.callTool({ name: long })).toEqual(skippedWith(long, EVERYTHING));
    await othersGoOn();

    await serve(port);
    turns(session);
    await expect(guarded.callTool(echo)).rejects.toThrow('No valid session ID');
    expect(stateOf(session, EVERYTHING)).toBe('open');

    await reconnect();
    turns(session);
    expect(await guarded.callTool(sum)).toMatchObject({ content: [{ text: expect.stringContaining('3') }] });
    expect(stateOf(session, EVERYTHING)).toBe('closed');
    expect(await guarded.callTool(echo)).toEqual(hello);
    const own = (one: string): boolean => !one.startsWith('files.');
    expect(decisions.filter(own).slice(4)).toEqual([`${long}: skip`, 'echo: probe', 'get-sum: probe', 'echo: call']);
    expect(outcomes.filter(own)).toEqual([
      'echo: success',
      'echo: failure, network',
      'get-sum: failure, network',
      'echo: failure, network',
      'echo: failure, server',
      'get-sum: success',
      'echo: success',
    ]);
  });

  test('a tool of a killed server is skipped after three failures, if the agent calls no other tool', async () => {
    const { session } = watchedSession();
    const { pid, url } = await serve();
    const { client } = await connectTo(sdk, url);
    const guarded = guardMcpClient(client, session, { tools: ['echo'] });
    await kill(pid);
    for (let call = 0; call < 3; call += 1) await expect(guarded.callTool(echo)).rejects.toThrow('fetch failed');
    expect(await guarded.callTool(echo)).toEqual(skipped('echo', 'network'));
    expect(stateOf(session, EVERYTHING)).toBe('closed');
  });

  test('only our time-out notices that a server is killed during a call', async () => {
    const { session, outcomes } = watchedSession();
    const { pid, url } = await serve();
    const { client } = await connectTo(sdk, url);
    const guarded = guardMcpClient(client, session, { timeoutMs: 1_000 });
    const { call } = await underWay(sdk, guarded);
    process.kill(pid, 'SIGKILL');
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(outcomes).toEqual([`${long}: failure, timeout`]);
  });
});
