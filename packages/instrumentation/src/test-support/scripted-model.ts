import { simulateReadableStream } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';

/** What the model does in one step: says something, or calls tools (side by side where there are several). */
export type ScriptedStep = string | readonly { readonly tool: string; readonly input: unknown }[];

/** A model that follows a script, in `generateText` and `streamText` alike. */
export interface ScriptedModel {
  readonly model: MockLanguageModelV4;
  /** What the tools of the last step said, as the model reads it. */
  heard(): readonly unknown[];
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

export const scriptedModel = (steps: readonly ScriptedStep[]): ScriptedModel => {
  let next = 0;
  const play = () => {
    const step = steps[next] ?? 'The script is over.';
    next += 1;
    const calls =
      typeof step === 'string'
        ? []
        : step.map(({ tool, input }, index) => ({
            type: 'tool-call' as const,
            toolCallId: `call-${next}-${index + 1}`,
            toolName: tool,
            input: JSON.stringify(input),
          }));
    const unified = calls.length > 0 ? ('tool-calls' as const) : ('stop' as const);
    return { text: typeof step === 'string' ? step : '', calls, finishReason: { unified, raw: undefined } };
  };

  const model = new MockLanguageModelV4({
    doGenerate: async () => {
      const { text, calls, finishReason } = play();
      return { content: text === '' ? calls : [{ type: 'text', text }], finishReason, usage, warnings: [] };
    },
    doStream: async () => {
      const { text, calls, finishReason } = play();
      const words = [
        { type: 'text-start' as const, id: 'text' },
        { type: 'text-delta' as const, id: 'text', delta: text },
        { type: 'text-end' as const, id: 'text' },
      ];
      return {
        stream: simulateReadableStream({
          chunks: [
            { type: 'stream-start' as const, warnings: [] },
            ...(text === '' ? calls : words),
            { type: 'finish' as const, finishReason, usage },
          ],
        }),
      };
    },
  });

  return {
    model,
    heard: () => {
      const { prompt } = [...model.doGenerateCalls, ...model.doStreamCalls].at(-1) ?? { prompt: [] };
      const last = prompt.at(-1);
      if (last?.role !== 'tool') return [];
      return last.content.map((part) => (part.type === 'tool-result' ? part.output : part));
    },
  };
};
