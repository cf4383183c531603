import type { LimitsOptions } from '@breakerbox/core';
import { type ScriptedStep, scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import { generateText, isStepCount, streamText } from 'ai';
import { expect, test } from 'vitest';
import { ask, search } from '../test-support/sdk-loops.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { breakerPrepareStep, guardTools } from './ai-sdk.ts';

/** A model that calls the tool in every turn, whatever the tool choice is. */
const stubborn: readonly ScriptedStep[] = Array.from({ length: 10 }, (_, n) => [ask(`${n}`, 'plain')]);

const stubbornRun = (limits: LimitsOptions = { calls: 2 }) => {
  const { session } = watchedSession({ limits });
  const { model } = scriptedModel(stubborn);
  const tools = guardTools({ plain: search(() => 'found') }, session);
  const prepareStep = breakerPrepareStep(session);
  return {
    session,
    model,
    call: { model, tools, prepareStep, prompt: 'go', maxRetries: 0, stopWhen: isStepCount(20) },
  };
};

test('D6: a model that calls a tool in the last turn nevertheless ends the run without an error', async () => {
  const { model, call } = stubbornRun();
  const { finishReason, steps } = await generateText(call);
  expect(model.doGenerateCalls.map(({ toolChoice }) => toolChoice?.type)).toEqual(['auto', 'auto', 'auto', 'none']);
  expect({ finishReason, steps: steps.length, calls: steps.at(-1)?.toolCalls }).toEqual({
    finishReason: 'stop',
    steps: 4,
    calls: [],
  });
});

test('D6: so does one that streams', async () => {
  const { model, call } = stubbornRun();
  const errors: unknown[] = [];
  const result = streamText({ ...call, onError: ({ error }) => void errors.push(error) });
  await result.consumeStream();
  expect(errors).toEqual([]);
  expect(await result.finishReason).toBe('stop');
  expect(model.doStreamCalls).toHaveLength(4);
});

test('D6, D2: so does that of a sub-agent once no step is left, though the one that it runs in is under way', async () => {
  const { session, model, call } = stubbornRun({ steps: 3 });
  const outer = scriptedModel([[ask('0', 'research')], 'done']).model;
  const tools = guardTools({ research: search(async () => (await generateText(call)).text) }, session);
  const { text } = await generateText({ ...call, model: outer, tools });
  expect(text).toBe('done');
  expect(model.doGenerateCalls.map(({ toolChoice }) => toolChoice?.type)).toEqual(['auto', 'auto', 'auto', 'none']);
});
