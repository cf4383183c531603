import { guard } from '@breakerbox/instrumentation';
import { currentSession, withSession } from '@breakerbox/instrumentation/session';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import { expect, test, vi } from 'vitest';
import { watchedSession } from '../../packages/instrumentation/src/test-support/watched-session.ts';
import { ask, asking, dueForProbe, failing, REJECTION, refusedConnection, type Suite } from './contract-suite.ts';
import type { ToolBody } from './harness.ts';

/** How a failing tool affects the calls after it, and the model. */
export const circuits = ({ harness, run, testIf }: Suite): void => {
  test('R3: the third failure opens the circuit: the model is told, the tool is not called, and the loop continues', async () => {
    const watched = watchedSession();
    const search = vi.fn(failing);
    const { text, heard } = await run({
      session: watched.session,
      tools: { search },
      script: [...asking(4), 'Done.'],
    });
    expect(text).toBe('Done.');
    expect(heard[3]).toMatch(REJECTION);
    expect(search).toHaveBeenCalledTimes(3);
    expect(watched.decisions).toEqual([...Array(3).fill('search: call'), 'search: skip']);
    expect(watched.outcomes).toEqual(Array(3).fill('search: failure, network'));
  });

  test('R2: the model reads of the alternative, and calls it', async () => {
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

  testIf(
    ['steps'],
    'P1: the turns of the loop bring the probe, and a tool that works again is used again',
    async () => {
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
    },
  );

  testIf(['steps'], 'P1: parallel calls are one step', async () => {
    const watched = watchedSession();
    const four = ['a', 'b', 'c', 'd'].map((q) => ask(q));
    await run({
      session: watched.session,
      tools: { search: async () => 'found' },
      script: [four, [ask('e')], 'Done.'],
    });
    expect(watched.outcomes).toEqual(Array(5).fill('search: success'));
    expect(watched.session.view().step).toBe(harness.lastTurnUntold ? 2 : 3);
  });

  test('parallel calls each have a decision, and the broken tool does not affect the one that works', async () => {
    const watched = watchedSession({ budget: { failures: 10 } });
    const script = [[ask('a'), ask('b'), ask('c'), ask('x', 'news')], [ask('d'), ask('y', 'news')], 'Done.'];
    const tools = { search: failing, news: async () => 'the news' };
    const { text, heard } = await run({ session: watched.session, tools, script });
    expect(text).toBe('Done.');
    expect(heard).toHaveLength(6);
    expect(heard[3]).toContain('the news');
    expect(heard[4]).toMatch(REJECTION);
    expect(heard[5]).toContain('the news');
    expect(watched.decisions.filter((one) => one.startsWith('search')).toSorted()).toEqual([
      ...Array(3).fill('search: call'),
      'search: skip',
    ]);
    expect(watched.outcomes.filter((one) => one.startsWith('news'))).toEqual(Array(2).fill('news: success'));
  });

  test('B1: when the budget is spent no tool is called, not even healthy ones, and the model is told', async () => {
    const watched = watchedSession({ budget: { rule: 'strict', failures: 2 } });
    const news = vi.fn(async () => 'the news');
    const script = [...asking(2), [ask('x', 'news')], 'Done.'];
    const { text, heard } = await run({ session: watched.session, tools: { search: failing, news }, script });
    expect(text).toBe('Done.');
    expect(news).not.toHaveBeenCalled();
    expect(watched.decisions).toEqual(['search: call', 'search: call', 'news: pause']);
    expect(heard[2]).toMatch(/paused/);
  });

  test('O5: a call that repeatedly fails in the same way is skipped for those arguments only', async () => {
    const watched = watchedSession({ defaults: { failureThreshold: 9 }, budget: { failures: 9 } });
    const script = [[ask('x')], [ask('x')], [ask('x')], [ask('x')], [ask('y')], 'Done.'];
    const { heard } = await run({ session: watched.session, tools: { search: failing }, script });
    expect(watched.decisions).toEqual([...Array(3).fill('search: call'), 'search: skip', 'search: call']);
    expect(heard[3]).toMatch(/the same call has failed in the same way/);
  });

  testIf(['stale'], 'F2: a tool with serveStaleMs answers with its last good result, labelled', async () => {
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

  testIf(['approval'], 'C8: a call that a person denies costs nothing, and does not use up a probe', async () => {
    const watched = dueForProbe();
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

  testIf(
    ['approval'],
    'C6: a call that a person approves runs once, as the probe that closes the circuit',
    async () => {
      const watched = dueForProbe();
      const search = vi.fn(async () => 'found');
      const { text, heard } = await run({
        session: watched.session,
        tools: { search },
        script: [[ask('x')], 'Done.'],
        approve: ['search'],
      });
      expect(text).toBe('Done.');
      expect(heard.at(-1)).toContain('found');
      expect(search).toHaveBeenCalledOnce();
      const asked = harness.asksInTool ? [['search: probe', 'search: ignored, cancelled']] : [];
      expect(watched.decisions.slice(1)).toEqual([...asked.map(([decision]) => decision), 'search: probe']);
      expect(watched.outcomes.slice(1)).toEqual([...asked.map(([, outcome]) => outcome), 'search: success']);
      expect(watched.session.peek('search')).toMatchObject({ state: 'closed' });
    },
  );

  test('E7: a session that has ended still decides, and the model is told', async () => {
    const watched = watchedSession();
    watched.session.end();
    const search = vi.fn(failing);
    const { text, heard } = await run({
      session: watched.session,
      tools: { search },
      script: [...asking(4), 'Done.'],
    });
    expect(text).toBe('Done.');
    expect(heard[3]).toMatch(REJECTION);
    expect(search).toHaveBeenCalledTimes(3);
    expect(watched.decisions).toEqual([...Array(3).fill('search: call'), 'search: skip']);
  });

  testIf(['nested'], 'B3: one error that passes through two guards costs one failure', async () => {
    const watched = watchedSession();
    const fetchPage = guard(watched.session, 'fetch_page', (input: { q: string }) => failing(input, undefined));
    const { text } = await run({
      session: watched.session,
      tools: { search: (input) => fetchPage(input) },
      script: [[ask('x')], 'Done.'],
    });
    expect(text).toBe('Done.');
    expect(watched.outcomes).toEqual(['fetch_page: failure, network', 'search: ignored, network']);
    const { limit, remaining } = watched.session.view().budget;
    expect(limit - remaining).toBe(1);
  });

  testIf(['sessionFunction'], 'parallel conversations each have their own session', async () => {
    const [broken, working] = [watchedSession(), watchedSession()];
    const script = [...asking(4), 'Done.'];
    const [first, second] = await Promise.all([
      withSession(broken.session, () => run({ session: currentSession, tools: { search: failing }, script })),
      withSession(working.session, () =>
        run({ session: currentSession, tools: { search: async () => 'found' }, script }),
      ),
    ]);
    expect(first.heard[3]).toMatch(REJECTION);
    expect(second.heard).toEqual(Array(4).fill(expect.stringContaining('found')));
    expect(broken.decisions).toEqual([...Array(3).fill('search: call'), 'search: skip']);
    expect(working.decisions).toEqual(Array(4).fill('search: call'));
  });
};
