import { createBreakerbox, type Session, type ToolConfig } from '@breakerbox/core';
import { guardTools } from '@breakerbox/instrumentation/ai-sdk';
import { generateText, isStepCount, type ToolSet, tool } from 'ai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createPlan, type Plan } from './plan.ts';
import { scriptedModel } from './scripted-model.ts';

const inputSchema = z.object({ q: z.string() });

const talk = async (
  tools: ToolSet,
  plan: Plan,
  onStale: (name: string, label: string) => void = () => undefined,
  steps = 20,
): Promise<string> => {
  const model = scriptedModel(plan, { thinkMs: 0, onStale });
  return (await generateText({ model, tools, prompt: 'Go.', stopWhen: isStepCount(steps) })).text;
};

const searching = (steps: number): Plan =>
  createPlan({ duties: [{ name: 'work', tools: ['search'] }], steps, input: () => ({ q: 'the same' }) });

const run = async (execute: (call: number) => unknown, steps = 2) => {
  let calls = 0;
  const search = tool({
    inputSchema,
    execute: () => {
      calls += 1;
      return execute(calls);
    },
  });
  const plan = searching(steps);
  const text = await talk({ search }, plan);
  return { text, calls, done: plan.done };
};

test("calls tools in the AI SDK's loop until the plan is done", async () => {
  expect(await run(() => 'found')).toEqual({ text: 'All done.', calls: 2, done: true });
});

test('asks again after a tool error', async () => {
  const flaky = (call: number): string => {
    if (call < 4) throw new Error('ECONNREFUSED');
    return 'found';
  };
  expect(await run(flaky)).toEqual({ text: 'All done.', calls: 4, done: true });
});

test('does not count an MCP error result as an answer', async () => {
  const flaky = (call: number) => ({ isError: call < 3, content: [] });
  expect(await run(flaky, 1)).toMatchObject({ calls: 3, done: true });
});

/** Search, which answered once and is now unavailable, and news, both guarded. */
const guarded = (settings: ToolConfig): { session: Session; tools: ToolSet; asked: string[] } => {
  const box = createBreakerbox({ agent: 'agent', tools: { search: settings, news: {} } });
  const session = box.session();
  session.acquire('search', { input: { q: 'the same' } }).settle({ result: { hits: 1 } });
  const down = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  for (let n = 0; n < 3; n += 1) session.acquire('search', { input: { q: String(n) } }).settle({ error: down });
  const asked: string[] = [];
  const named = (name: string): ToolSet[string] =>
    tool({
      inputSchema,
      execute: ({ q }) => {
        asked.push(`${name} ${q}`);
        return { from: name };
      },
    });
  return { session, asked, tools: guardTools({ search: named('search'), news: named('news') }, session) };
};

test('calls the tool that the message names, with the same arguments', async () => {
  const { tools, asked } = guarded({ alternatives: [{ tool: 'news', degradation: 'low' }] });
  await talk(tools, searching(1), undefined, 2);
  expect(asked).toEqual(['news the same']);
});

test('counts the answer of an alternative that the guard called', async () => {
  const adapt = (input: unknown): unknown => input;
  const { tools, asked } = guarded({ alternatives: [{ tool: 'news', degradation: 'low', adapt }] });
  const plan = searching(1);
  await talk(tools, plan, undefined, 3);
  expect(asked).toEqual(['news the same', 'news the same', 'news the same']);
  expect(plan.needsScope).toBe(true);
  expect(plan.done).toBe(false);
});

test('reports a last good result with its label', async () => {
  const { tools, asked } = guarded({ serveStaleMs: 60_000 });
  const labels: string[] = [];
  await talk(tools, searching(1), (name, label) => labels.push(`${name} ${label}`), 2);
  expect(asked).toEqual([]);
  expect(labels[0]).toMatch(/^search stale: retrieved \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
});

test('plans its scope again after a rejected call', async () => {
  const { tools } = guarded({ fallback: 'ask the user' });
  const plan = searching(1);
  await talk(tools, plan, undefined, 3);
  expect(plan.needsScope).toBe(true);
});

test('stops when it reads that tool calls are paused, or when all tasks are deferred', async () => {
  const { session, tools } = guarded({});
  const down = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  for (let n = 0; n < 3; n += 1) session.acquire('news', { input: { q: String(n) } }).settle({ error: down });
  const plan = searching(1);
  expect(await talk(tools, plan)).toBe('I stop here, because tool calls are paused.');
  plan.reduceTo(session.planScope(plan.tasks));
  expect(await talk(tools, plan)).toBe('I can do nothing now, because all remaining tasks are deferred.');
});
