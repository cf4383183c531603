/** What the contract suite of test/frameworks doesn't see: the SDK's own shapes, options and spans. */

import { type ScriptedStep, scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import { generateText, isStepCount, streamText, type ToolSet } from 'ai';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { currentSession, withSession } from '../session.ts';
import type { CallEnd } from '../settlement.ts';
import { ask, failing, loops, refused, search } from '../test-support/sdk-loops.ts';
import { startTracing, stopTracing } from '../test-support/tracing.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { breakerPrepareStep, guardTools } from './ai-sdk.ts';

afterEach(stopTracing);

const unguarded = (tools: ToolSet, script: readonly ScriptedStep[], more: object) =>
  generateText({ model: scriptedModel(script).model, tools, prompt: 'go', stopWhen: isStepCount(20), ...more });

describe.each(Object.entries(loops))('in %s', (_, loop) => {
  test.each([
    ['a list', ['x'], { type: 'json', value: ['x'] }],
    ['nothing much', 0, { type: 'json', value: 0 }],
    ['an error', { error: 'HTTP 503' }, { type: 'json', value: { error: 'HTTP 503' } }],
    ['a text', 'x', { type: 'text', value: 'x' }],
  ])('E3: the model reads %s of a tool unchanged', async (_what, result, expected) => {
    const tools = { search: search(async () => result), plain: search(() => result) };
    const heard = await loop(watchedSession(), tools, [[ask('x'), ask('x', 'plain')], 'Done.']);
    expect(heard).toEqual([expected, expected]);
  });

  test('E3: the model reads a thrown error unchanged, between pieces too', async () => {
    const pieces = search(async function* () {
      yield 'searching';
      throw refused;
    } as never);
    const tools = { search: search(() => Promise.reject(refused)), pieces };
    const expected = { type: 'error-text', value: `Error: ${refused.message}` };
    const heard = await loop(watchedSession(), tools, [[ask('x'), ask('x', 'pieces')], 'Done.']);
    expect(heard).toEqual([expected, expected]);
  });

  test('E1: a tool gets its input and the options of the SDK unchanged, except the signal', async () => {
    const watched = watchedSession();
    const caller = new AbortController();
    const inputs: unknown[] = [];
    const guarded: unknown[] = [];
    const plain: unknown[] = [];
    const hands = {
      contextSchema: z.object({ tenant: z.string() }),
      inputSchema: z.object({ q: z.string(), n: z.int() }),
    };
    const toolOf = (seen: unknown[]) =>
      search((input, options) => {
        inputs.push(input);
        const { abortSignal, ...rest } = options;
        seen.push(rest);
        expect(abortSignal).toBeInstanceOf(AbortSignal);
        return abortSignal;
      }, hands);
    const script = [[{ tool: 'search', input: { q: 'x', n: 1 } }], 'Done.'];
    const more = { abortSignal: caller.signal, toolsContext: { search: { tenant: 'acme' } } };
    await loop(watched, { search: toolOf(guarded) }, script, more);
    await unguarded({ search: toolOf(plain) }, script, more);
    expect(inputs).toEqual(Array(2).fill({ q: 'x', n: 1 }));
    expect(guarded).toEqual(plain);
    expect(guarded).toMatchObject([
      { toolCallId: 'call-1-1', context: { tenant: 'acme' }, messages: [{ role: 'user' }] },
    ]);
  });

  test('O4: tokens of failed calls are counted as wasted; of a stream, the last piece counts', async () => {
    const watched = watchedSession({ budget: { failures: 5, tokens: 1000 } });
    const pieces = search(async function* () {
      yield { error: 'HTTP 500' };
      yield { error: 'HTTP 503' };
    } as never);
    const costs = new Map<unknown, number>([
      ['found', 1],
      [refused, 300],
      ['{"error":"HTTP 503"}', 20],
    ]);
    const tokens = ({ result, error }: CallEnd<unknown>) =>
      costs.get(error ?? (typeof result === 'string' ? result : JSON.stringify(result)));
    const tools = { search: search(failing('found')), pieces };
    await loop(watched, tools, [[ask('a')], [ask('b')], [ask('c', 'pieces')], 'Done.'], {}, { tokens });
    expect(watched.session.view().budget.tokensRemaining).toBe(680);
  });

  test('our span is the execute_tool span if there is no other', async () => {
    const traced = startTracing();
    await loop(watchedSession(), { search: search(async () => 1) }, [[ask('x')], 'Done.']);
    expect(traced.paths()).toEqual(['execute_tool search']);
  });
});

test('the session of withSession reaches the tools and steps of a stream that is read outside it', async () => {
  const watched = watchedSession();
  const { model } = scriptedModel([[ask('a')], [ask('b')], 'Done.']);
  const tools = guardTools({ search: search(() => 'found') }, currentSession);
  const prepareStep = breakerPrepareStep(currentSession);
  const start = () => streamText({ model, tools, prepareStep, prompt: 'go', stopWhen: isStepCount(20) });
  const response = withSession(watched.session, start).toUIMessageStreamResponse();
  expect(await response.text()).toContain('Done.');
  expect(watched.decisions).toEqual(['search: call', 'search: call']);
  expect(watched.session.view().step).toBe(3);
});

test('E7: a stream whose session ends before it is read stays protected', async () => {
  const { session, decisions } = watchedSession();
  const { model } = scriptedModel([[ask('a')], [ask('b')], [ask('c')], [ask('d')], 'Done.']);
  const tools = guardTools({ search: search(() => Promise.reject(refused)) }, session);
  const stream = streamText({ model, tools, prompt: 'go', stopWhen: isStepCount(20) });
  session.end();
  await stream.consumeStream();
  expect(decisions).toEqual(['search: call', 'search: call', 'search: call', 'search: skip']);
});
