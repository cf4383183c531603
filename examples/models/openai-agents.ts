import type { Model, ModelRequest, ModelResponse, StreamEvent } from '@openai/agents';
import { playScript, type ScriptedStep } from './script.ts';

/** A model that follows a script, in runs that stream and in those that don't. */
export interface ScriptedModel {
  readonly model: Model;
  /** The texts of all tool results in the model's last request, in order; what is no text as JSON. */
  heard(): readonly string[];
}

/** For `new Agent({ model })`. */
export const scriptedModel = (steps: readonly ScriptedStep[]): ScriptedModel => {
  const nextTurn = playScript(steps);
  let asked: ModelRequest | undefined;

  const play = (request: ModelRequest): ModelResponse => {
    request.signal?.throwIfAborted();
    asked = request;
    const { text, calls } = nextTurn();
    const said = {
      type: 'message' as const,
      role: 'assistant' as const,
      status: 'completed' as const,
      content: [{ type: 'output_text' as const, text }],
    };
    const called = calls.map(({ id, tool, input }) => ({
      type: 'function_call' as const,
      callId: id,
      name: tool,
      status: 'completed' as const,
      arguments: typeof input === 'string' ? input : JSON.stringify(input),
    }));
    return { usage, output: text === '' ? called : [said] };
  };

  return {
    model: {
      getResponse: async (request) => play(request),
      getStreamedResponse: async function* (request) {
        const { output } = play(request);
        for (const item of output) {
          if (item.type === 'message') yield { type: 'output_text_delta', delta: textOf(item.content) };
        }
        const spent = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
        yield { type: 'response_done', response: { id: 'response', usage: spent, output } } as ResponseDone;
      },
    },
    heard: () => {
      const input = asked?.input ?? [];
      if (typeof input === 'string') return [];
      return input.flatMap((item) => (item.type === 'function_call_result' ? [textOf(item.output)] : []));
    },
  };
};

/** Its items are typed once as they come and once as they go, and the two don't meet. */
type ResponseDone = Extract<StreamEvent, { type: 'response_done' }>;

/** What a turn costs: the runner adds it up, and asks for no more than the numbers. */
const usage = {
  requests: 1,
  inputTokens: 1,
  outputTokens: 1,
  totalTokens: 2,
  inputTokensDetails: [],
  outputTokensDetails: [],
} as unknown as ModelResponse['usage'];

const textOf = (output: unknown): string => {
  if (typeof output === 'string') return output;
  const parts: readonly unknown[] = Array.isArray(output) ? output : [output];
  return parts.map((part) => textIn(part) ?? JSON.stringify(part)).join('\n');
};

const textIn = (part: unknown): string | undefined => {
  const { text } = (part ?? {}) as { readonly text?: unknown };
  return typeof text === 'string' ? text : undefined;
};
