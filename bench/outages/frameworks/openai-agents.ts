import { breakerSteps, guardModels, guardToolFactory } from '@breakerbox/instrumentation/openai-agents';
import {
  Agent,
  type Model,
  type ModelRequest,
  type ModelResponse,
  Runner,
  setTracingDisabled,
  tool,
} from '@openai/agents';
import type { TakeTurn } from '../agent/meter.ts';
import type { Arguments } from '../airline/tools.ts';
import type { Provider } from '../world/client.ts';
import { ANY_OBJECT, eachTool, INSTRUCTIONS, type Loop, MOST_TURNS } from './loop.ts';

/** The runner adds it up, and asks for no more than the numbers. */
const usage = {
  ...{ requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  ...{ inputTokensDetails: [], outputTokensDetails: [] },
} as unknown as ModelResponse['usage'];

const lastResult = ({ input }: ModelRequest): string | undefined => {
  const last = typeof input === 'string' ? undefined : input.at(-1);
  if (last?.type !== 'function_call_result') return undefined;
  const { output } = last;
  if (typeof output === 'string') return output;
  return 'text' in output && typeof output.text === 'string' ? output.text : JSON.stringify(output);
};

const modelOf = (takeTurn: TakeTurn, provider: Provider = 'first'): Model => {
  let made = 0;
  return {
    getResponse: async (request) => {
      const turn = await takeTurn(
        [request.systemInstructions, request.input, request.tools],
        lastResult(request),
        request.systemInstructions ?? '',
        provider,
      );
      made += 1;
      const item =
        'text' in turn
          ? {
              type: 'message' as const,
              role: 'assistant' as const,
              status: 'completed' as const,
              content: [{ type: 'output_text' as const, text: turn.text }],
            }
          : {
              type: 'function_call' as const,
              callId: `${provider}-${made}`, // Two models of one conversation share no id.
              name: turn.call.tool,
              status: 'completed' as const,
              arguments: JSON.stringify(turn.call.input),
            };
      return { usage, output: [item] };
    },
    getStreamedResponse: () => {
      throw new Error('The benchmark does not stream.');
    },
  };
};

setTracingDisabled(true);

export const openAiAgentsLoop: Loop = async (request, takeTurn, { call, session, inPlace = [], models }) => {
  const make = session ? guardToolFactory(tool, session, { inPlace }) : tool;
  const tools = eachTool((name) =>
    make({
      name,
      description: name,
      parameters: { ...ANY_OBJECT, required: [] },
      strict: false,
      execute: (given, _context, details) => call(name, given as Arguments, details?.signal),
    }),
  ).map(([, one]) => one);
  const entry = (provider: Provider) => ({ model: modelOf(takeTurn, provider), name: `${provider}/scripted` });
  const model = models ? guardModels(models, { models: [entry('first'), entry('second')] }) : modelOf(takeTurn);
  const agent = new Agent({ name: 'airline', instructions: INSTRUCTIONS, model, tools });
  const runner = new Runner({
    tracingDisabled: true,
    ...(session
      ? { callModelInputFilter: breakerSteps(session), toolNotFoundBehavior: 'return_error_to_model' as const }
      : {}),
  });
  await runner.run(agent, request, { maxTurns: MOST_TURNS });
};
