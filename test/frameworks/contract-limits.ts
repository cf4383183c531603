import { expect } from 'vitest';
import { watchedSession } from '../../packages/instrumentation/src/test-support/watched-session.ts';
import { ask, HANGING_MS, type Suite } from './contract-suite.ts';
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
};
