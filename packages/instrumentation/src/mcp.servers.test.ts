import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client as ClientOfSdk2 } from '@modelcontextprotocol/client';
import type { Client as ClientOfSdk1 } from '@modelcontextprotocol/sdk/client/index.js';
import { afterEach, describe, expect, expectTypeOf, test } from 'vitest';
import { guardMcpClient } from './mcp.ts';
import { type NpmServer, sdks } from './test-support/mcp-servers.ts';
import { watchedSession } from './test-support/watched-session.ts';

const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

describe.each(Object.entries(sdks))('with %s over stdio', (_, { create, withOptions }) => {
  const connect = async (name: NpmServer['name'], args: string[]) => {
    const { client, start } = create();
    undo.push(() => client.close());
    await start({ name, args });
    return { client };
  };
  const echo = { name: 'echo', arguments: { message: 'hello' } };
  const long = { name: 'trigger-long-running-operation', arguments: { duration: 600, steps: 1 } };

  test('a server that works is as it was', async () => {
    const { client } = await connect('everything', ['stdio']);
    const { box, session, decisions, outcomes } = watchedSession();
    const guarded = guardMcpClient(client, session);

    const { tools } = await guarded.listTools();
    const result = await guarded.callTool(echo);

    expect(tools.length).toBeGreaterThan(3);
    expect(box.tools).toEqual(tools.map(({ name }) => name));
    expect(result).toEqual(await client.callTool(echo));
    expect(decisions).toEqual(['echo: call']);
    expect(outcomes).toEqual(['echo: success']);
  });

  test('a tool that was never listed gets its circuit, a name that the model made up gets none', async () => {
    const { client } = await connect('everything', ['stdio']);
    const { session, outcomes } = watchedSession();
    const guarded = guardMcpClient(client, session);

    await guarded.callTool(echo);
    const answer = await guarded.callTool({ name: 'web_serach', arguments: {} });

    expect(answer).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('not found') }] });
    expect(outcomes).toEqual(['echo: success', 'web_serach: ignored, invalid_input']);
    expect(session.peek('echo')).toBeDefined();
    expect(session.peek('web_serach')).toBeUndefined();
  });

  test('arguments that the server refuses cost nothing', async () => {
    const { client } = await connect('everything', ['stdio']);
    const { session, outcomes } = watchedSession();
    const answer = await guardMcpClient(client, session).callTool({ name: 'echo', arguments: {} });
    expect(answer).toMatchObject({ isError: true });
    expect(outcomes).toEqual(['echo: ignored, invalid_input']);
  });

  test("the caller's abort is told apart from a time-out", async () => {
    const { client } = await connect('everything', ['stdio']);
    const { session, outcomes } = watchedSession();
    const caller = new AbortController();
    const call = guardMcpClient(client, session, { timeoutMs: 60_000, tools: [long.name] }).callTool(
      long,
      ...withOptions({ signal: caller.signal }),
    );
    const reason = new Error('the user left');
    caller.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(outcomes).toEqual([`${long.name}: ignored, cancelled`]);
  });

  test('a file that is not there is an answer', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'breakerbox-'));
    undo.push(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'notes.md'), 'remember the milk');
    const { client } = await connect('filesystem', [folder]);
    const { session, outcomes } = watchedSession();
    const guarded = guardMcpClient(client, session, { prefix: 'files.' });
    const read = (path: string) => guarded.callTool({ name: 'read_text_file', arguments: { path } });

    const found = await read(join(folder, 'notes.md'));
    for (let call = 0; call < 4; call += 1) {
      expect(await read(join(folder, `gone-${call}.md`))).toMatchObject({
        isError: true,
        content: [{ type: 'text', text: expect.stringContaining('ENOENT') }],
      });
    }

    expect(found).toMatchObject({ content: [{ type: 'text', text: 'remember the milk' }] });
    expect(outcomes).toEqual([
      'files.read_text_file: success',
      ...Array(4).fill('files.read_text_file: ignored, tool_error'),
    ]);
    expect(session.peek('files.read_text_file')?.state).toBe('closed');
  });
});

test('a guarded client of either SDK has the type of the client', () => {
  type Guard<Client extends Parameters<typeof guardMcpClient>[0]> = typeof guardMcpClient<Client>;
  expectTypeOf<Guard<ClientOfSdk1>>().returns.toEqualTypeOf<ClientOfSdk1>();
  expectTypeOf<Guard<ClientOfSdk2>>().returns.toEqualTypeOf<ClientOfSdk2>();
});
