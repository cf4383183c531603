import type { Client as ClientOfSdk2 } from '@modelcontextprotocol/client';
import type { Client as ClientOfSdk1 } from '@modelcontextprotocol/sdk/client/index.js';
import { afterEach, describe, expect, expectTypeOf, test } from 'vitest';
import { type NpmServer, sdks } from '../test-support/mcp-servers.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { guardMcpClient } from './mcp.ts';

const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

describe.each(Object.entries(sdks))('with %s over stdio', (_, { create }) => {
  const connect = async (name: NpmServer['name'], args: string[]) => {
    const { client, start } = create();
    undo.push(() => client.close());
    await start({ name, args });
    return { client };
  };
  const echo = { name: 'echo', arguments: { message: 'hello' } };

  test('a working server behaves as without a guard', async () => {
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

  test('an unlisted tool of the server gets its circuit; an invented name gets none', async () => {
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
});

test('a guarded client of either SDK has the type of the client', () => {
  type Guard<Client extends Parameters<typeof guardMcpClient>[0]> = typeof guardMcpClient<Client>;
  expectTypeOf<Guard<ClientOfSdk1>>().returns.toEqualTypeOf<ClientOfSdk1>();
  expectTypeOf<Guard<ClientOfSdk2>>().returns.toEqualTypeOf<ClientOfSdk2>();
});
