import { setTimeout as wait } from 'node:timers/promises';
import { MockLanguageModelV4 } from 'ai/test';
import type { Plan } from './plan.ts';

type GenerateOptions = MockLanguageModelV4['doGenerateCalls'][number];
type GenerateResult = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>;

/** What a tool call came to, as the model reads it in its prompt. */
interface Reading {
  readonly callId: string;
  readonly answered: boolean;
  readonly text: string;
}

/** The words with which Breakerbox asks a model to stop; a real model understands more than that. */
const PAUSED = /tool calls are paused/i;

/**
 * A model that follows a plan in place of an LLM: the AI SDK's own fake. At each step it reads what its last calls came
 * to, and calls the next two tools, whatever failed among them when its turn comes. Told that tool calls are paused, it stops.
 *
 * @param thinkMs Milliseconds that it takes for each step.
 */
export const scriptedModel = (plan: Plan, thinkMs: number): MockLanguageModelV4 =>
  new MockLanguageModelV4({
    provider: 'breakerbox-demo',
    modelId: 'scripted',
    doGenerate: async (options) => {
      await wait(thinkMs, undefined, { ...(options.abortSignal && { signal: options.abortSignal }) });
      const readings = lastReadings(options);
      for (const { callId, answered } of readings) plan.settle(callId, answered);
      if (readings.some(({ text }) => PAUSED.test(text))) return says('I stop here: tool calls are paused.');
      const calls = plan.next();
      return calls.length === 0 ? says('All done.') : callsTools(calls);
    },
  });

const lastReadings = ({ prompt }: GenerateOptions): readonly Reading[] => {
  const latest = prompt.at(-1);
  if (latest?.role !== 'tool') return [];
  return latest.content
    .filter((part) => part.type === 'tool-result')
    .map(({ toolCallId, output }) => {
      const text = JSON.stringify(output);
      // MCP says with `isError` inside a result what others say by throwing.
      const failed = output.type.startsWith('error') || text.includes('"isError":true');
      return { callId: toolCallId, answered: !failed, text };
    });
};

const USAGE: GenerateResult['usage'] = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};

const says = (text: string): GenerateResult => ({
  content: [{ type: 'text', text }],
  finishReason: { unified: 'stop', raw: undefined },
  usage: USAGE,
  warnings: [],
});

const callsTools = (calls: ReturnType<Plan['next']>): GenerateResult => ({
  content: calls.map(({ id, tool, input }) => ({
    type: 'tool-call',
    toolCallId: id,
    toolName: tool,
    input: JSON.stringify(input),
  })),
  finishReason: { unified: 'tool-calls', raw: undefined },
  usage: USAGE,
  warnings: [],
});
