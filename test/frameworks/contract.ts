import { ATTR } from '@breakerbox/core';
import { currentSession, withSession } from '@breakerbox/instrumentation';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import { trace } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { startTracing, stopTracing } from '../../packages/instrumentation/src/test-support/tracing.ts';
import { watchedSession } from '../../packages/instrumentation/src/test-support/watched-session.ts';
import type { AgentEnd, AgentRun, Feature, Harness, ToolBody } from './harness.ts';

const refusedConnection = (): Error =>
  Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });

const failing: ToolBody = async () => {
  throw refusedConnection();
};

const ask = (q: unknown, tool = 'search') => ({ tool, input: { q } });
/** So many turns in which the model calls `search`, each time with other arguments. */
const asking = (turns: number): ScriptedStep[] => Array.from({ length: turns }, (_, turn) => [ask(`${turn}`)]);

const HANGING_MS = 40;
const hanging: ToolBody = () => new Promise(() => {});

/** What the model must read of a tool that is out. */
const REFUSAL = /Tool 'search' is unavailable: its last calls failed \(network\)\. Do not retry it now/;

/**
 * The same behaviour in each framework: every adapter runs these in the framework's own agent loop. What the framework has
 * no place for is told by the harness, and shown in the list of tests with its reason.
 */
export const contract = (harness: Harness): void => {
  const { framework, lacks } = harness;
  const run = (agent: AgentRun): Promise<AgentEnd> => harness.run(agent);
  const testIf = (features: readonly Feature[], name: string, body: () => Promise<void>): void => {
    const missing = features.find((feature) => lacks[feature] !== undefined);
    if (missing === undefined) test(name, body);
    else test.skip(`${name} (${missing}: ${lacks[missing]})`, body);
  };

  afterEach(stopTracing);

  describe(framework, () => {
    test('a tool that works is called, and the model reads its result', async () => {
      const watched = watchedSession();
      const search = vi.fn(async ({ q }: { q: string }) => `found ${q}`);
      const { text, heard } = await run({ session: watched.session, tools: { search }, script: [[ask('x')], 'Done.'] });
      expect(text).toBe('Done.');
      expect(heard).toEqual([expect.stringContaining('found x')]);
      expect(search).toHaveBeenCalledOnce();
      expect(watched.decisions).toEqual(['search: call']);
      expect(watched.outcomes).toEqual(['search: success']);
    });

    test('E3: results that are falsy or objects are successes too', async () => {
      const watched = watchedSession();
      const answers: unknown[] = [0, '', false, { rows: [] }];
      const search = async () => answers.shift();
      const { text, heard } = await run({
        session: watched.session,
        tools: { search },
        script: [...asking(4), 'Done.'],
      });
      expect(text).toBe('Done.');
      expect(heard).toHaveLength(4);
      expect(watched.outcomes).toEqual(Array(4).fill('search: success'));
    });

    test('a tool that throws has failed; the loop goes on', async () => {
      const watched = watchedSession();
      const { text, heard } = await run({
        session: watched.session,
        tools: { search: failing },
        script: [[ask('x')], 'Done.'],
      });
      expect(text).toBe('Done.');
      expect(heard).toHaveLength(1);
      if (lacks.errorText === undefined) expect(heard[0]).toContain('ECONNREFUSED');
      expect(watched.outcomes).toEqual(['search: failure, network']);
    });

    test('a tool that throws at once is the same', async () => {
      const watched = watchedSession();
      const search = () => {
        throw refusedConnection();
      };
      const { text } = await run({ session: watched.session, tools: { search }, script: [[ask('x')], 'Done.'] });
      expect(text).toBe('Done.');
      expect(watched.outcomes).toEqual(['search: failure, network']);
    });

    testIf(['inBandErrors'], 'O2: an error that is returned counts as what its text says', async () => {
      const watched = watchedSession();
      const answers = [harness.inBand('HTTP 503 Service Unavailable'), harness.inBand('unknown order id')];
      const search = async () => answers.shift();
      const { heard } = await run({ session: watched.session, tools: { search }, script: [...asking(2), 'Done.'] });
      expect(heard).toEqual([expect.stringContaining('503'), expect.stringContaining('unknown order id')]);
      expect(watched.outcomes).toEqual(['search: failure, server', 'search: ignored, tool_error']);
    });

    testIf(
      ['invalidInput'],
      'O1: arguments that the schema refuses cost nothing, and never reach the tool',
      async () => {
        const watched = watchedSession();
        const search = vi.fn(async () => 'found');
        const { text } = await run({ session: watched.session, tools: { search }, script: [[ask(5)], 'Done.'] });
        expect(text).toBe('Done.');
        expect(search).not.toHaveBeenCalled();
        expect(watched.outcomes.filter((one) => one !== 'search: ignored, invalid_input')).toEqual([]);
        expect(watched.session.view().budget.consumed).toBe(0);
        expect(watched.session.acquire('search').decision).toBe('call');
      },
    );

    testIf(['unknownTool'], 'a name that the model made up gets no circuit and costs nothing', async () => {
      const watched = watchedSession();
      const search = async () => 'found';
      const script = [[ask('x', 'made_up')], [ask('x')], 'Done.'];
      const { text } = await run({ session: watched.session, tools: { search }, script });
      expect(text).toBe('Done.');
      expect(watched.session.peek('made_up')).toBeUndefined();
      expect(watched.session.view().budget.consumed).toBe(0);
      expect(watched.outcomes).toContain('search: success');
    });

    testIf(['timeoutMs'], 'a tool that hangs fails by our time-out; the loop goes on', async () => {
      const watched = watchedSession();
      const signals: (AbortSignal | undefined)[] = [];
      const search: ToolBody = (_, signal) => {
        signals.push(signal);
        return new Promise(() => {});
      };
      const { text } = await run({
        session: watched.session,
        tools: { search },
        script: [[ask('x')], 'Done.'],
        timeoutMs: HANGING_MS,
      });
      expect(text).toBe('Done.');
      expect(watched.outcomes).toEqual(['search: failure, timeout']);
      if (signals[0] !== undefined) expect(signals[0].aborted).toBe(true);
    });

    testIf(['frameworkTimeout'], "a tool that hangs fails by the framework's own time-out", async () => {
      const watched = watchedSession();
      await run({
        session: watched.session,
        tools: { search: hanging },
        script: [[ask('x')], 'Done.'],
        frameworkTimeoutMs: HANGING_MS,
      }).catch(() => {});
      await watched.settled(1);
      expect(watched.outcomes).toEqual(['search: failure, timeout']);
    });

    testIf(['abort'], "O1: the caller's abort costs nothing", async () => {
      const watched = watchedSession();
      const caller = new AbortController();
      const search: ToolBody = () => {
        setTimeout(() => caller.abort(), 1);
        return new Promise(() => {});
      };
      const script: readonly ScriptedStep[] = [[ask('x')], 'Done.'];
      await run({ session: watched.session, tools: { search }, script, signal: caller.signal }).catch(() => {});
      await watched.settled(1);
      expect(watched.outcomes).toEqual(['search: ignored, cancelled']);
      expect(watched.session.view().budget.consumed).toBe(0);
    });

    test('R3: at the third failure the circuit opens; the model is told, the tool is left alone, and the loop goes on', async () => {
      const watched = watchedSession();
      const search = vi.fn(failing);
      const { text, heard } = await run({
        session: watched.session,
        tools: { search },
        script: [...asking(4), 'Done.'],
      });
      expect(text).toBe('Done.');
      expect(heard[3]).toMatch(REFUSAL);
      expect(search).toHaveBeenCalledTimes(3);
      expect(watched.decisions).toEqual([...Array(3).fill('search: call'), 'search: skip']);
      expect(watched.outcomes).toEqual(Array(3).fill('search: failure, network'));
    });

    test('R2: the model is told where to go instead, and goes there', async () => {
      const alternatives = [{ tool: 'news', degradation: 'low', note: 'recent items only' } as const];
      const watched = watchedSession({ tools: { search: { failureThreshold: 1, alternatives }, news: {} } });
      const script: readonly ScriptedStep[] = [[ask('a')], [ask('b')], [ask('b', 'news')], 'Done.'];
      const tools = { search: failing, news: async () => 'the news' };
      const { text, heard } = await run({ session: watched.session, tools, script });
      expect(text).toBe('Done.');
      expect(heard[1]).toMatch(/unavailable.*'news'.*recent items only/s);
      expect(heard[2]).toContain('the news');
      expect(watched.decisions).toEqual(['search: call', 'search: skip', 'news: call']);
    });

    testIf(['steps'], 'P1: the turns of the loop bring the probe, and a tool that is back is used again', async () => {
      const watched = watchedSession();
      let calls = 0;
      const search: ToolBody = async () => {
        calls += 1;
        if (calls <= 3) throw refusedConnection();
        return 'found';
      };
      const { heard } = await run({ session: watched.session, tools: { search }, script: [...asking(7), 'Done.'] });
      expect(heard.slice(5)).toEqual([expect.stringContaining('found'), expect.stringContaining('found')]);
      expect(watched.decisions.slice(3)).toEqual(['search: skip', 'search: skip', 'search: probe', 'search: call']);
      expect(watched.session.peek('search')).toMatchObject({ state: 'closed' });
    });

    testIf(['steps'], 'P1: calls side by side are one step', async () => {
      const watched = watchedSession();
      const four = ['a', 'b', 'c', 'd'].map((q) => ask(q));
      await run({
        session: watched.session,
        tools: { search: async () => 'found' },
        script: [four, [ask('e')], 'Done.'],
      });
      expect(watched.outcomes).toEqual(Array(5).fill('search: success'));
      // Whether the last turn, which only speaks, is told of as well differs from framework to framework.
      expect([2, 3]).toContain(watched.session.view().step);
    });

    test('calls side by side each have a decision; the broken tool does not harm the one that works', async () => {
      const watched = watchedSession({ budget: { failures: 10 } });
      const script = [[ask('a'), ask('b'), ask('c'), ask('x', 'news')], [ask('d'), ask('y', 'news')], 'Done.'];
      const tools = { search: failing, news: async () => 'the news' };
      const { text, heard } = await run({ session: watched.session, tools, script });
      expect(text).toBe('Done.');
      expect(heard).toHaveLength(6);
      expect(heard[3]).toContain('the news');
      expect(heard[4]).toMatch(REFUSAL);
      expect(heard[5]).toContain('the news');
      expect(watched.decisions.filter((one) => one.startsWith('search')).toSorted()).toEqual([
        ...Array(3).fill('search: call'),
        'search: skip',
      ]);
      expect(watched.outcomes.filter((one) => one.startsWith('news'))).toEqual(Array(2).fill('news: success'));
    });

    test('B1: when the budget is spent no tool is called, healthy ones too, and the model is told', async () => {
      const watched = watchedSession({ budget: { failures: 2 } });
      const news = vi.fn(async () => 'the news');
      const script = [...asking(2), [ask('x', 'news')], 'Done.'];
      const { text, heard } = await run({ session: watched.session, tools: { search: failing, news }, script });
      expect(text).toBe('Done.');
      expect(news).not.toHaveBeenCalled();
      expect(watched.decisions).toEqual(['search: call', 'search: call', 'news: pause']);
      expect(heard[2]).toMatch(/paused/);
    });

    test('O5: the same call that fails in the same way again and again is skipped for those arguments alone', async () => {
      const watched = watchedSession({ defaults: { failureThreshold: 9 }, budget: { failures: 9 } });
      const script = [[ask('x')], [ask('x')], [ask('x')], [ask('x')], [ask('y')], 'Done.'];
      const { heard } = await run({ session: watched.session, tools: { search: failing }, script });
      expect(watched.decisions).toEqual([...Array(3).fill('search: call'), 'search: skip', 'search: call']);
      expect(heard[3]).toMatch(/the same call has come to nothing/);
    });

    testIf(['stale'], 'F2: a tool that allows it answers with its last good result, labelled', async () => {
      const watched = watchedSession({ tools: { search: { failureThreshold: 1, serveStaleMs: 60_000 } } });
      let calls = 0;
      const search: ToolBody = async () => {
        calls += 1;
        if (calls > 1) throw refusedConnection();
        return 'found once';
      };
      const script = [[ask('x')], [ask('down')], [ask('x')], 'Done.'];
      const { text, heard } = await run({ session: watched.session, tools: { search }, script });
      expect(text).toBe('Done.');
      expect(heard[2]).toMatch(/stale.*found once/s);
      expect(watched.decisions).toEqual(['search: call', 'search: call', 'search: skip']);
    });

    testIf(['approval'], 'C8: a call that a person refuses costs nothing, and takes no probe with it', async () => {
      const watched = watchedSession({ tools: { search: { failureThreshold: 1 } } });
      watched.session.acquire('search').settle({ outcome: 'failure', category: 'network' });
      for (let step = 0; step < 3; step += 1) watched.session.step();
      const search = vi.fn(async () => 'found');
      await run({
        session: watched.session,
        tools: { search },
        script: [[ask('x')], 'Done.'],
        deny: ['search'],
      });
      expect(search).not.toHaveBeenCalled();
      expect(watched.outcomes.slice(1).filter((one) => !one.startsWith('search: ignored'))).toEqual([]);
      expect(watched.session.acquire('search').decision).toBe('probe');
    });

    testIf(['generators'], 'a tool that answers piece by piece is followed to its end', async () => {
      const watched = watchedSession();
      let calls = 0;
      const search: ToolBody = async function* () {
        calls += 1;
        yield 'searching';
        if (calls > 1) throw refusedConnection();
        yield 'found';
      };
      const { text, heard } = await run({
        session: watched.session,
        tools: { search },
        script: [...asking(2), 'Done.'],
      });
      expect(text).toBe('Done.');
      expect(heard[0]).toContain('found');
      expect(watched.outcomes).toEqual(['search: success', 'search: failure, network']);
    });

    testIf(['sessionFunction'], 'conversations side by side each have their own session', async () => {
      const [broken, working] = [watchedSession(), watchedSession()];
      const script = [...asking(4), 'Done.'];
      const [first, second] = await Promise.all([
        withSession(broken.session, () => run({ session: currentSession, tools: { search: failing }, script })),
        withSession(working.session, () =>
          run({ session: currentSession, tools: { search: async () => 'found' }, script }),
        ),
      ]);
      expect(first.heard[3]).toMatch(REFUSAL);
      expect(second.heard).toEqual(Array(4).fill(expect.stringContaining('found')));
      expect(broken.decisions).toEqual([...Array(3).fill('search: call'), 'search: skip']);
      expect(working.decisions).toEqual(Array(4).fill('search: call'));
    });

    test('each decision has exactly one span', async () => {
      const traced = startTracing();
      const watched = watchedSession();
      await run({ session: watched.session, tools: { search: failing }, script: [...asking(4), 'Done.'] });
      const ours = harness.nativeSpan ? 'breakerbox.call search' : 'execute_tool search';
      const decided = (name: string) => traced.attributes(name).filter((all) => all[ATTR.decision] !== undefined);
      expect(decided(ours)).toHaveLength(3);
      expect(decided('breakerbox.skip search')).toHaveLength(1);
      expect(watched.decisions).toHaveLength(4);
    });

    testIf(['nativeSpan'], "our span is beneath the framework's own span of the tool's run", async () => {
      const traced = startTracing();
      const { session } = watchedSession();
      await run({ session, tools: { search: async () => 'found' }, script: [[ask('x')], 'Done.'] });
      const path = traced.paths().find((one) => one.endsWith('breakerbox.call search'));
      expect(path?.split(' > ').at(-2)).toBe(harness.nativeSpan?.('search'));
    });

    testIf(['toolSpansBeneath'], 'the spans of the tool are beneath ours', async () => {
      const traced = startTracing();
      const { session } = watchedSession();
      const search = async () => {
        trace.getTracer('test').startSpan('GET').end();
        return 'found';
      };
      await run({ session, tools: { search }, script: [[ask('x')], 'Done.'] });
      const path = traced.paths().find((one) => one.endsWith('GET'));
      expect(path?.split(' > ').at(-2)).toBe(harness.nativeSpan ? 'breakerbox.call search' : 'execute_tool search');
    });
  });
};
