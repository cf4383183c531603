import { readFileSync } from 'node:fs';
import { BreakerboxConfigError, BreakerboxUsageError } from '@breakerbox/core';
import { scriptedModel } from '@breakerbox/scripted-models/google-adk';
import { BasePlugin, InMemoryRunner, LlmAgent, SecurityPlugin } from '@google/adk';
import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, expectTypeOf, test, vi } from 'vitest';
import { adkRun, lastText, toolOf } from '../test-support/adk-run.ts';
import { listenToDiag } from '../test-support/diagnosed.ts';
import { open, watchedSession } from '../test-support/watched-session.ts';
import { BreakerPlugin, breakerCallbacks } from './google-adk.ts';

const down = (): never => {
  throw Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });
};
const ask = (q: string, tool = 'search') => ({ tool, input: { q } });

/** A session whose `search` is out, and due for a probe. */
const probing = () => {
  const watched = watchedSession({ tools: { search: { failureThreshold: 1 } } });
  watched.session.acquire('search').settle({ outcome: 'failure', category: 'network' });
  for (let step = 0; step < 3; step += 1) watched.session.step();
  return watched;
};

class Answering extends BasePlugin {
  override async beforeToolCallback(): Promise<Record<string, unknown>> {
    return { result: 'from a cache' };
  }
}

afterEach(() => {
  diag.disable();
});

describe('BreakerPlugin', () => {
  test('is a plugin of ADK, and loads without ADK', () => {
    const plugin = new BreakerPlugin(watchedSession().session);
    expectTypeOf(plugin).toExtend<BasePlugin>();
    expectTypeOf(breakerCallbacks).returns.toExtend<Partial<ConstructorParameters<typeof LlmAgent>[0]>>();
    expect(plugin.name).toBe('breakerbox');
    for (const file of ['google-adk.ts', 'adk-tools.ts']) {
      const source = readFileSync(new URL(file, import.meta.url), 'utf8');
      expect(source).not.toMatch(/^import (?!type )[^;]*'@google\/adk'/m);
    }
  });

  test('answers hooks of later versions, and nothing else', async () => {
    const plugin = new BreakerPlugin(watchedSession().session) as unknown as Record<string, unknown>;
    const names = Object.getOwnPropertyNames(BasePlugin.prototype).filter((name) => name !== 'constructor');
    expect(names.length).toBeGreaterThan(10);
    for (const name of [...names, 'onSomethingNewCallback']) expect(plugin[name]).toBeTypeOf('function');
    await expect((plugin.onSomethingNewCallback as () => Promise<unknown>)()).resolves.toBeUndefined();
    expect(plugin.then).toBeUndefined();
    expect(plugin.toJSON).toBeUndefined();
  });

  test('E6: invalid arguments are rejected at once', () => {
    const { session } = watchedSession();
    const options = { timeoutMs: 0, note: 'yes', retries: 3 } as never;
    expect(() => new BreakerPlugin(session, options)).toThrow(BreakerboxConfigError);
    expect(() => new BreakerPlugin(session, options)).toThrow(/timeoutMs.*note.*retries/s);
    expect(() => new BreakerPlugin(undefined as never)).toThrow(BreakerboxUsageError);
    expect(() => breakerCallbacks({} as never)).toThrow(/breakerCallbacks\(\): got a value of type object/);
  });

  test('E5: a session function that throws does not end a run: the model reads the error', async () => {
    const diagnosed = listenToDiag();
    const search = vi.fn(() => 'found');
    const session = () => {
      throw new Error('no session here');
    };
    const { say, heard } = await adkRun(
      [[ask('x')], 'Done.'],
      [toolOf('search', search)],
      [new BreakerPlugin(session)],
    );
    expect(lastText(await say('go'))).toBe('Done.');
    expect(heard()).toEqual([expect.stringContaining('no session here')]);
    expect(search).not.toHaveBeenCalled();
    expect(diagnosed.flat().join()).toContain('beforeModelCallback of BreakerPlugin failed');
  });

  test.each(['before', 'after'])('C8: a plugin %s ours that answers a call keeps no probe', async (place) => {
    const { session, decisions, outcomes } = probing();
    const plugins = [new Answering('cache'), new BreakerPlugin(session)];
    const tools = [toolOf('search', () => 'found')];
    const run = await adkRun([[ask('x')], 'Done.'], tools, place === 'before' ? plugins : plugins.toReversed());
    await run.say('go');
    expect(run.heard()).toEqual(['from a cache']);
    expect([...decisions, ...outcomes]).toEqual(['search: call', 'search: failure, network']);
    expect(session.acquire('search').decision).toBe('probe');
  });

  test('gives tools their series before they are called', async () => {
    const { session, box } = watchedSession();
    const run = await adkRun(['Done.'], [toolOf('search', down)], [new BreakerPlugin(session)]);
    await run.say('go');
    expect(box.tools).toContain('search');
  });

  test('O4: reads tokens from results and errors, by tool', async () => {
    const watched = watchedSession();
    const tokens = vi.fn(() => 7);
    const spent: unknown[] = [];
    watched.box.on('outcome', (event) => spent.push([event.tool, event.outcome, event.tokens]));
    const tools = [toolOf('search', down), toolOf('news', () => 'the news')];
    const script = [[ask('x'), ask('y', 'news')], 'Done.'];
    await (await adkRun(script, tools, [new BreakerPlugin(watched.session, { tokens })])).say('go');
    expect(spent).toEqual([
      ['search', 'failure', 7],
      ['news', 'success', 7],
    ]);
    expect(tokens.mock.calls).toEqual([
      [{ error: expect.objectContaining({ code: 'ECONNREFUSED' }) }, 'search'],
      [{ result: 'the news' }, 'news'],
    ]);
  });

  test.each([
    [true, /^Be brief\.\n\n<breakerbox>\n.*search.*\n<\/breakerbox>$/s],
    [false, /^(?!.*search)Be brief\./s],
  ])('R3: with note %s the system instruction is %s', async (note, expected) => {
    const watched = watchedSession({ tools: { search: { failureThreshold: 1 } } });
    const { model } = scriptedModel([[ask('x')], 'Done.']);
    const instructions: string[] = [];
    const agent = new LlmAgent({
      name: 'researcher',
      model,
      tools: [toolOf('search', down)],
      instruction: 'Be brief.',
      beforeModelCallback: ({ request }) => {
        instructions.push(
          String(request.config?.systemInstruction)
            .replace(/You are an agent.*?"\./s, '')
            .trim(),
        );
        return undefined;
      },
    });
    const runner = new InMemoryRunner({ agent, plugins: [new BreakerPlugin(watched.session, { note })] });
    const newMessage = { role: 'user', parts: [{ text: 'go' }] };
    for await (const _ of runner.runEphemeral({ userId: 'user', newMessage }));
    expect(instructions).toHaveLength(2);
    expect(instructions[0]).not.toContain('search');
    expect(instructions[1]).toMatch(expected);
  });
});

describe('R4: an alternative', () => {
  const adapt = (input: { q: string }) => ({ q: `${input.q}, as news` });
  const setUp = () =>
    watchedSession({
      tools: {
        search: { failureThreshold: 1, alternatives: [{ tool: 'news', degradation: 'low', adapt } as const] },
        news: { failureThreshold: 1 },
      },
    });
  const script = [[ask('x')], [ask('y')], 'Done.'];
  const inPlace = ['news'];

  test('is called with its own decision, and noted', async () => {
    const { session, decisions, outcomes } = setUp();
    const tools = [toolOf('search', down), toolOf('news', ({ q }) => `news of ${q}`)];
    open({ session });
    const run = await adkRun(script.slice(1), tools, [new BreakerPlugin(session, { timeoutMs: 1000, inPlace })]);
    await run.say('go');
    expect(run.heard()[0]).toMatch(/^\[answered by 'news' in place of 'search'.*news of y, as news$/s);
    expect(decisions).toEqual(['search: call', 'search: skip', 'news: call']);
    expect(outcomes).toEqual(['search: failure, network', 'news: success']);
  });

  test('R5: is not called if a person may have to confirm, if it runs for long, if the agent does not have it, or if it is not listed', async () => {
    const news = vi.fn(() => 'the news');
    for (const [others, listed, more = []] of [
      [[toolOf('news', news)], inPlace, [new SecurityPlugin()]],
      [[toolOf('news', news, { requireConfirmation: true })], inPlace],
      [[toolOf('news', news, { isLongRunning: true })], inPlace],
      [[], inPlace],
      [[toolOf('news', news)], []], // ADK's plugins and callbacks, which may refuse it, would not see the call.
    ] as const) {
      const { session, decisions } = setUp();
      const plugins = [new BreakerPlugin(session, { inPlace: listed }), ...more];
      const run = await adkRun(script, [toolOf('search', down), ...others], plugins);
      await run.say('go');
      expect(run.heard()[1]).toContain("Use 'news' instead");
      expect(decisions).toEqual(['search: call', 'search: skip']);
    }
    expect(news).not.toHaveBeenCalled();
  });

  test('rejects a result of adapt that does not fit the schema of the other tool', async () => {
    const watched = watchedSession({
      tools: {
        search: { failureThreshold: 1, alternatives: [{ tool: 'news', degradation: 'low', adapt: () => ({}) }] },
        news: {},
      },
    });
    const news = vi.fn(() => 'the news');
    const run = await adkRun(
      script,
      [toolOf('search', down), toolOf('news', news)],
      [new BreakerPlugin(watched.session, { inPlace })],
    );
    expect(lastText(await run.say('go'))).toBe('Done.');
    expect(run.heard()[1]).toMatch(/Error in tool 'news'/);
    expect(news).not.toHaveBeenCalled();
    expect(watched.decisions).toEqual(['search: call', 'search: skip']);
  });
});
