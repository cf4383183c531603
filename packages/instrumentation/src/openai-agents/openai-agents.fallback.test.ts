import type { Alternative } from '@breakerbox/core';
import { type Tool, tool } from '@openai/agents';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { ask, refused, runAgent } from '../test-support/openai-runs.ts';
import { open, watchedSession } from '../test-support/watched-session.ts';
import { guardToolFactory } from './openai-agents.ts';

const parameters = z.object({ q: z.string() });
const topics = z.object({ topic: z.string() });
const search = { name: 'search', description: 'Searches', parameters };
const news = { name: 'news', description: 'Has news', parameters: topics };
const hits = z.object({ hits: z.array(z.string()) }).meta({ title: 'Hits', examples: [{ hits: ['a page'] }] });
const REJECTION = /Tool 'search' is unavailable/;

/** Works once, and then no more. */
const failing = <Answer>(answer: Answer) => {
  let calls = 0;
  return async (): Promise<Answer> => {
    calls += 1;
    if (calls > 1) throw refused;
    return answer;
  };
};
const stale = () => watchedSession({ tools: { search: { failureThreshold: 1, serveStaleMs: 60_000 } } });
/** Works, fails, and is asked again for what it gave. */
const again = [[ask('x')], [ask('down')], [ask('x')], 'Done.'];

const routed = () => {
  const adapt: Alternative['adapt'] = (input) => ({ topic: (input as { q: string }).q });
  const alternatives = [{ tool: 'news', degradation: 'high', note: 'recent items only', adapt } as const];
  return watchedSession({ tools: { search: { failureThreshold: 1, alternatives }, news: {} } });
};
const twice = [[ask('down')], [ask('x')], 'Done.'];

describe('a tool with an output schema', () => {
  it('returns the rejection without the schema; the run continues', async () => {
    const watched = watchedSession({ tools: { search: { failureThreshold: 1 } } });
    const execute = failing({ hits: ['a'] });
    const errorFunction = vi.fn(() => ({ hits: [] }));
    const made = guardToolFactory(tool, watched.session)({ ...search, outputSchema: hits, execute, errorFunction });
    const { text, heard } = await runAgent([made], [[ask('x')], [ask('y')], [ask('z')], 'Done.']);
    expect(text).toBe('Done.');
    expect(heard).toEqual(['{"hits":["a"]}', '{"hits":[]}', expect.stringMatching(REJECTION)]);
    expect(errorFunction).toHaveBeenCalledOnce();
  });

  it('shows the model the same schema', () => {
    const { session } = watchedSession();
    const execute = async () => ({ hits: [] });
    const guarded = guardToolFactory(tool, session)({ ...search, outputSchema: hits, execute });
    const plain = tool({ ...search, outputSchema: hits, execute });
    expect(JSON.stringify(plain.outputSchema)).toContain('a page');
    expect(guarded.outputSchema).toEqual(plain.outputSchema);
  });

  it('is checked by it', async () => {
    const { session } = watchedSession();
    const execute = async () => ({ hits: 5 }) as never;
    const made = guardToolFactory(tool, session)({ ...search, outputSchema: hits, execute });
    await expect(runAgent([made], [[ask('x')], 'Done.'])).rejects.toThrow(/Invalid output/);
  });

  it('F2: has its label beside the fields of the schema', async () => {
    const watched = stale();
    const execute = failing({ hits: ['a'], secret: 1 });
    const errorFunction = () => ({ hits: [] });
    const made = guardToolFactory(tool, watched.session)({ ...search, outputSchema: hits, execute, errorFunction });
    const { heard } = await runAgent([made], again);
    expect(JSON.parse(heard[2] ?? '')).toEqual({ hits: ['a'], freshness: expect.stringContaining('stale') });
  });

  it('with only JSON Schema is not checked: rejections pass unchanged', async () => {
    const watched = watchedSession({ tools: { search: { failureThreshold: 1 } } });
    const outputSchema = { type: 'object' as const, properties: {}, required: [], additionalProperties: true as const };
    const errorFunction = () => 'failed';
    const execute = () => Promise.reject(refused);
    const made = guardToolFactory(tool, watched.session)({ ...search, outputSchema, execute, errorFunction });
    const { heard } = await runAgent([made], twice);
    expect(heard[1]).toMatch(REJECTION);
  });
});

describe('F2: the last good result', () => {
  it('of a tool that returns parts is parts, with one more for the label', async () => {
    const image = { type: 'image', image: 'data:image/png;base64,AAAA' };
    for (const answer of [image, [image], { type: 'text', text: 'found' }]) {
      const made = guardToolFactory(tool, stale().session)({ ...search, execute: failing(answer) });
      const { result } = await runAgent([made], again);
      const outputs = result.newItems.flatMap((item) => (item.type === 'tool_call_output_item' ? [item.output] : []));
      expect(outputs[2]).toEqual([{ type: 'text', text: expect.stringContaining('stale') }, [answer].flat()[0]]);
    }
  });
});

/** The alternatives that may be called in place. */
const LISTED = { inPlace: ['news'] };

describe('R4: an alternative', () => {
  it('is called with the result of adapt and its own decision, and its answer has a note', async () => {
    const watched = routed();
    const guarded = guardToolFactory(tool, watched.session, LISTED);
    const made = guarded({ ...search, execute: () => Promise.reject(refused) });
    const other = guarded({ ...news, execute: async ({ topic }) => `news of ${topic}` });
    open(watched);
    const { heard } = await runAgent([made, other], [[ask('x')], 'Done.']);
    expect(heard[0]).toMatch(/answered by 'news' in place of 'search'.*recent items only.*\nnews of x/s);
    expect(watched.decisions).toEqual(['search: call', 'search: skip', 'news: call']);
  });

  it('is left to the model if it is not listed: it may be a tool of another agent', async () => {
    const watched = routed();
    const guarded = guardToolFactory(tool, watched.session);
    const made = guarded({ ...search, execute: () => Promise.reject(refused) });
    guarded({ ...news, execute: async () => expect.unreachable() });
    const { heard } = await runAgent([made], twice);
    expect(heard[1]).toMatch(/unavailable.*'news'/s);
    expect(watched.decisions).toEqual(['search: call', 'search: skip']);
  });

  it.each([
    ['needs approval', { needsApproval: true }],
    ['is hidden from some', { isEnabled: () => true }],
    [
      'has a guardrail',
      { outputGuardrails: [{ name: 'look', run: async () => ({ behavior: { type: 'allow' } }) as const }] },
    ],
    ['has an output schema', { outputSchema: hits }],
  ])('is left to the model if it %s', async (_, more) => {
    const watched = routed();
    const guarded = guardToolFactory(tool, watched.session, LISTED);
    const made = guarded({ ...search, execute: () => Promise.reject(refused) });
    const other = guarded({ ...news, ...more, execute: async () => ({ hits: [] }) } as never);
    const { heard } = await runAgent([made, other as Tool], twice);
    expect(heard[1]).toMatch(/unavailable.*'news'/s);
    expect(watched.decisions).toEqual(['search: call', 'search: skip']);
  });

  it('is left to the model if the session is a function: its tools may be of different users', async () => {
    const watched = routed();
    const guarded = guardToolFactory(tool, () => watched.session, LISTED);
    const made = guarded({ ...search, execute: () => Promise.reject(refused) });
    const ada = guarded({ ...news, execute: async () => expect.unreachable() });
    const { heard } = await runAgent([made], twice);
    expect(ada.name).toBe('news');
    expect(heard[1]).toMatch(/unavailable.*'news'/s);
    expect(watched.decisions).toEqual(['search: call', 'search: skip']);
  });

  it('is left to the model if two tools have its name: they may be of different users', async () => {
    const watched = routed();
    const guarded = guardToolFactory(tool, watched.session, LISTED);
    const made = guarded({ ...search, execute: () => Promise.reject(refused) });
    const others = ['Ada', 'Bob'].map((user) => guarded({ ...news, execute: async () => `news of ${user}` }));
    const { heard } = await runAgent([made, ...others.slice(0, 1)], twice);
    expect(heard[1]).toMatch(/unavailable.*'news'/s);
  });
});
