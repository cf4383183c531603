import * as newest from '@google/adk';
import { playScript, type ScriptedStep } from './script.ts';

type LlmRequest = newest.LlmRequest;
type LlmResponse = newest.LlmResponse;

/** `@google/adk`, of whichever version. */
export type Adk = typeof newest;

/** A model that follows a script. */
export interface ScriptedModel {
  readonly model: newest.BaseLlm;
  /** All tool results that were in the model's last request, in order; what isn't text as JSON. */
  heard(): readonly string[];
}

/**
 * For `LlmAgent`. Where the run streams, what it says comes in two pieces.
 *
 * @param adk Another version of `@google/adk`.
 */
export const scriptedModel = (
  steps: readonly ScriptedStep[],
  { BaseLlm }: Pick<Adk, 'BaseLlm'> = newest,
): ScriptedModel => {
  const nextTurn = playScript(steps);
  let heard: readonly string[] = [];

  class ScriptedLlm extends BaseLlm {
    override async *generateContentAsync(request: LlmRequest, stream = false): AsyncGenerator<LlmResponse> {
      heard = resultsIn(request);
      const { text, calls } = nextTurn();
      if (calls.length > 0) {
        const parts = calls.map(({ id, tool: name, input }) => ({
          functionCall: { id, name, args: input as Record<string, unknown> },
        }));
        yield { content: { role: 'model', parts }, usageMetadata };
        return;
      }
      const half = Math.ceil(text.length / 2);
      const pieces = stream ? [text.slice(0, half), text.slice(half)] : [];
      for (const piece of pieces) yield { content: { role: 'model', parts: [{ text: piece }] }, partial: true };
      yield { content: { role: 'model', parts: [{ text }] }, usageMetadata };
    }

    override connect(): Promise<never> {
      return Promise.reject(new Error('scriptedModel(): has no live connection. Run it with runAsync.'));
    }
  }

  return { model: new ScriptedLlm({ model: 'scripted' }), heard: () => heard };
};

/** What a turn costs. */
const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };

const resultsIn = ({ contents }: LlmRequest): readonly string[] =>
  contents.flatMap(({ parts = [] }) =>
    parts.flatMap(({ functionResponse }) => (functionResponse ? [textOf(functionResponse.response)] : [])),
  );

/** ADK puts what is no object into `{ result }`. */
const textOf = (response: Record<string, unknown> | undefined): string =>
  typeof response?.result === 'string' ? response.result : JSON.stringify(response);
