import { getEventListeners } from 'node:events';
import { OpenTelemetry } from '@ai-sdk/otel';
import { trace } from '@opentelemetry/api';
import { generateText, isStepCount, streamText, type ToolSet, tool } from 'ai';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { guardTools } from './ai-sdk.ts';
import { type ScriptedStep, scriptedModel } from './test-support/scripted-model.ts';
import { startTracing, stopTracing } from './test-support/tracing.ts';
import { type Watched, watchedSession } from './test-support/watched-session.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });
const query = z.object({ q: z.string() });
const search = (execute: (input: { q: string }, options: { abortSignal?: AbortSignal }) => unknown) =>
  tool({ description: 'Searches', inputSchema: query, execute: execute as (input: { q: string }) => Promise<unknown> });
const callSearch: ScriptedStep = [{ tool: 'search', input: { q: 'x' } }];

/** The frameworks' two loops, to the end of the script. */
const loops = {
  generateText: async ({ session }: Watched, tools: ToolSet, steps: readonly ScriptedStep[], more: object = {}) => {
    const scripted = scriptedModel(steps);
    const { text } = await generateText({
      model: scripted.model,
      tools: guardTools(tools, session),
      prompt: 'go',
      stopWhen: isStepCount(20),
      onStepEnd: () => session.step(),
      ...more,
    });
    return { text, heard: scripted.heard() };
  },
  streamText: async ({ session }: Watched, tools: ToolSet, steps: readonly ScriptedStep[], more: object = {}) => {
    const scripted = scriptedModel(steps);
    const result = streamText({
      model: scripted.model,
      tools: guardTools(tools, session),
      prompt: 'go',
      stopWhen: isStepCount(20),
      onStepEnd: () => session.step(),
      onError: () => {},
      ...more,
    });
    return { text: await result.text, heard: scripted.heard() };
  },
};

afterEach(stopTracing);

describe.each(Object.entries(loops))('in %s', (_, loop) => {
  test('a tool that works is called, and its result read', async () => {
    const watched = watchedSession();
    const { text, heard } = await loop(watched, { search: search(async ({ q }) => [q]) }, [callSearch, 'Done.']);
    expect(text).toBe('Done.');
    expect(heard).toEqual([{ type: 'json', value: ['x'] }]);
    expect(watched.outcomes).toEqual(['search: success']);
    expect(watched.session.view().step).toBe(2);
  });

  test('a tool that throws is read about; at the third time its circuit opens, the model is told, and the loop goes on', async () => {
    const watched = watchedSession();
    const execute = vi.fn(() => Promise.reject(refused));
    const steps = [callSearch, callSearch, callSearch, callSearch, 'I could not search.'];

    const { text, heard } = await loop(watched, { search: search(execute) }, steps);

    expect(text).toBe('I could not search.');
    expect(heard).toEqual([
      {
        type: 'error-text',
        value: expect.stringMatching(/^ToolUnavailableError: Tool 'search' is unavailable.*network/),
      },
    ]);
    expect(execute).toHaveBeenCalledTimes(3);
    expect(watched.outcomes).toEqual(Array(3).fill('search: failure, network'));
    expect(watched.decisions).toEqual([...Array(3).fill('search: call'), 'search: skip']);
  });

  test('steps bring the probe, and a tool that is back is used again', async () => {
    const watched = watchedSession();
    let calls = 0;
    const execute = async () => {
      calls += 1;
      if (calls <= 3) throw refused;
      return 'found';
    };
    const { heard } = await loop(watched, { search: search(execute) }, [...Array(7).fill(callSearch), 'Done.']);
    expect(heard).toEqual([{ type: 'text', value: 'found' }]);
    expect(watched.decisions.slice(3)).toEqual(['search: skip', 'search: skip', 'search: probe', 'search: call']);
  });

  test('a tool that throws at once, or answers at once, is the same', async () => {
    const watched = watchedSession();
    const throwing = search(() => {
      throw refused;
    });
    const { heard } = await loop(watched, { search: throwing, plain: search(() => 0) }, [
      [...callSearch, { tool: 'plain', input: { q: 'x' } }],
      'Done.',
    ]);
    expect(heard).toEqual([
      { type: 'error-text', value: `Error: ${refused.message}` },
      { type: 'json', value: 0 },
    ]);
    expect(watched.outcomes.toSorted()).toEqual(['plain: success', 'search: failure, network']);
  });

  test('an error that is returned is judged by core and read as it is', async () => {
    const watched = watchedSession();
    const { heard } = await loop(watched, { search: search(async () => ({ error: 'HTTP 503' })) }, [
      callSearch,
      'Done.',
    ]);
    expect(heard).toEqual([{ type: 'json', value: { error: 'HTTP 503' } }]);
    expect(watched.outcomes).toEqual(['search: failure, server']);
  });

  test('arguments that the schema refuses reach neither tool nor session', async () => {
    const watched = watchedSession();
    const execute = vi.fn();
    await loop(watched, { search: search(execute) }, [[{ tool: 'search', input: { q: 5 } }], 'Done.']);
    expect(execute).not.toHaveBeenCalled();
    expect(watched.decisions).toEqual([]);
  });

  test('a tool that answers piece by piece is followed to its end', async () => {
    const watched = watchedSession();
    const pieces = search(async function* () {
      yield 'searching';
      yield 'found';
    } as never);
    const { heard } = await loop(watched, { search: pieces }, [callSearch, 'Done.']);
    expect(heard).toEqual([{ type: 'text', value: 'found' }]);
    expect(watched.outcomes).toEqual(['search: success']);
  });

  test('a tool that breaks off between pieces has failed', async () => {
    const watched = watchedSession();
    const pieces = search(async function* () {
      yield 'searching';
      throw refused;
    } as never);
    const { heard } = await loop(watched, { search: pieces }, [callSearch, 'Done.']);
    expect(heard).toEqual([{ type: 'error-text', value: `Error: ${refused.message}` }]);
    expect(watched.outcomes).toEqual(['search: failure, network']);
  });

  test('calls side by side in one step each have their decision', async () => {
    const watched = watchedSession();
    const four = Array(4).fill(callSearch[0]);
    const { heard } = await loop(watched, { search: search(() => Promise.reject(refused)) }, [
      four,
      callSearch,
      'Done.',
    ]);
    expect(watched.decisions).toEqual([...Array(4).fill('search: call'), 'search: skip']);
    expect(heard).toHaveLength(1);
  });

  test("the SDK's own time-out counts as one, even if the tool takes no notice", async () => {
    const watched = watchedSession();
    const { text } = await loop(watched, { search: search(() => new Promise(() => {})) }, [callSearch, 'Done.'], {
      timeout: { toolMs: 20 },
    });
    expect(text).toBe('Done.');
    expect(watched.outcomes).toEqual(['search: failure, timeout']);
  });

  test("the caller's abort costs nothing", async () => {
    const watched = watchedSession();
    const caller = new AbortController();
    const hanging = search(() => {
      queueMicrotask(() => caller.abort());
      return new Promise(() => {});
    });
    await loop(watched, { search: hanging }, [callSearch, 'Done.'], { abortSignal: caller.signal }).catch(() => {});
    await watched.settled(1);
    expect(watched.outcomes).toEqual(['search: ignored, cancelled']);
    expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
  });

  test('our span is beneath the one of @ai-sdk/otel, and the spans of the tool beneath ours', async () => {
    const traced = startTracing();
    const watched = watchedSession();
    const tracing = search(async () => trace.getTracer('test').startSpan('GET').end());
    await loop(watched, { search: tracing }, [callSearch, 'Done.'], {
      telemetry: { integrations: [new OpenTelemetry()] },
    });
    const path = traced.paths().find((one) => one.endsWith('GET'));
    expect(path).toMatch(/^invoke_agent \S+ > .*execute_tool search > breakerbox\.call search > GET$/);
    expect(traced.attributes('breakerbox.call search')[0]).toMatchObject({ 'gen_ai.tool.call.id': 'call-1-1' });
    expect(traced.attributes('execute_tool search')).toHaveLength(1);
  });

  test('our span is the execute_tool span where there is no other', async () => {
    const traced = startTracing();
    await loop(watchedSession(), { search: search(async () => 1) }, [callSearch, 'Done.']);
    expect(traced.paths()).toEqual(['execute_tool search']);
  });
});
