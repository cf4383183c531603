import { simulateReadableStream } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { playScript, type ScriptedStep } from './script.ts';

export type { ScriptedStep } from './script.ts';

/** What the script needs of a fake of the AI SDK: that of another version has the same. */
export interface Fake {
  readonly doGenerateCalls: readonly Heard[];
  readonly doStreamCalls: readonly Heard[];
}

/** What the model was asked with. */
interface Heard {
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[];
}

/** A model that follows a script, in `generateText`, `streamText` and agents alike. */
export interface ScriptedModel<Model extends Fake> {
  readonly model: Model;
  /** The texts of all tool results in the model's last request, in order; what is no text as JSON. */
  heard(): readonly string[];
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

export function scriptedModel(steps: readonly ScriptedStep[]): ScriptedModel<MockLanguageModelV4>;
/** @param Mock the fake of another version of the SDK, from its `ai/test`. */
export function scriptedModel<Model extends Fake>(
  steps: readonly ScriptedStep[],
  Mock: new (answers: never) => Model,
): ScriptedModel<Model>;
export function scriptedModel(
  steps: readonly ScriptedStep[],
  Mock: new (answers: never) => Fake = MockLanguageModelV4,
): ScriptedModel<Fake> {
  const nextTurn = playScript(steps);
  const play = () => {
    const { text, calls } = nextTurn();
    const parts = calls.map(({ tool, input, id }) => ({
      type: 'tool-call' as const,
      toolCallId: id,
      toolName: tool,
      input: JSON.stringify(input),
    }));
    const unified = parts.length > 0 ? ('tool-calls' as const) : ('stop' as const);
    return { text, parts, finishReason: { unified, raw: undefined } };
  };
  const answers: ConstructorParameters<typeof MockLanguageModelV4>[0] = {
    doGenerate: async () => {
      const { text, parts, finishReason } = play();
      return { content: parts.length > 0 ? parts : [{ type: 'text', text }], finishReason, usage, warnings: [] };
    },
    doStream: async () => {
      const { text, parts, finishReason } = play();
      const words = [
        { type: 'text-start' as const, id: 'text' },
        { type: 'text-delta' as const, id: 'text', delta: text },
        { type: 'text-end' as const, id: 'text' },
      ];
      const streamed = parts.flatMap((part) => {
        const { toolCallId: id, toolName, input } = part;
        return [
          { type: 'tool-input-start' as const, id, toolName },
          { type: 'tool-input-delta' as const, id, delta: input },
          { type: 'tool-input-end' as const, id },
          part,
        ];
      });
      return {
        stream: simulateReadableStream({
          chunks: [
            { type: 'stream-start' as const, warnings: [] },
            ...(parts.length > 0 ? streamed : words),
            { type: 'finish' as const, finishReason, usage },
          ],
        }),
      };
    },
  };
  const model = new Mock(answers as never);
  return { model, heard: () => lastRequest(model).flatMap(resultsIn).map(textOf) };
}

const lastRequest = ({ doGenerateCalls, doStreamCalls }: Fake): Heard['prompt'] =>
  [...doGenerateCalls, ...doStreamCalls].at(-1)?.prompt ?? [];

interface ToolResult {
  readonly type: 'tool-result';
  readonly output: { readonly value?: unknown; readonly reason?: string | undefined };
}

const resultsIn = ({ role, content }: Heard['prompt'][number]): readonly ToolResult[] =>
  role === 'tool' ? (content as readonly ToolResult[]).filter(({ type }) => type === 'tool-result') : [];

/** What a person refused has a reason alone. */
const textOf = ({ output }: ToolResult): string => {
  const said = 'value' in output ? output.value : (output.reason ?? 'denied');
  return typeof said === 'string' ? said : JSON.stringify(said);
};
