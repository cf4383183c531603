/** D1: an agent in a tool of another agent is a sub-agent by itself: one tree in the report, and one trace. */
import { createBreakerbox, type Session } from '@breakerbox/core';
import { report } from '@breakerbox/core/report';
import { context } from '@opentelemetry/api';
import { afterEach, expect, test } from 'vitest';
import { startTracing, stopTracing } from '../../packages/instrumentation/src/test-support/tracing.ts';
import { frameworks } from './nested-agents.ts';

afterEach(stopTracing);

/** A run of two agents with one session: what its report says, and its spans. */
const runOf = async (run: (session: Session) => PromiseLike<unknown>) => {
  const traced = startTracing();
  const box = createBreakerbox({ agent: 'test-agent', limits: { calls: 50, steps: 50 } });
  const session = box.session({ id: 'run-1', span: true });
  await context.with(session.context, () => run(session));
  const { children } = report(session);
  const used = session.view().limits?.map(({ limit, used }) => `${limit}: ${used}`);
  session.end();
  const tree = children?.map(({ name, ended, used, children }) => {
    const { calls, steps } = used;
    return { name, ended, calls, steps, children };
  });
  return { tree, used, paths: traced.paths() };
};

/** @param steps Turns of the sub-agent, of which the report tells. */
const expectTree = (
  { tree, used, paths }: Awaited<ReturnType<typeof runOf>>,
  name: string,
  { steps = 3, allSteps = 5, tool = name } = {},
): void => {
  expect(tree).toEqual([{ name, ended: true, calls: 2, steps, children: [] }]);
  expect(used).toEqual(['calls: 3', `steps: ${allSteps}`]);
  // One trace: each span is beneath that of the session, and the sub-agent's beneath the tool that it runs in.
  for (const path of paths) expect(path).toMatch(/^invoke_agent test-agent/);
  const child = paths.filter((path) => path.endsWith(` > invoke_agent ${name}`));
  expect(child).toHaveLength(1);
  expect(child[0]?.split(' > ').at(-2)).toMatch(/^(?:execute_tool|breakerbox\.call) /);
  expect(child[0]?.split(' > ').at(-2)).toContain(tool);
  const searches = paths.filter((path) => /(?:execute_tool|breakerbox\.call) search$/.test(path));
  expect(searches.length).toBeGreaterThanOrEqual(2);
  for (const path of searches) expect(path).toContain(` ${tool} > `);
};

test.each(frameworks)('D1: $name', async ({ run, tool = 'research', told }) => {
  expectTree(await runOf(run), tool, told);
});

const throwing = frameworks.filter(({ name }) => !name.includes('breakerTelemetry') && !name.startsWith('Claude'));
test.each(throwing)(
  'D1: $name: a sub-agent that may not begin is a call that was denied',
  async ({ run, tool = 'research' }) => {
    const box = createBreakerbox({ agent: 'test-agent', maxChildren: 1 });
    const session = box.session();
    session.child({ name: 'other' });
    const outcomes: string[] = [];
    box.on('outcome', ({ tool, outcome, category }) => outcomes.push(`${tool}: ${outcome}, ${category}`));
    await run(session);
    expect(outcomes).toEqual([`${tool}: ignored, denied`]);
    expect(report(session).children).toHaveLength(1);
  },
);
