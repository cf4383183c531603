import { ATTR } from '@breakerbox/core';
import { trace } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { startTracing } from '../../packages/instrumentation/src/test-support/tracing.ts';
import { watchedSession } from '../../packages/instrumentation/src/test-support/watched-session.ts';
import { ask, asking, failing, type Suite } from './contract-suite.ts';

/** One span for each decision, with the right parent. */
export const spans = ({ harness, run, testIf }: Suite): void => {
  test('each decision has exactly one span', async () => {
    const traced = startTracing();
    const watched = watchedSession();
    await run({ session: watched.session, tools: { search: failing }, script: [...asking(4), 'Done.'] });
    const ours = harness.nativeSpan ? 'breakerbox.call search' : 'execute_tool search';
    const decided = (name: string) => traced.attributes(name).filter((all) => all[ATTR.decision] !== undefined);
    expect(decided(ours)).toHaveLength(3);
    expect(decided('breakerbox.skip search')).toHaveLength(1);
    const types = [ours, 'breakerbox.skip search'].map((name) => decided(name)[0]?.[ATTR.toolType]);
    expect(new Set(types)).toEqual(new Set([harness.toolType ?? 'function']));
    expect(watched.decisions).toHaveLength(4);
  });

  testIf(['nativeSpan'], "our span is a child of the framework's own span for the tool", async () => {
    const traced = startTracing();
    const { session } = watchedSession();
    await run({ session, tools: { search: async () => 'found' }, script: [[ask('x')], 'Done.'] });
    const path = traced.paths().find((one) => one.endsWith('breakerbox.call search'));
    expect(path?.split(' > ').at(-2)).toBe(harness.nativeSpan?.('search'));
  });

  testIf(['toolSpansBeneath'], "the tool's spans are children of ours", async () => {
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
};
