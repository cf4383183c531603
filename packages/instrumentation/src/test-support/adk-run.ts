import { scriptedModel } from '@breakerbox/scripted-models/google-adk';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import {
  type BasePlugin,
  type BaseTool,
  type Context,
  type Event,
  FunctionTool,
  InMemoryRunner,
  LlmAgent,
  type LlmAgentConfig,
  LogLevel,
  setLogLevel,
  stringifyContent,
} from '@google/adk';
import { z } from 'zod';

setLogLevel(LogLevel.ERROR);

const USER = { userId: 'user', sessionId: 'conversation' };

/** A tool that takes `{ q }`. */
export const toolOf = (
  name: string,
  execute: (input: { q: string }, context: Context) => unknown,
  rest: { requireConfirmation?: boolean | (() => Promise<boolean>); isLongRunning?: boolean } = {},
): FunctionTool<z.ZodObject<{ q: z.ZodString }>> =>
  new FunctionTool({
    name,
    description: name,
    parameters: z.object({ q: z.string() }),
    execute: (input, context) => execute(input, context as Context),
    ...rest,
  });

/** A conversation with an agent on a script. */
export interface AdkRun {
  /** Says something, or answers what was asked; gives the events of the run. */
  say(parts: Parts | string, signal?: AbortSignal): Promise<readonly Event[]>;
  /** The tool results in the model's last request. */
  heard(): readonly string[];
}

type Parts = NonNullable<NonNullable<Event['content']>['parts']>;

export const adkRun = async (
  script: readonly ScriptedStep[],
  tools: readonly BaseTool[],
  plugins: readonly BasePlugin[],
  agent: Partial<LlmAgentConfig> = {},
): Promise<AdkRun> => {
  const { model, heard } = scriptedModel(script);
  const root = new LlmAgent({ name: 'researcher', model, tools: [...tools], ...agent });
  const runner = new InMemoryRunner({ agent: root, appName: 'test', plugins: [...plugins] });
  await runner.sessionService.createSession({ appName: 'test', ...USER });
  return {
    heard,
    say: async (said, abortSignal) => {
      const parts = typeof said === 'string' ? [{ text: said }] : said;
      const events: Event[] = [];
      const run = { ...USER, newMessage: { role: 'user', parts }, ...(abortSignal && { abortSignal }) };
      for await (const event of runner.runAsync(run)) events.push(event);
      return events;
    },
  };
};

/** What was said last. */
export const lastText = (events: readonly Event[]): string => {
  const last = events.at(-1);
  return last === undefined ? '' : stringifyContent(last);
};

/** The person's answer to the confirmations that a run has asked for. */
export const confirmations = (events: readonly Event[], confirmed: boolean): Parts =>
  events
    .flatMap(({ content }) => content?.parts ?? [])
    .flatMap(({ functionCall }) => (functionCall?.name === 'adk_request_confirmation' ? [functionCall.id ?? ''] : []))
    .map((id) => ({ functionResponse: { id, name: 'adk_request_confirmation', response: { confirmed } } }));
