import { expect, test, vi } from 'vitest';
import { watchedSession } from '../../packages/instrumentation/src/test-support/watched-session.ts';
import { ask, asking, HANGING_MS, type Suite } from './contract-suite.ts';
import type { ToolBody } from './harness.ts';

/** Limits of the run (D2, D4). */
export const limits = ({ harness, run, testIf }: Suite): void => {
  testIf(['timeoutMs'], 'D4: a tool that hangs ends with the time of the run, which is not its fault', async () => {
    const watched = watchedSession({ limits: { durationMs: 2 * HANGING_MS } });
    const signals: (AbortSignal | undefined)[] = [];
    const search: ToolBody = (_, signal) => {
      signals.push(signal);
      return new Promise(() => {});
    };
    const { text } = await run({ session: watched.session, tools: { search }, script: [[ask('x')], 'Done.'] });
    expect(text).toBe('Done.');
    expect(watched.outcomes).toEqual(['search: ignored, cancelled']);
    if (harness.lacks.toolSignal === undefined) expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  });

  testIf(['note'], 'D2: at 80 % of a limit, the model reads beside one result what is left', async () => {
    const watched = watchedSession({ limits: { calls: 10 } });
    const search = async ({ q }: { q: string }) => `found ${q}`;
    const { heard } = await run({ session: watched.session, tools: { search }, script: [...asking(9), 'Done.'] });
    const noted = heard.filter((text) =>
      /<breakerbox>This run has used 8 of 10 tool calls\..*<\/breakerbox>/s.test(text),
    );
    expect(noted).toEqual([expect.stringContaining('found 7')]);
    expect(heard.filter((text) => text.includes('breakerbox'))).toEqual(noted);
    expect(watched.outcomes).toEqual(Array(9).fill('search: success'));
  });

  testIf(['note'], 'D5: a model that goes in circles reads one note beside a result', async () => {
    const watched = watchedSession({ loopGuard: { circles: true } });
    const search = async () => 'the same';
    const script = [...Array.from({ length: 5 }, () => [ask('x')]), 'Done.'];
    const { heard } = await run({ session: watched.session, tools: { search }, script });
    expect(heard.map((text) => text.includes('made 3 times over'))).toEqual([false, false, true, false, false]);
  });

  test('D2: at 100 % no tool is called, and the model reads that it has to report', async () => {
    const watched = watchedSession({ limits: { calls: 2 } });
    const search = vi.fn(async () => 'found');
    const { text, heard } = await run({ session: watched.session, tools: { search }, script: [...asking(3), 'Done.'] });
    expect(text).toBe('Done.');
    expect(search).toHaveBeenCalledTimes(2);
    expect(heard).toHaveLength(3);
    for (const answer of heard.slice(2)) {
      expect(answer).toContain('Tool calls are paused: this run has used 2 of 2 tool calls.');
      expect(answer).toContain('Report what is done');
    }
  });

  testIf(
    ['nested'],
    'D1: a sub-agent that may not begin is a call that was denied, and the model reads why',
    async () => {
      const watched = watchedSession({ maxChildren: 1 });
      watched.session.child();
      const search = async () => {
        watched.session.child();
      };
      const { text, heard } = await run({ session: watched.session, tools: { search }, script: [[ask('x')], 'Done.'] });
      expect(text).toBe('Done.');
      if (harness.lacks.errorText === undefined)
        expect(heard[0]).toContain('1 of them are at work already (maxChildren)');
      expect(watched.outcomes).toEqual(['search: ignored, denied']);
    },
  );
};
