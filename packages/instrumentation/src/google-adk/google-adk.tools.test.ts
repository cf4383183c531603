import { createRequire } from 'node:module';
import { scriptedModel } from '@breakerbox/scripted-models/google-adk';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import { BaseTool, GOOGLE_SEARCH, LongRunningFunctionTool, type RunAsyncToolRequest } from '@google/adk';
import { MCPToolset } from '@google/adk/tools/mcp';
import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { adkRun, confirmations, lastText, toolOf } from '../test-support/adk-run.ts';
import { listenToDiag } from '../test-support/diagnosed.ts';
import { groupOf, watchedSession } from '../test-support/watched-session.ts';
import { addressOf } from './adk-tools.ts';
import { BreakerPlugin } from './google-adk.ts';

const ask = (q: string, tool = 'search') => ({ tool, input: { q } });
const asking = (...queries: string[]): ScriptedStep[] => [...queries.map((q) => [ask(q)]), 'Done.'];

const down = (): never => {
  throw Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });
};

/** A tool that is no FunctionTool, and may ask for a confirmation. */
class OwnTool extends BaseTool {
  readonly #work: (request: RunAsyncToolRequest) => unknown;
  constructor(name: string, work: (request: RunAsyncToolRequest) => unknown) {
    super({ name, description: name });
    this.#work = work;
  }
  override _getDeclaration() {
    return { name: this.name, description: this.description };
  }
  override async checkRequireConfirmation(): Promise<boolean> {
    return true;
  }
  override async runAsync(request: RunAsyncToolRequest): Promise<unknown> {
    return this.#work(request);
  }
}

afterEach(() => {
  diag.disable();
});

describe('function tools', () => {
  test('run with the arguments that the schema parsed, and with their own context', async () => {
    const { session } = watchedSession();
    const search = vi.fn((_: unknown, context: { state: Map<string, unknown>; functionCallId?: string }) => {
      context.state.set('asked', true);
      return context.functionCallId;
    });
    const tools = [toolOf('search', search as never)];
    const run = await adkRun(asking('a'), tools, [new BreakerPlugin(session, { timeoutMs: 1000 })]);
    const events = await run.say('go');
    expect(run.heard()).toEqual(['call-1-1']);
    expect(search).toHaveBeenCalledWith({ q: 'a' }, expect.anything());
    expect(events.map(({ actions }) => actions.stateDelta)).toContainEqual({ asked: true });
  });

  test('C8: a pending confirmation makes no decision; after the confirmation, the tool is called', async () => {
    const { session, decisions, outcomes } = watchedSession();
    const search = vi.fn(() => 'found');
    const tools = [toolOf('search', search, { requireConfirmation: true })];
    const run = await adkRun(asking('a'), tools, [new BreakerPlugin(session)]);
    const asked = await run.say('go');
    expect(decisions).toEqual([]);
    expect(lastText(await run.say(confirmations(asked, true)))).toBe('Done.');
    expect(search).toHaveBeenCalledOnce();
    expect(outcomes).toEqual(['search: success']);
  });

  test.each([
    ['true', true],
    ['a function', async () => true],
  ])(
    'R4: requireConfirmation is %s: no person confirms a call that is rejected now',
    async (_, requireConfirmation) => {
      const { session, decisions } = watchedSession({ tools: { search: {} } });
      const search = vi.fn(() => 'found');
      const tools = [toolOf('search', search, { requireConfirmation })];
      const run = await adkRun([[ask('a')], 'Unavailable.', [ask('b')], 'Done.'], tools, [new BreakerPlugin(session)]);
      session.control('search', 'forced_open');
      expect(lastText(await run.say('go'))).toBe('Unavailable.');
      expect(run.heard().at(-1)).toContain("Tool 'search' is unavailable");
      expect(decisions).toEqual(['search: skip']);
      session.control('search', 'automatic');
      const asked = await run.say('and now?');
      expect(decisions).toEqual(['search: skip']);
      session.control('search', 'forced_open');
      await run.say(confirmations(asked, false)); // A person has answered: the answer stays.
      expect(run.heard().at(-1)).toContain('rejected');
      expect(decisions).toEqual(['search: skip']);
      expect(search).not.toHaveBeenCalled();
    },
  );

  test('a long-running tool without a result costs nothing; one that returns its ticket is a success', async () => {
    const { session, outcomes } = watchedSession();
    const answers = [{ ticket: 7 }, null];
    const pay = new LongRunningFunctionTool({ name: 'pay', description: 'pays', execute: () => answers.shift() });
    const script = [[{ tool: 'pay', input: {} }], [{ tool: 'pay', input: {} }], 'Done.'];
    const run = await adkRun(script, [pay], [new BreakerPlugin(session)]);
    await run.say('go');
    await run.say('and?');
    expect(outcomes).toEqual(['pay: success', 'pay: ignored, cancelled']);
  });

  test('are unchanged without the plugin, and ask the session of each runner that shares them', async () => {
    const search = vi.fn(down);
    const tool = toolOf('search', search);
    const [one, other] = [watchedSession(), watchedSession()];
    const runs = await Promise.all([
      adkRun(asking('a', 'b'), [tool], [new BreakerPlugin(one.session)]),
      adkRun(asking('c'), [tool], [new BreakerPlugin(other.session)]),
      adkRun(asking('d'), [tool], []),
    ]);
    await Promise.all(runs.map(({ say }) => say('go')));
    expect(search).toHaveBeenCalledTimes(4);
    expect(one.decisions).toHaveLength(2);
    expect(other.decisions).toHaveLength(1);
    await expect(tool.runAsync({ args: { q: 'e' }, toolContext: {} as never })).rejects.toThrow(/ECONNREFUSED/);
    expect(one.decisions).toHaveLength(2);
  });

  test('stay guarded if their function is replaced later', async () => {
    const { session, decisions } = watchedSession();
    const tool = toolOf('search', down);
    const run = await adkRun([[ask('a')], 'One.', [ask('b')], 'Two.'], [tool], [new BreakerPlugin(session)]);
    await run.say('go');
    Object.assign(tool, { execute: () => 'found' });
    await run.say('go');
    expect(run.heard()[1]).toBe('found');
    expect(decisions).toEqual(['search: call', 'search: call']);
  });

  test('get one function of ours, however often they are called', async () => {
    const { session } = watchedSession();
    const tool = toolOf('search', () => 'found');
    const run = await adkRun([[ask('a')], 'One.', [ask('b'), ask('c')], 'Two.'], [tool], [new BreakerPlugin(session)]);
    await run.say('go');
    const first: unknown = Reflect.get(tool, 'execute');
    await run.say('go');
    expect(Reflect.get(tool, 'execute')).toBe(first);
  });

  test('may call each other in their own context, which is not a call of the model', async () => {
    const { session, decisions } = watchedSession();
    const news = toolOf('news', ({ q }) => `news of ${q}`);
    const search = toolOf('search', (args, toolContext) => news.runAsync({ args, toolContext }));
    const script = [[ask('a', 'news')], [ask('b')], 'Done.'];
    const run = await adkRun(script, [news, search], [new BreakerPlugin(session)]);
    await run.say('go');
    expect(run.heard()).toEqual(['news of a', 'news of b']);
    expect(decisions).toEqual(['news: call', 'search: call']);
  });

  test('that are sealed are guarded', async () => {
    const { session, outcomes } = watchedSession();
    const tool = Object.seal(toolOf('search', () => 'found'));
    const run = await adkRun(asking('a'), [tool], [new BreakerPlugin(session)]);
    await run.say('go');
    expect(run.heard()).toEqual(['found']);
    expect(outcomes).toEqual(['search: success']);
  });

  test('that are frozen run unguarded, and the error is reported', async () => {
    const diagnosed = listenToDiag();
    const { session, decisions } = watchedSession();
    const tool = Object.freeze(toolOf('search', () => 'found'));
    const run = await adkRun(asking('a'), [tool], [new BreakerPlugin(session)]);
    await run.say('go');
    expect(run.heard()).toEqual(['found']);
    expect(decisions).toEqual([]);
    expect(diagnosed.flat().join()).toContain('beforeToolCallback of BreakerPlugin failed');
  });
});

describe('tools of other kinds', () => {
  test('your own tools are guarded; an error, a rejection by a person and a question each count as such', async () => {
    const { session, outcomes } = watchedSession();
    const answers: ((request: RunAsyncToolRequest) => unknown)[] = [
      down,
      () => 'found',
      ({ toolContext }) => {
        toolContext.requestConfirmation({ hint: 'May I?' });
        return { error: 'to be confirmed' };
      },
      () => ({ error: 'refused' }),
    ];
    const search = new OwnTool('search', (request) => answers.shift()?.(request));
    const run = await adkRun(asking('a', 'b', 'c'), [search], [new BreakerPlugin(session, { timeoutMs: 1000 })]);
    const asked = await run.say('go');
    await run.say(confirmations(asked, false));
    expect(outcomes).toEqual([
      'search: failure, network',
      'search: success',
      'search: ignored, cancelled',
      'search: ignored, denied',
    ]);
  });

  test('E3: results are not changed', async () => {
    const { session, outcomes } = watchedSession();
    const answers = [undefined, null, 0, [1, 2]];
    const search = new OwnTool('search', () => answers.shift());
    const run = await adkRun(asking('a', 'b', 'c', 'd'), [search], [new BreakerPlugin(session)]);
    await run.say('go');
    expect(run.heard()).toEqual(['{}', '{"result":null}', '{"result":0}', '{"results":[1,2]}']);
    expect(outcomes).toEqual(Array(4).fill('search: success'));
  });

  const everything = (prefix?: string): MCPToolset => {
    const resolver = createRequire(import.meta.url);
    const manifest = resolver.resolve('@modelcontextprotocol/server-everything/package.json');
    const serverParams = {
      command: process.execPath,
      args: [resolver.resolve(manifest.replace('package.json', 'dist/index.js')), 'stdio'],
      stderr: 'ignore' as const,
    };
    return new MCPToolset({ type: 'StdioConnectionParams', serverParams }, [], prefix);
  };

  test('tools of a real MCP server are guarded; an error result is classified by its text', async () => {
    const { session, decisions, outcomes } = watchedSession();
    const calls = [
      { tool: 'echo', input: { message: 'hello' } },
      { tool: 'echo', input: {} },
    ];
    const run = await adkRun([calls, 'Done.'], [], [new BreakerPlugin(session)], { tools: [everything()] });
    expect(lastText(await run.say('go'))).toBe('Done.');
    expect(run.heard()[0]).toContain('Echo: hello');
    expect(run.heard()[1]).toContain('"isError":true');
    expect(decisions).toEqual(['echo: call', 'echo: call']);
    expect(outcomes).toEqual(['echo: success', expect.stringMatching(/^echo: ignored/)]);
  });

  test('C13: the group of MCP tools is the prefix of the toolset, unless the option names another', async () => {
    const { session } = watchedSession();
    const group = (tool: string) => (tool === 'every_echo' ? 'echoes' : undefined);
    const run = await adkRun(['Done.'], [toolOf('my_search', () => 'found')], [new BreakerPlugin(session, { group })], {
      tools: [everything('every'), toolOf('my_search', () => 'found')],
    });
    await run.say('go');
    const groups = ['every_get-sum', 'every_echo', 'my_search'].map((tool) => groupOf(session, tool));
    expect(groups).toEqual(['every', 'echoes', undefined]);
  });

  test('C13: without a prefix it is the server, and shows no secret of its address or arguments', () => {
    const byUrl = (url: string) => ({ type: 'StreamableHTTPConnectionParams', url });
    const byArgs = (...args: string[]) => ({ serverParams: { command: '/usr/bin/npx', args } });
    const groupBy = (connectionParams: object) =>
      addressOf({ mcpSessionManager: { connectionParams } } as unknown as BaseTool) ?? '';
    const urls = ['a', 'b'].map((key) =>
      groupBy(byUrl(`https://me:pass@mcp.example.com/s/${key}-secret/mcp?token=${key}`)),
    );
    const commands = ['a', 'b'].map((key) => groupBy(byArgs('server', `--key=${key}-secret`)));
    expect(urls).toEqual(Array(2).fill(expect.stringMatching(/^mcp\.example\.com#[0-9a-f]{6}$/)));
    expect(commands).toEqual(Array(2).fill(expect.stringMatching(/^npx#[0-9a-f]{6}$/)));
    expect(new Set([...urls, ...commands]).size).toBe(4);
    expect(addressOf(toolOf('my_search', () => 'found'))).toBeUndefined();
  });

  test('a model cannot call names of Object.prototype: nothing is patched, nothing has a circuit', async () => {
    const { session, box, decisions } = watchedSession();
    const members = Object.getOwnPropertyNames(Object);
    const script = [[ask('a', 'constructor'), ask('a', '__proto__'), ask('a', 'toString')], [ask('b')], 'Done.'];
    const run = await adkRun(script, [toolOf('search', () => 'found')], [new BreakerPlugin(session)]);
    await run.say('go').catch(() => {}); // ADK itself takes them for tools.
    expect(Object.getOwnPropertyNames(Object)).toEqual(members);
    expect(box.tools).toEqual(['search']);
    expect(decisions.filter((one) => one !== 'search: call')).toEqual([]);
  });

  test('built-in tools, which the provider runs, are not seen and get no circuit', async () => {
    const { session, box } = watchedSession();
    const { model } = scriptedModel(['Done.']);
    Object.assign(model, { model: 'gemini-2.5-flash' }); // ADK gives the tool to no other.
    const run = await adkRun([], [GOOGLE_SEARCH], [new BreakerPlugin(session)], { model });
    expect(lastText(await run.say('go'))).toBe('Done.');
    expect(box.tools).toEqual([]);
  });
});
