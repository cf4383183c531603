import { type Alternative, labelled, type ToolConfig } from '@breakerbox/core';
import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import { type Answers, inMemory, sdks } from '../test-support/mcp-servers.ts';
import { startTracing, stopTracing } from '../test-support/tracing.ts';
import { open, watchedSession } from '../test-support/watched-session.ts';
import { type GuardMcpOptions, guardMcpClient } from './mcp.ts';

/** What the tests need of both SDKs' clients. */
interface AnyClient {
  callTool(params: { name: string; arguments?: unknown }, ...rest: never[]): Promise<unknown>;
  listTools(): Promise<unknown>;
  close(): Promise<void>;
}

const undo: (() => unknown)[] = [];

afterEach(async () => {
  stopTracing();
  diag.disable();
  for (const step of undo.splice(0).toReversed()) await step();
});

const STALE = 'stale: retrieved 1970-01-01 00:00:00 UTC';
const NOTE = "answered by 'news' in place of 'search', which is unavailable: recent items only; little is lost";
const text = (words: string) => ({ type: 'text' as const, text: words });
const outage = { isError: true, content: [text('HTTP 503 Service Unavailable')] };
const search = { name: 'search', arguments: { q: 'x' } };

describe.each(Object.entries(sdks))('with %s over stdio', (_, { create }) => {
  test('F2: the last good result of a killed server is the answer, labelled; other calls are rejected', async () => {
    const { client, start } = create();
    undo.push(() => client.close());
    const pid = await start({ name: 'everything', args: ['stdio'] });
    const { session, decisions } = watchedSession({ tools: { echo: { failureThreshold: 1, serveStaleMs: 60_000 } } });
    const guarded: AnyClient = guardMcpClient<AnyClient>(client, session);
    const echo = { name: 'echo', arguments: { message: 'hello' } };
    const good = await guarded.callTool(echo);
    process.kill(pid, 'SIGKILL');
    await expect(guarded.callTool(echo)).rejects.toThrow();

    expect(await guarded.callTool(echo)).toEqual({
      ...(labelled(good, { kind: 'stale', retrievedUnixMs: 0 }) as object),
      _meta: { 'breakerbox/freshness': STALE },
    });

    expect(await guarded.callTool({ ...echo, arguments: { message: 'other' } })).toMatchObject({ isError: true });
    expect(decisions).toEqual(['echo: call', 'echo: call', 'echo: skip', 'echo: skip']);
  });
});

describe.each(Object.entries(inMemory))('with %s', (_, connectTo) => {
  const connect = async (call: Answers['call'], names = ['search', 'news']): Promise<AnyClient> => {
    const tools = names.map((name) => ({ name, inputSchema: { type: 'object' as const } }));
    const client: AnyClient = (await connectTo({ list: async () => ({ tools }), call })) as AnyClient;
    undo.push(() => client.close());
    return client;
  };

  /** A session in which `search` is out after one failure; its alternative is `news`. */
  const routed = (alternative: Partial<Alternative> = {}, prefix = '') => {
    const adapt = (input: unknown) => ({ topic: (input as { q: string }).q });
    const tool = `${prefix}news`;
    const more = { tool, degradation: 'low', note: 'recent items only', adapt, ...alternative } as const;
    const tools: Record<string, ToolConfig> = {
      [`${prefix}search`]: { failureThreshold: 1, alternatives: [more] },
      [tool]: { failureThreshold: 1 },
    };
    if (more.tool !== tool) tools[more.tool] = {};
    return watchedSession({ tools });
  };

  test('R5: if the alternative fails too, the model reads the error of the first, and is not told to use the other', async () => {
    const guarded = guardMcpClient<AnyClient>(await connect(async () => outage), routed().session);
    await guarded.listTools();
    const { content } = (await guarded.callTool(search)) as typeof outage;
    expect(content[0]?.text).toMatch(/^HTTP 503 Service Unavailable\n<breakerbox>Tool 'search' is not available now: /);
    expect(content[0]?.text).toMatch(/'news' was called instead, and failed too\. Continue without them/);
    expect(content[0]?.text).not.toContain('Use ');
  });

  const guardAfterOutage = async (
    { session }: ReturnType<typeof routed>,
    news: Answers['call'],
    { names, ...options }: GuardMcpOptions & { names?: string[] } = {},
  ) => {
    const client = await connect(async (name, given) => (name === 'search' ? outage : news(name, given)), names);
    const guarded = guardMcpClient(client, session, options);
    open({ session }, `${options.prefix ?? ''}search`, 'server');
    return guarded;
  };

  const rejection = { isError: true, content: [text(expect.stringContaining("'search' is unavailable") as never)] };

  test('R4: an alternative of the same server answers, with a note and its own decision', async () => {
    const traced = startTracing();
    const watched = routed();
    const guarded = await guardAfterOutage(watched, async (name, given) => ({
      content: [text(`${name} ${JSON.stringify(given)}`)],
    }));
    expect(await guarded.callTool(search)).toEqual({ content: [text(`[${NOTE}]`), text('news {"topic":"x"}')] });
    expect(watched.outcomes).toEqual(['search: failure, server', 'news: success']);
    expect(traced.paths()).toEqual(['execute_tool search', 'breakerbox.skip search', 'execute_tool news']);
  });

  test('R4: its structured content is hidden from programs, which have the schema of the first tool; it is there as text', async () => {
    const structuredContent = { items: [1] };
    let content: ReturnType<typeof text>[] = [];
    const guarded = await guardAfterOutage(routed(), async () => ({ content, structuredContent }));
    const expected = { content: [text(`[${NOTE}]`), text('{"items":[1]}')] };
    expect(await guarded.callTool(search)).toEqual(expected);
    content = [text('{"items":[1]}')];
    expect(await guarded.callTool(search)).toEqual(expected);
  });

  test('R4: structured content that is nested too deeply for text is left out', async () => {
    const structuredContent: Record<string, unknown> = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`);
    const guarded = await guardAfterOutage(routed(), async () => ({ content: [text('found')], structuredContent }));
    expect(await guarded.callTool(search)).toEqual({ content: [text(`[${NOTE}]`), text('found')] });
  });

  test('R4: names have the prefix', async () => {
    const watched = routed({}, 'fake.');
    const guarded = await guardAfterOutage(watched, async (name) => ({ content: [text(name)] }), { prefix: 'fake.' });
    expect(await guarded.callTool(search)).toMatchObject({ content: [{}, text('news')] });
    expect(watched.decisions.slice(1)).toEqual(['fake.search: skip', 'fake.news: call']);
  });

  test.each<[string, Partial<Alternative>, GuardMcpOptions & { names?: string[] }]>([
    ['has no adapt', { adapt: undefined as never }, {}],
    ['the server does not have', {}, { names: ['search'] }],
    ['is not among the given tools', {}, { tools: ['search'] }],
    ['is of another server', { tool: 'web.news' }, {}],
  ])('R4: one that %s is left to the model', async (_what, alternative, options) => {
    const watched = routed(alternative);
    const guarded = await guardAfterOutage(watched, async () => expect.unreachable(), options);
    expect(await guarded.callTool(search)).toEqual(rejection);
    expect(watched.decisions).toEqual(['search: call', 'search: skip']);
  });

  test('F1, F2: labels are in the content and in _meta', async () => {
    const { session } = watchedSession({
      tools: { search: { failureThreshold: 1, labelFreshness: true, serveStaleMs: 60_000 } },
    });
    const good = { content: [text('found')], _meta: { page: 1 } };
    let works = true;
    const client = await connect(async () => (works ? good : outage));
    const guarded = guardMcpClient(client, session);
    const labelledWith = (words: string) => ({
      content: [text(`[${words}]`), text('found')],
      _meta: { page: 1, 'breakerbox/freshness': words },
    });
    expect(await guarded.callTool(search)).toEqual(good);
    const cached = 'cached: identical to the last answer, retrieved 1970-01-01 00:00:00 UTC';
    expect(await guarded.callTool(search)).toEqual(labelledWith(cached));
    works = false;
    expect(await guarded.callTool(search)).toMatchObject({ isError: true });
    expect(await guarded.callTool(search)).toEqual(labelledWith(STALE));
  });

  test.each([
    ['its text says', [text('{ "hits": 1 }')], [text('{ "hits": 1 }')]],
    ['no text says', [text('found')], [text('found'), text('{"hits":1}')]],
  ])('F1, F2: structured content that %s is in a labelled result, and not in a stale one', async (_what, said, all) => {
    const { session } = watchedSession({
      tools: { search: { failureThreshold: 1, labelFreshness: true, serveStaleMs: 60_000 } },
    });
    const good = { content: said, structuredContent: { hits: 1 } };
    let works = true;
    const guarded = guardMcpClient(await connect(async () => (works ? good : outage)), session);
    await guarded.callTool(search);
    expect(await guarded.callTool(search)).toMatchObject({ structuredContent: { hits: 1 } });
    works = false;
    await guarded.callTool(search);
    expect(await guarded.callTool(search)).toEqual({
      content: [text(`[${STALE}]`), ...all],
      _meta: { 'breakerbox/freshness': STALE },
    });
  });

  test.each([[{ id: 'x' }], [undefined]])(
    'O5: a repeated call with the same empty result is skipped: %o',
    async (given) => {
      const { session } = watchedSession();
      const unknown = { isError: true, content: [text('unknown order id')] };
      const guarded = guardMcpClient(await connect(async () => unknown), session);
      const call = { name: 'search', ...(given && { arguments: given }) };
      for (let again = 0; again < 3; again += 1) expect(await guarded.callTool(call)).toEqual(unknown);
      expect(await guarded.callTool(call)).toMatchObject({
        content: [text(expect.stringContaining('the same call has failed in the same way') as never)],
      });
      expect(await guarded.callTool({ name: 'search', arguments: { id: 'y' } })).toEqual(unknown);
    },
  );
});
