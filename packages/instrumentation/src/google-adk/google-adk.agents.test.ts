import { report } from '@breakerbox/core/report';
import { scriptedModel } from '@breakerbox/scripted-models/google-adk';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import { AgentTool, InMemoryRunner, LiveRequestQueue, LlmAgent } from '@google/adk';
import { trace } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { currentSession, withSession } from '../session.ts';
import { adkRun, lastText, toolOf } from '../test-support/adk-run.ts';
import { startTracing, stopTracing } from '../test-support/tracing.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { BreakerPlugin, breakerCallbacks } from './google-adk.ts';

const ask = (q: string, tool = 'search') => ({ tool, input: { q } });
const asking = (...queries: string[]): ScriptedStep[] => [...queries.map((q) => [ask(q)]), 'Done.'];

const down = (): never => {
  throw Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });
};

afterEach(stopTracing);

describe('agents', () => {
  test('a transfer costs nothing, even while everything is paused; the tools of the other agent are guarded', async () => {
    const { session, decisions } = watchedSession({ budget: { failures: 1 } });
    session.acquire('other').settle({ outcome: 'failure', category: 'network' });
    const { model, heard } = scriptedModel(asking('a'));
    const subAgents = [new LlmAgent({ name: 'helper', model, tools: [toolOf('search', () => 'found')] })];
    const script = [[{ tool: 'transfer_to_agent', input: { agentName: 'helper' } }]];
    const run = await adkRun(script, [], [new BreakerPlugin(session)], { subAgents });
    expect(lastText(await run.say('go'))).toBe('Done.');
    expect(heard().at(-1)).toMatch(/paused/);
    expect(decisions).toEqual(['other: call', 'search: pause']);
    expect(session.view().step).toBe(3);
  });

  test.each([false, true])('inside an AgentTool: with callbacks of its own: %s', async (withCallbacks) => {
    const { session, decisions, outcomes } = watchedSession();
    const { model } = scriptedModel(asking('a'));
    const tools = [toolOf('search', down)];
    const agent = new LlmAgent({ name: 'helper', model, tools, ...(withCallbacks && breakerCallbacks(session)) });
    const script = [[{ tool: 'helper', input: { request: 'help' } }], 'Done.'];
    const run = await adkRun(script, [new AgentTool({ agent })], [new BreakerPlugin(session)]);
    await run.say('go');
    expect(run.heard()).toEqual(['Done.']);
    expect(decisions).toEqual(withCallbacks ? ['helper: call', 'search: call'] : ['helper: call']);
    expect(outcomes.at(-1)).toBe('helper: success');
    expect(session.view().step).toBe(2);
    const [child] = report(session).children ?? [];
    expect(child?.used.steps).toBe(withCallbacks ? 2 : undefined); // D1: its turns are those of a sub-agent.
  });

  test('a tool that both the plugin and callbacks reach is counted once', async () => {
    const { session, decisions } = watchedSession();
    const plugins = [new BreakerPlugin(session)];
    const run = await adkRun(asking('a'), [toolOf('search', down)], plugins, breakerCallbacks(session));
    await run.say('go');
    expect(decisions).toEqual(['search: call']);
    expect(session.view().step).toBe(2);
  });

  test('in a live run its tools are guarded', async () => {
    const { session, decisions } = watchedSession();
    const { model } = scriptedModel([]);
    const sent: unknown[] = [];
    model.connect = async () => ({
      sendHistory: async () => {},
      sendContent: async (content) => void sent.push(content),
      sendRealtime: async () => {},
      close: async () => {},
      async *receive() {
        yield { content: { role: 'model', parts: [{ functionCall: { name: 'search', args: { q: 'a' } } }] } };
      },
    });
    const agent = new LlmAgent({ name: 'researcher', model, tools: [toolOf('search', () => 'found')] });
    const runner = new InMemoryRunner({ agent, plugins: [new BreakerPlugin(session)] });
    const liveRequestQueue = new LiveRequestQueue();
    for await (const _ of runner.runLive({ userId: 'user', sessionId: 'live', liveRequestQueue }));
    expect(JSON.stringify(sent)).toContain('found');
    expect(decisions).toEqual(['search: call']);
  });
});

describe('around a run', () => {
  test("withSession goes around the loop that reads the run's events", async () => {
    const watched = watchedSession();
    const run = await adkRun(asking('a'), [toolOf('search', down)], [new BreakerPlugin(currentSession)]);
    await withSession(watched.session, () => run.say('go'));
    expect(watched.decisions).toEqual(['search: call']);
  });

  test('O1: a run whose caller has left before the tool is called makes no decision', async () => {
    const watched = watchedSession();
    const caller = new AbortController();
    const leaving = { beforeToolCallback: () => caller.abort() as undefined };
    const search = vi.fn(() => 'found');
    const run = await adkRun(asking('a'), [toolOf('search', search)], [new BreakerPlugin(watched.session)], leaving);
    await run.say('go', caller.signal);
    expect(search).not.toHaveBeenCalled();
    expect(watched.decisions).toEqual([]);
  });

  test("if ADK was loaded before telemetry started, ours is the only span of a tool's run", async () => {
    const traced = startTracing();
    const { session } = watchedSession();
    const search = (): string => {
      trace.getTracer('test').startSpan('GET').end();
      return 'found';
    };
    const run = await adkRun(asking('a'), [toolOf('search', search)], [new BreakerPlugin(session)]);
    await run.say('go');
    expect(traced.paths()).toEqual(['execute_tool search > GET', 'execute_tool search']);
  });
});
