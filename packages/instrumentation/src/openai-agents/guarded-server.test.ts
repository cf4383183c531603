import { createRequire } from 'node:module';
import type { BreakerboxConfig } from '@breakerbox/core';
import { BreakerboxConfigError, BreakerboxUsageError } from '@breakerbox/core';
import { scriptedModel } from '@breakerbox/scripted-models/openai-agents';
import { Agent, type MCPServer, MCPServerStdio, MCPServerStreamableHttp } from '@openai/agents';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import { startHttpServer } from '../test-support/mcp-servers.ts';
import { ask, refused, runAgent, runner, transportOf } from '../test-support/openai-runs.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { guardMcpServer } from './openai-agents.ts';

type MCPTool = Awaited<ReturnType<MCPServer['listTools']>>[number];
type Answer = Awaited<ReturnType<NonNullable<MCPServer['callToolResult']>>>;
type Answering = (tool: string, input: unknown, signal?: AbortSignal) => Answer | Promise<Answer>;
type Given = Parameters<MCPServer['callTool']>;

const says = (text: string, more: Partial<Answer> = {}): Answer => ({ content: [{ type: 'text', text }], ...more });

const inputSchema: MCPTool['inputSchema'] = {
  type: 'object',
  properties: {},
  required: [],
  additionalProperties: false,
};

/** As the SDK's own: content alone by `callTool`, with the rest in hidden properties. */
class OwnServer implements MCPServer {
  readonly cacheToolsList = false;
  readonly name = 'own';
  readonly #answer: Answering;

  constructor(answer: Answering, more: Partial<MCPServer> = {}) {
    this.#answer = answer;
    Object.assign(this, more);
  }
  async connect() {}
  async close() {}
  async invalidateToolsCache() {}
  async listTools(): Promise<MCPTool[]> {
    return ['search', 'news'].map((name) => ({ name, inputSchema }));
  }
  async callToolResult(...[tool, input, , options]: Given): Promise<Answer> {
    const result = await this.#answer(tool, input, options?.signal);
    const { content, ...rest } = result;
    for (const [key, value] of Object.entries(rest)) Object.defineProperty(content, key, { value });
    return result;
  }
  async callTool(...given: Given) {
    return (await this.callToolResult(...given)).content;
  }
}

/** The first failure of `search` opens it. */
const fragile = (config: BreakerboxConfig['tools'] = {}) =>
  watchedSession({ tools: { search: { failureThreshold: 1, ...config?.search }, ...config } });
const broken = async (): Promise<Answer> => {
  throw refused;
};
const REJECTION = /^Tool 'search' is unavailable: the last calls failed \(network\)/;

describe('guardMcpServer', () => {
  it('has the interface, the class and the name that an agent expects of a server', () => {
    const server = new OwnServer(broken);
    const guarded = guardMcpServer(server, watchedSession().session);
    expectTypeOf(guarded).toEqualTypeOf(server);
    expect(guarded).toBeInstanceOf(OwnServer);
    expect(guarded.name).toBe('own');
  });

  it('E3: returns the same result objects, by callTool and callToolResult', async () => {
    const answer = says('found', { structuredContent: { hits: 1 } });
    const server = new OwnServer(() => answer);
    const guarded = guardMcpServer(server, watchedSession().session);
    expect(await guarded.callTool('search', {})).toBe(answer.content);
    expect(await guarded.callToolResult('search', {})).toEqual(answer);
  });

  it('a rejection is marked as an error in both forms', async () => {
    const { session } = fragile();
    const guarded = guardMcpServer(new OwnServer(broken), session);
    await expect(guarded.callTool('search', {})).rejects.toMatchObject({ cause: refused });
    const content = await guarded.callTool('search', {});
    expect(content).toEqual([{ type: 'text', text: expect.stringMatching(REJECTION) }]);
    expect(content).toHaveProperty('isError', true);
    expect(await guarded.callToolResult('search', {})).toEqual({ isError: true, content });
  });

  it('gives tools their circuits when they are listed, with the prefix', async () => {
    const watched = watchedSession();
    const guarded = guardMcpServer(new OwnServer(() => says('found')), watched.session, { prefix: 'own.' });
    await guarded.listTools();
    expect(watched.box.tools).toEqual(['own.search', 'own.news']);
    await guarded.callTool('search', null);
    expect(watched.outcomes).toEqual(['own.search: success']);
  });

  it.each([false, true])(
    'F2: labels a last good result so that the model sees it; structured: %s',
    async (structured) => {
      const watched = fragile({ search: { failureThreshold: 1, serveStaleMs: 60_000 } });
      let calls = 0;
      const answer = async () => {
        calls += 1;
        if (calls > 1) throw refused;
        return says('{"hits":1}', { structuredContent: { hits: 1 } });
      };
      const server = new OwnServer(answer, { useStructuredContent: structured });
      const mcpServers = [guardMcpServer(server, watched.session)];
      const { heard } = await runAgent([], [[ask('x')], [ask('down')], [ask('x')], 'Done.'], { mcpServers });
      expect(heard[2]).toMatch(/stale.*"hits":1/s);
    },
  );

  it('F2: a server that gave nothing once gives that again', async () => {
    const watched = fragile({ search: { failureThreshold: 1, serveStaleMs: 60_000 } });
    const answers = [async () => ({ content: null }), async () => Promise.reject(refused)];
    const server = new OwnServer((() => answers.shift()?.()) as unknown as ConstructorParameters<typeof OwnServer>[0]);
    const guarded = guardMcpServer(server, watched.session);
    const ask = { q: 'x' };
    expect(await guarded.callTool('search', ask)).toBeNull();
    await expect(guarded.callTool('search', ask)).rejects.toThrow();
    await expect(guarded.callTool('search', ask)).resolves.not.toThrow();
  });

  it('R4: calls an alternative of the same server, unless the user restricts its tools', async () => {
    const adapt = (input: unknown) => input;
    const alternatives = [{ tool: 'own.news', degradation: 'low', note: 'recent items only', adapt } as const];
    for (const more of [{}, { toolFilter: { allowedToolNames: ['search'] } }]) {
      const watched = watchedSession({
        tools: { 'own.search': { failureThreshold: 1, alternatives }, 'own.news': {} },
      });
      const server = new OwnServer((tool) => (tool === 'news' ? says('the news') : broken()), more);
      const mcpServers = [guardMcpServer(server, watched.session, { prefix: 'own.' })];
      const { heard } = await runAgent([], [[ask('x')], [ask('y')], 'Done.'], { mcpServers });
      const isFree = Object.keys(more).length === 0;
      expect(heard[1]).toMatch(
        isFree ? /answered by 'news' in place of 'search'.*the news/s : /Tool 'search' is unavailable.*Use 'news'/s,
      );
      expect(watched.decisions.includes('own.news: call')).toBe(isFree);
    }
  });

  it('R3: names its tools in the rejection as the model knows them, and other tools unchanged', async () => {
    const alternatives = [{ tool: 'web.news', degradation: 'low' } as const];
    const watched = watchedSession({ tools: { 'own.search': { failureThreshold: 1, alternatives }, 'web.news': {} } });
    const mcpServers = [guardMcpServer(new OwnServer(broken), watched.session, { prefix: 'own.' })];
    const { heard } = await runAgent([], [[ask('x')], [ask('y')], 'Done.'], { mcpServers });
    expect(heard[1]).toMatch(/^Tool 'search' is unavailable.*Use 'web\.news' instead/);
  });

  it('R4: knows a list that the SDK keeps, in the next conversation too', async () => {
    const adapt = (input: unknown) => input;
    const alternatives = [{ tool: 'news', degradation: 'low', adapt } as const];
    const server = new OwnServer((tool) => (tool === 'news' ? says('the news') : broken()), { cacheToolsList: true });
    const listTools = vi.spyOn(server, 'listTools');
    for (let conversation = 0; conversation < 2; conversation += 1) {
      const watched = watchedSession({ tools: { search: { failureThreshold: 1, alternatives }, news: {} } });
      const mcpServers = [guardMcpServer(server, watched.session)];
      const { heard } = await runAgent([], [[ask('x')], [ask('y')], 'Done.'], { mcpServers });
      expect(heard[1]).toMatch(/answered by 'news'.*the news/s);
    }
    const later = watchedSession();
    guardMcpServer(server, later.session, { prefix: 'own.' });
    expect(later.box.tools).toEqual(['own.search', 'own.news']);
    expect(listTools).toHaveBeenCalledOnce();
  });

  it('rejects invalid arguments, with a fix', () => {
    const { box, session } = watchedSession();
    const server = new OwnServer(broken);
    expect(() => guardMcpServer(server, box as never)).toThrow(BreakerboxUsageError);
    expect(() => guardMcpServer({} as never, session)).toThrow(/Give an MCPServerStdio/);
    expect(() => guardMcpServer(server, session, { prefix: 5 } as never)).toThrow(BreakerboxConfigError);
  });
});

describe('a real server, over stdio', () => {
  const command = process.execPath;
  const script = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
  const args = [script, 'stdio'];
  let server: MCPServerStdio;
  beforeEach(async () => {
    server = new MCPServerStdio({ name: 'everything', command, args, cacheToolsList: true, timeout: 5_000 });
    await server.connect();
  });
  afterEach(() => server.close());

  const echo = (message: string) => ({ tool: 'echo', input: { message } });

  it('works, dies, is skipped, and works again after its restart', async () => {
    const watched = watchedSession();
    const guarded = guardMcpServer(server, watched.session);
    const { model, heard } = scriptedModel([
      [echo('hello')],
      'Once.',
      [echo('are you there?')],
      [echo('still not?')],
      'Twice.',
      [echo('hello again')],
      'Thrice.',
    ]);
    const agent = new Agent({ name: 'researcher', model, mcpServers: [guarded] });
    await runner.run(agent, 'go');
    expect(heard()).toEqual([expect.stringContaining('hello')]);

    const tools = await guarded.listTools();
    process.kill(transportOf(server).pid, 'SIGKILL');
    const dead = new Agent({ name: 'researcher', model, mcpServers: [withList(guarded, tools)] });
    expect((await runner.run(dead, 'go')).finalOutput).toBe('Twice.');
    expect(heard()[1]).toMatch(/^Tool 'echo' is unavailable/);

    await guarded.connect();
    for (let step = 0; step < 3; step += 1) watched.session.step();
    await guarded.invalidateToolsCache();
    await runner.run(agent, 'go');
    expect(heard()).toEqual([expect.stringContaining('hello again')]);
    expect(watched.decisions).toEqual(['echo: call', 'echo: call', 'echo: skip', 'echo: probe']);
    const group = watched.session.view().circuits.find(({ tool }) => tool === 'group:everything');
    expect(group?.state).toBe('closed');
  });

  it('is unchanged otherwise', async () => {
    const guarded = guardMcpServer(server, watchedSession().session);
    expect(guarded).toBeInstanceOf(MCPServerStdio);
    expect(guarded.name).toBe('everything');
    expect((await guarded.listResources()).resources.length).toBeGreaterThan(0);
    await expect(guarded.invalidateToolsCache()).resolves.toBeUndefined();
  });
});

it('a real server over streamable HTTP is killed and started again', async () => {
  const watched = watchedSession({ tools: { echo: { failureThreshold: 1 } } });
  const { pid, port, url } = await startHttpServer();
  const server = new MCPServerStreamableHttp({ url, name: 'everything', timeout: 5_000 });
  const guarded = guardMcpServer(server, watched.session, { timeoutMs: 10_000 });
  let running = pid;
  try {
    await guarded.connect();
    expect(await guarded.callTool('echo', { message: 'hello' })).toMatchObject([{ text: 'Echo: hello' }]);
    process.kill(running, 'SIGKILL');
    await expect(guarded.callTool('echo', { message: 'are you there?' })).rejects.toThrow();
    expect(await guarded.callTool('echo', { message: 'still not?' })).toMatchObject([
      { text: expect.stringContaining('unavailable') },
    ]);

    running = (await startHttpServer(port)).pid;
    await guarded.close();
    await guarded.connect();
    for (let step = 0; step < 3; step += 1) watched.session.step();
    expect(await guarded.callTool('echo', { message: 'hello' })).toMatchObject([{ text: 'Echo: hello' }]);
    expect(watched.outcomes).toEqual(['echo: success', 'echo: failure, network', 'echo: success']);
    expect(watched.decisions).toEqual(['echo: call', 'echo: call', 'echo: skip', 'echo: probe']);
  } finally {
    await guarded.close();
    process.kill(running, 'SIGKILL');
  }
});

/** A server that has died after its tools were listed. */
const withList = <Server extends MCPServer>(server: Server, tools: MCPTool[]): Server =>
  new Proxy(server, { get: (own, key) => (key === 'listTools' ? async () => tools : Reflect.get(own, key)) });
