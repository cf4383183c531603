import type { Alternative, ToolConfig } from '@breakerbox/core';
import { type ScriptedStep, scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import { generateText, isStepCount, streamText, type Tool, type ToolSet, tool } from 'ai';
import type { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';
import { type GuardToolsOptions, guardTools } from '../ai-sdk/ai-sdk.ts';
import { type Watched, watchedSession } from './watched-session.ts';

export const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });
export const query = z.object({ q: z.string() });
export const search = (
  execute: (input: { q: string }, options: { abortSignal?: AbortSignal }) => unknown,
  more: object = {},
): Tool<{ q: string }, unknown> =>
  tool({ inputSchema: query, execute: execute as (input: { q: string }) => Promise<unknown>, ...more });
/** A call of a script. */
export const ask = (q: string, name = 'search') => ({ tool: name, input: { q } });

/** Works once, and then no more. */
export const failing = (answer: unknown) => {
  let calls = 0;
  return () => {
    calls += 1;
    if (calls > 1) throw refused;
    return answer;
  };
};

/** What the tools of the last step said, as the SDK puts it to the model. */
const heardLast = ({ doGenerateCalls, doStreamCalls }: MockLanguageModelV4): readonly unknown[] => {
  const last = [...doGenerateCalls, ...doStreamCalls].at(-1)?.prompt.at(-1);
  return last?.role === 'tool' ? last.content.map((part) => (part.type === 'tool-result' ? part.output : part)) : [];
};

type Loop = (
  watched: Watched,
  tools: ToolSet,
  steps: readonly ScriptedStep[],
  /** Further settings of the call. */
  more?: object,
  guarding?: GuardToolsOptions,
) => Promise<readonly unknown[]>;

/** The frameworks' two loops, to the end of the script; what the model heard last. */
export const loops: Readonly<Record<'generateText' | 'streamText', Loop>> = {
  generateText: async ({ session }, tools, steps, more, guarding) => {
    const { model } = scriptedModel(steps);
    const stopWhen = isStepCount(20);
    await generateText({
      model,
      tools: guardTools(tools, session, { inPlace: ['news'], toolApproval: {}, ...guarding }),
      prompt: 'go',
      stopWhen,
      ...more,
    });
    return heardLast(model);
  },
  streamText: async ({ session }, tools, steps, more, guarding) => {
    const { model } = scriptedModel(steps);
    const stopWhen = isStepCount(20);
    const guarded = guardTools(tools, session, { inPlace: ['news'], toolApproval: {}, ...guarding });
    await streamText({ model, tools: guarded, prompt: 'go', stopWhen, onError: () => {}, ...more }).consumeStream();
    return heardLast(model);
  },
};

/** Its last good results answer for it. */
export const stale = () => watchedSession({ tools: { search: { failureThreshold: 1, serveStaleMs: 60_000 } } });
/** `search` has `news` for an alternative, which takes other arguments. */
export const routed = (alternative: Partial<Alternative> = {}, more: ToolConfig = {}) =>
  watchedSession({
    tools: {
      search: {
        failureThreshold: 1,
        alternatives: [
          {
            tool: 'news',
            degradation: 'high',
            note: 'recent items only',
            adapt: (input) => ({ topic: (input as { q: string }).q }),
            ...alternative,
          },
        ],
        ...more,
      },
      news: { failureThreshold: 1 },
    },
  });
export const news = (
  execute: (input: { topic: string }, options: { abortSignal?: AbortSignal }) => unknown,
  more: object = {},
): Tool<{ topic: string }, unknown> =>
  tool({
    inputSchema: z.object({ topic: z.string() }),
    execute: execute as (input: { topic: string }) => Promise<unknown>,
    ...more,
  });
/** Always out. */
export const broken: Tool<{ q: string }, unknown> = search(() => Promise.reject(refused));
/** Calls a tool that is out. */
export const once: readonly ScriptedStep[] = [[ask('x')], 'Done.'];
/** Opens its circuit, and calls it once more. */
export const twice: readonly ScriptedStep[] = [[ask('down')], [ask('x')], 'Done.'];
