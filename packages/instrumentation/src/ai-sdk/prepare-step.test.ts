import { BreakerboxConfigError, BreakerboxUsageError } from '@breakerbox/core';
import { type ScriptedStep, scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import { diag } from '@opentelemetry/api';
import { generateText, isStepCount, type ModelMessage, type PrepareStepFunction, streamText, ToolLoopAgent } from 'ai';
import { afterEach, describe, expect, expectTypeOf, test } from 'vitest';
import { currentSession } from '../session.ts';
import { listenToDiag } from '../test-support/diagnosed.ts';
import { ask, broken, refused, search } from '../test-support/sdk-loops.ts';
import { watchedSession } from '../test-support/watched-session.ts';
import { type BreakerPrepareStepOptions, breakerPrepareStep, breakerTelemetry, guardTools } from './ai-sdk.ts';

const fragile = { search: { failureThreshold: 1, fallback: 'ask the user' }, plain: {} };
const tools = { search: broken, plain: search(() => 'plain') };
/** It opens in the first step, waits for two, is probed in the fourth, fails again, and the last step only speaks. */
const outage: readonly ScriptedStep[] = [
  [ask('down')],
  [ask('a', 'plain')],
  [ask('b', 'plain')],
  [ask('again')],
  [ask('c', 'plain')],
  'Done.',
];

type Call = Parameters<typeof generateText>[0];

/** What the model got in each step: its system prompt and its tools. */
const seenBy = async (watched: ReturnType<typeof watchedSession>, more: Partial<Call>, steps = outage) => {
  const { model } = scriptedModel(steps);
  const settings = {
    model,
    tools: guardTools(tools, watched.session),
    prompt: 'go',
    stopWhen: isStepCount(20),
    ...more,
  };
  await generateText(settings as Call);
  return model.doGenerateCalls.map(({ prompt, tools: given }) => ({
    system: prompt.filter(({ role }) => role === 'system'),
    tools: given?.map(({ name }) => name),
  }));
};
const systemsSeen = async (...given: Parameters<typeof seenBy>) =>
  (await seenBy(...given)).map(({ system }) => system.map(({ content }) => content));

const noteOf = (wait: string): string =>
  [
    '<breakerbox>',
    'These tools are unavailable now. Do not call them.',
    `- 'search': the last calls failed (network). It may work again in about ${wait}. Instead: ask the user.`,
    '</breakerbox>',
  ].join('\n');
/** After the first failure, and after the probe; in the words of the first step of each. */
const [FIRST, SECOND] = [noteOf('2 of your turns'), noteOf('2 of your turns')];

afterEach(() => diag.disable());

describe('breakerPrepareStep', () => {
  test('leaves the counting to breakerTelemetry if that follows the run', async () => {
    const watched = watchedSession();
    await seenBy(watched, {
      prepareStep: breakerPrepareStep(watched.session),
      telemetry: { integrations: breakerTelemetry(watched.session) },
    });
    expect(watched.session.view().step).toBe(outage.length);
    await seenBy(watched, { prepareStep: breakerPrepareStep(watched.session) });
    expect(watched.session.view().step).toBe(2 * outage.length);
  });

  test('counts once and adds its note once if it wraps another of the same session', async () => {
    const watched = watchedSession({ tools: fragile });
    const inner = breakerPrepareStep(watched.session);
    const prepareStep = breakerPrepareStep(watched.session, { prepareStep: inner });
    const seen = await systemsSeen(watched, { instructions: 'Be brief.', prepareStep }, [[ask('down')], 'Done.']);
    expect(watched.session.view().step).toBe(2);
    expect(seen).toEqual([['Be brief.'], [`Be brief.\n\n${FIRST}`]]);
  });

  test('E5: without a session, the run continues with your own settings, and that is reported', async () => {
    const heard = listenToDiag();
    const { model } = scriptedModel(['Done.']);
    const own = () => ({ temperature: 0.5 });
    const prepareStep = breakerPrepareStep(currentSession, { prepareStep: own });
    const { text } = await generateText({ model, prompt: 'go', prepareStep });
    expect(text).toBe('Done.');
    expect(model.doGenerateCalls[0]?.temperature).toBe(0.5);
    expect(heard).toEqual([[expect.stringContaining('breakerPrepareStep()'), expect.any(BreakerboxUsageError)]]);
  });

  describe('R3: the system prompt lists unavailable tools', () => {
    test('after the prompt of the caller, as long as they are unavailable, in the same words', async () => {
      const watched = watchedSession({ tools: fragile });
      const prepareStep = breakerPrepareStep(watched.session);
      const seen = await systemsSeen(watched, { instructions: 'Be brief.', prepareStep });
      const [first, second] = [[`Be brief.\n\n${FIRST}`], [`Be brief.\n\n${SECOND}`]];
      expect(seen).toEqual([['Be brief.'], first, first, ['Be brief.'], second, second]);
    });

    test('alone, if the caller has no prompt', async () => {
      const watched = watchedSession({ tools: fragile });
      const seen = await systemsSeen(watched, { prepareStep: breakerPrepareStep(watched.session) });
      expect(seen).toEqual([[], [FIRST], [FIRST], [], [SECOND], [SECOND]]);
    });

    test('in a message of its own, if the system messages of the caller are marked for a cache', async () => {
      const watched = watchedSession({ tools: fragile });
      const own = [
        {
          role: 'system' as const,
          content: 'Long.',
          providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
        },
        { role: 'system' as const, content: 'Short.' },
      ];
      const seen = await seenBy(watched, { instructions: own, prepareStep: breakerPrepareStep(watched.session) });
      const [first, second] = [FIRST, SECOND].map((content) => [...own, { role: 'system', content }]);
      expect(seen.map(({ system }) => system)).toMatchObject([own, first, first, own, second, second]);
      expect(seen.map(({ system }) => system.length)).toEqual([2, 3, 3, 2, 3, 3]);
    });

    test('not if system messages are among the messages, which may be marked for a cache', async () => {
      const watched = watchedSession({ tools: fragile });
      const own = { role: 'system' as const, content: 'Long.' };
      const more = {
        instructions: 'Be brief.',
        messages: [own, { role: 'user' as const, content: 'go' }],
        prompt: undefined,
        allowSystemInMessages: true,
      };
      const seen = await systemsSeen(watched, { ...more, prepareStep: breakerPrepareStep(watched.session) } as never);
      expect(seen).toEqual(Array(6).fill(['Be brief.', 'Long.']));
    });

    test('for a paused session too', async () => {
      const watched = watchedSession({ budget: { rule: 'strict', failures: 1 } });
      const prepareStep = breakerPrepareStep(watched.session);
      const seen = await systemsSeen(watched, { prepareStep }, [[ask('down')], 'Done.']);
      expect(seen).toEqual([[], [expect.stringContaining('Tool calls are paused')]]);
    });

    test('in streamText and agents too, with your own settings', async () => {
      const watched = watchedSession({ tools: fragile });
      const guarded = guardTools(tools, watched.session);
      const prepareStep = breakerPrepareStep(watched.session);
      const settings = { instructions: 'Be brief.', tools: guarded, stopWhen: isStepCount(20), prepareStep };
      const steps: readonly ScriptedStep[] = [[ask('down')], 'Done.'];
      const streamed = scriptedModel(steps).model;
      await streamText({ ...settings, model: streamed, prompt: 'go' }).consumeStream();
      expect(streamed.doStreamCalls[1]?.prompt[0]?.content).toBe(`Be brief.\n\n${FIRST}`);
      const looped = scriptedModel(steps).model;
      await new ToolLoopAgent({ ...settings, model: looped }).generate({ prompt: 'go' });
      expect(looped.doGenerateCalls[0]?.prompt[0]?.content).toContain(FIRST);
    });
  });

  describe('works with your own prepareStep', () => {
    test('which gets the prompt without the note, and whose settings are kept', async () => {
      const watched = watchedSession({ tools: fragile });
      const told: unknown[] = [];
      const own: PrepareStepFunction<typeof tools> = ({ instructions, stepNumber }) => {
        told.push(instructions);
        return stepNumber === 2 ? { instructions: 'Be quick.', temperature: 0.5 } : { temperature: 0.5 };
      };
      const prepareStep = breakerPrepareStep(watched.session, { prepareStep: own });
      const { model } = scriptedModel(outage);
      const guarded = guardTools(tools, watched.session);
      await generateText({
        model,
        tools: guarded,
        instructions: 'Be brief.',
        prepareStep,
        stopWhen: isStepCount(20),
        prompt: 'go',
      });
      expect(told).toEqual([...Array(3).fill('Be brief.'), ...Array(3).fill('Be quick.')]);
      const systems = model.doGenerateCalls.map(({ prompt }) => prompt[0]?.content);
      const [noted, quick] = [`Be quick.\n\n${SECOND}`, 'Be quick.'];
      expect(systems).toEqual(['Be brief.', `Be brief.\n\n${FIRST}`, `${quick}\n\n${FIRST}`, quick, noted, noted]);
      expect(model.doGenerateCalls.map(({ temperature }) => temperature)).toEqual(Array(6).fill(0.5));
    });

    test('with system, its old name, too', async () => {
      const watched = watchedSession({ tools: fragile });
      const prepareStep = breakerPrepareStep(watched.session, { prepareStep: async () => ({ system: 'Be quick.' }) });
      const seen = await systemsSeen(watched, { instructions: 'Be brief.', prepareStep }, [[ask('down')], 'Done.']);
      expect(seen).toEqual([['Be quick.'], [`Be quick.\n\n${FIRST}`]]);
    });

    test('on AI SDK 6, which passes no instructions, only if prepareStep returns some', async () => {
      const { session } = watchedSession({ tools: fragile });
      session.declare('search');
      const step = { steps: [], stepNumber: 0, messages: [] as ModelMessage[] } as never;
      session.acquire('search').settle({ error: refused });
      expect(await breakerPrepareStep(session)(step)).toEqual({});
      const prepareStep = breakerPrepareStep(session, { prepareStep: () => ({ system: 'Be quick.' }) });
      expect(await prepareStep(step)).toEqual({
        system: expect.stringMatching(/^Be quick\.\n\n<breakerbox>\n.*'search'/s),
      });
    });
  });

  describe('hides unavailable tools, if asked to', () => {
    const hidden = (options: BreakerPrepareStepOptions, more: object = {}, steps = outage) => {
      const watched = watchedSession({ tools: fragile });
      return seenBy(watched, { prepareStep: breakerPrepareStep(watched.session, options), ...more }, steps);
    };
    const names = (seen: Awaited<ReturnType<typeof hidden>>) => seen.map((one) => one.tools);

    test('but never a tool that is due for a probe', async () => {
      const both = ['plain', 'search'];
      const left = ['plain'];
      const seen = names(await hidden({ hide: { tools } })).map((given) => given?.toSorted());
      expect(seen).toEqual([both, left, left, both, left, left]);
    });

    test('but never all of them, and no tools that are not active', async () => {
      const hide = { tools, activeTools: ['search' as const] };
      const seen = names(await hidden({ hide }, { activeTools: ['search'] }));
      expect(seen).toEqual(Array(6).fill(['search']));
    });

    test('but never the tool that the tool choice names', async () => {
      const toolChoice = { type: 'tool', toolName: 'search' } as const;
      const steps = Array(3).fill([ask('down')]);
      const seen = names(
        await hidden({ hide: { tools, toolChoice } }, { toolChoice, stopWhen: isStepCount(3) }, steps),
      );
      expect(seen).toEqual(Array(3).fill(['search', 'plain']));
    });

    test('among the tools that your own prepareStep has left', async () => {
      const watched = watchedSession({ tools: { ...fragile, other: {} } });
      const three = { ...tools, other: search(() => 'other') };
      const own: PrepareStepFunction<typeof three> = () => ({ activeTools: ['search', 'other'] });
      const prepareStep = breakerPrepareStep(watched.session, {
        hide: { tools: three, activeTools: ['search', 'plain', 'other'] },
        prepareStep: own,
      });
      const { model } = scriptedModel([[ask('down')], 'Done.']);
      const guarded = guardTools(three, watched.session);
      await generateText({ model, tools: guarded, prepareStep, stopWhen: isStepCount(20), prompt: 'go' });
      const given = model.doGenerateCalls.map((call) => call.tools?.map(({ name }) => name));
      expect(given).toEqual([['search', 'other'], ['other']]);
    });

    test('but never the tool that your own prepareStep chooses, nor if there are no tools', async () => {
      const { session } = watchedSession({ tools: fragile });
      session.acquire('search').settle({ error: refused });
      const step = { stepNumber: 0, instructions: undefined, initialInstructions: undefined } as never;
      const own: PrepareStepFunction<typeof tools> = () => ({ toolChoice: { type: 'tool', toolName: 'search' } });
      const chosen = await breakerPrepareStep(session, { hide: { tools }, prepareStep: own })(step);
      expect(chosen).not.toHaveProperty('activeTools');
      const hide = { tools: { search: broken }, activeTools: ['search', 'gone'] };
      expect(await breakerPrepareStep(session, { hide: hide as never })(step)).not.toHaveProperty('activeTools');
    });
  });

  test('has the type that the call needs', () => {
    const { session } = watchedSession();
    const call = { model: 'openai/gpt-5-mini', prompt: 'go', tools };
    expectTypeOf(generateText<typeof tools>).toBeCallableWith({ ...call, prepareStep: breakerPrepareStep(session) });
    expectTypeOf(breakerPrepareStep(session, { hide: { tools } })).toExtend<PrepareStepFunction<typeof tools>>();
    expectTypeOf(generateText<typeof tools>).toBeCallableWith({
      ...call,
      prepareStep: breakerPrepareStep(session, {
        prepareStep: ({ instructions }) => ({
          instructions: [instructions ?? []].flat() as never,
          activeTools: ['search'],
        }),
      }),
    });
    // @ts-expect-error there is no such tool
    breakerPrepareStep(session, { hide: { tools, toolChoice: { type: 'tool', toolName: 'serach' } } });
  });

  test('rejects invalid options', () => {
    const { session } = watchedSession();
    expect(() => breakerPrepareStep({} as never)).toThrow(BreakerboxUsageError);
    for (const options of [{ hide: true }, { hide: {} }, { note: 'yes' }, { prepareStep: {} }, { hdie: { tools } }]) {
      expect(() => breakerPrepareStep(session, options as never)).toThrow(BreakerboxConfigError);
    }
  });
});
