import { scriptedModel } from '@breakerbox/scripted-models/mastra';
import type { AgentConfig } from '@mastra/core/agent';
import type { MastraModelConfig } from '@mastra/core/llm';
import { createTool } from '@mastra/core/tools';
import { trace } from '@opentelemetry/api';
import { MockLanguageModelV4 } from 'ai/test';
import { afterEach, describe, expect, expectTypeOf, test } from 'vitest';
import { agentOf, ask, broken, guards, openSearch, refused, search } from '../test-support/mastra-agent.ts';
import { startTracing, stopTracing } from '../test-support/tracing.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { type BreakerProcessor, breakerHooks, breakerProcessor } from './mastra.ts';

const STALE = 'stale: retrieved 1970-01-01 00:00:00 UTC';
const INSTRUCTIONS = 'You are of use.';
const settings = { maxSteps: 20 };
const once = (more: object = {}) => watchedSession({ tools: { search: { failureThreshold: 1, ...more } } });

/** Works once, and then no more. */
const failing = (answer: unknown) => {
  const answers = [answer];
  return () => (answers.length > 0 ? answers.pop() : Promise.reject(refused));
};

afterEach(stopTracing);

describe('F2: an open circuit answers with the last good result, labelled stale', () => {
  const steps = [[ask('x')], [ask('x')], [ask('x')], 'Done.'];

  test.each([
    ['a text', 'found', `[${STALE}]\nfound`],
    ['an object', { hits: [1] }, JSON.stringify({ hits: [1], freshness: STALE })],
    ['a list', ['hit'], JSON.stringify({ result: ['hit'], freshness: STALE })],
  ])('%s', async (_, answer, expected) => {
    for (const guarded of Object.values(guards)) {
      const watched = once({ serveStaleMs: 60_000 });
      const config = { tools: { search: search(failing(answer)) }, ...guarded(watched) };
      const { agent, heard } = agentOf(steps, config);
      await agent.generate('Go.', settings);
      expect(heard()[2]).toBe(expected);
      expect(watched.decisions).toEqual(['search: call', 'search: call', 'search: skip']);
    }
  });

  test('toModelOutput of a tool is kept, behind the label', async () => {
    const toModelOutput = (output: unknown) => ({ type: 'text', value: (output as string[]).join() });
    const watched = once({ serveStaleMs: 60_000 });
    const tools = { search: search(failing(['a', 'b']), { toModelOutput }) };
    const { agent, heard } = agentOf(steps, { tools, ...guards.both(watched) });
    await agent.generate('Go.', settings);
    expect(heard()).toEqual([
      'a,b',
      expect.stringMatching(/^connect ECONNREFUSED 127.0.0.1:9\n<breakerbox>/),
      `[${STALE}]\na,b`,
    ]);
  });
});

describe('turns', () => {
  test('P1: a turn in which Mastra asks a second model is one turn', async () => {
    const { session } = watchedSession();
    const down = new MockLanguageModelV4({ doGenerate: () => Promise.reject(new Error('overloaded')) });
    const models = [down, scriptedModel(['Done.']).model].map((one) => ({
      model: one as MastraModelConfig,
      maxRetries: 0,
    }));
    const both = agentOf([], { model: models as AgentConfig['model'], inputProcessors: [breakerProcessor(session)] });
    expect((await both.agent.generate('Go.', settings)).text).toBe('Done.');
    expect(session.view().step).toBe(1);
  });
});

describe('the note', () => {
  const play = async (options: Parameters<typeof breakerProcessor>[1], config: Partial<AgentConfig> = {}) => {
    const watched = once();
    const tools = { search: broken };
    const guarded = guards.both(watched, options);
    const run = agentOf([[ask('x')], [ask('y')], [ask('z')], 'Done.'], { tools, ...guarded, ...config });
    await run.agent.generate('Go.', settings);
    return run.system();
  };

  test('comes after the system prompt while a tool is unavailable, in the same words', async () => {
    const [before, out, still, due] = await play({});
    expect(out).toEqual([INSTRUCTIONS, expect.stringContaining("'search'")]);
    expect(still).toEqual(out);
    expect([before, due]).toEqual([[INSTRUCTIONS], [INSTRUCTIONS]]);
  });

  test('is alone if there is no system prompt', async () => {
    const [first, second] = await play({}, { instructions: '' });
    expect(first?.join('')).toBe('');
    expect(second?.join('')).toContain("'search'");
  });

  test('is left out if it is disabled', async () => {
    expect(await play({ note: false })).toEqual(Array(4).fill([INSTRUCTIONS]));
  });
});

describe('hiding unavailable tools', () => {
  const offeredTo = async (steps: number, more: object = {}, config: Partial<AgentConfig> = {}) => {
    const watched = once();
    openSearch(watched, steps);
    const tools = { search: broken, news: search(() => 'news') };
    const { agent, offered } = agentOf(['Done.'], { tools, ...guards.both(watched, { hide: true }), ...config });
    await agent.generate('Go.', { ...settings, ...more });
    return offered();
  };

  test('hides unavailable tools, and never a tool that is due for a probe', async () => {
    expect(await offeredTo(0)).toEqual([['news']]);
    expect(await offeredTo(3)).toEqual([['search', 'news']]);
  });

  test('keeps the tool of the tool choice, respects active tools, and never hides all', async () => {
    expect(await offeredTo(0, { toolChoice: { type: 'tool', toolName: 'search' } })).toEqual([['search', 'news']]);
    expect(await offeredTo(0, { activeTools: ['search'] })).toEqual([['search']]);
    expect(await offeredTo(0, { activeTools: ['news'] })).toEqual([['news']]);
  });

  test('happens only if it is enabled', async () => {
    const watched = once();
    openSearch(watched);
    const { agent, offered } = agentOf(['Done.'], { tools: { search: broken }, ...guards.both(watched) });
    await agent.generate('Go.', settings);
    expect(offered()).toEqual([['search']]);
  });
});

describe('breakerProcessor()', () => {
  test('C2: declares tools at the first turn, except those without execute', async () => {
    const { box, session } = watchedSession();
    const inputProcessors = [breakerProcessor(() => session)];
    const { agent } = agentOf(['Done.'], { tools: { search: broken }, inputProcessors });
    const ui = createTool({ id: 'ui', description: 'Shows' });
    await agent.generate('Go.', { ...settings, clientTools: { ui } });
    expect(box.tools).toEqual(['search']);
  });

  test('O4: reads tokens when a call ends', async () => {
    const watched = watchedSession();
    const [ends, spent]: [unknown[], unknown[]] = [[], []];
    watched.box.on('outcome', (event) => spent.push(event.tokens));
    const tokens = ({ result, error }: { result?: unknown; error?: unknown }, tool: string) => {
      ends.push([tool, result ?? (error as Error).message]);
      return 7;
    };
    const { agent } = agentOf([[ask('x')], [ask('y')], 'Done.'], {
      tools: { search: search(failing('found')) },
      ...guards.both(watched, { tokens }),
    });
    await agent.generate('Go.', settings);
    expect(ends).toEqual([
      ['search', 'found'],
      ['search', 'connect ECONNREFUSED 127.0.0.1:9'],
    ]);
    expect(spent).toEqual([7, 7]);
  });

  test('gives each decision one span with hooks and processor, and the spans of the tool are its children', async () => {
    const traced = startTracing();
    const watched = watchedSession();
    const looking = search(() => {
      trace.getTracer('test').startSpan('GET').end();
      return 'found';
    });
    const { agent } = agentOf([[ask('x')], 'Done.'], { tools: { search: looking }, ...guards.both(watched) });
    await agent.generate('Go.', settings);
    expect(traced.paths()).toEqual(['execute_tool search > GET', 'execute_tool search']);
    expect(watched.decisions).toEqual(['search: call']);
  });

  test('E6: rejects values that are not a session, and invalid options', () => {
    expect(() => breakerProcessor(5 as never)).toThrow(/breakerProcessor\(\): got a value of type number/);
    const { session } = watchedSession();
    expect(() => breakerProcessor(session, { timeoutMs: 0 })).toThrow(/timeoutMs: is 0/);
    expect(() => breakerProcessor(session, { hide: 'all' } as never)).toThrow(/hide: is of type string/);
    expect(() => breakerProcessor(session, { notes: true } as never)).toThrow(/notes: is not an option/);
  });

  test('is an input processor of an agent, and keeps its type', () => {
    const { session } = watchedSession();
    expectTypeOf(breakerProcessor(session)).toEqualTypeOf<BreakerProcessor>();
    const config = { hooks: breakerHooks(session), inputProcessors: [breakerProcessor(session)] };
    expectTypeOf(config).toExtend<Partial<AgentConfig>>();
  });
});
