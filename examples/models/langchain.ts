import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import { type FakeBuiltModel, fakeModel } from '@langchain/core/testing';
import { playScript, type ScriptedStep } from './script.ts';

/** Turns beyond the script, in which the model says that it is over. */
const SPARE_TURNS = 20;

/** LangChain's own fake model, which follows a script. `heard` gives the results of tools that it had read by its last turn, in order. */
export const scriptedModel = (
  steps: readonly ScriptedStep[],
): { readonly model: FakeBuiltModel; heard(): readonly string[] } => {
  const play = playScript(steps);
  const takeTurn = (): AIMessage => {
    const { text, calls } = play();
    const toolCalls = calls.map(({ id, tool, input }) => ({
      type: 'tool_call' as const,
      id,
      name: tool,
      args: input as Record<string, unknown>,
    }));
    return new AIMessage({ content: text, tool_calls: toolCalls });
  };
  const model = fakeModel();
  for (let turn = 0; turn < steps.length + SPARE_TURNS; turn += 1) model.respond(takeTurn);
  return {
    model,
    heard: () => (model.calls.at(-1)?.messages ?? []).filter(({ type }) => type === 'tool').map(asText),
  };
};

const asText = ({ content }: BaseMessage): string =>
  typeof content === 'string'
    ? content
    : content
        .map((block) => ('text' in block && typeof block.text === 'string' ? block.text : JSON.stringify(block)))
        .join('\n');
