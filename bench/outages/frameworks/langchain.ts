import { breakerMiddleware, guardModels } from '@breakerbox/instrumentation/langchain';
import { BaseChatModel, type BindToolsInput } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage, type ToolMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import type { StructuredToolInterface } from '@langchain/core/tools';
import { convertToOpenAITool } from '@langchain/core/utils/function_calling';
import { type AgentMiddleware, createAgent, modelFallbackMiddleware, tool, toolRetryMiddleware } from 'langchain';
import type { TakeTurn } from '../agent/meter.ts';
import type { Arguments } from '../airline/tools.ts';
import type { Provider } from '../world/client.ts';
import { ANY_OBJECT, eachTool, INSTRUCTIONS, type Loop, MOST_TURNS } from './loop.ts';

const lastResult = (messages: readonly BaseMessage[]): string | undefined => {
  const last = messages.at(-1);
  return last?.type === 'tool' ? last.text : undefined;
};

class ScriptedChatModel extends BaseChatModel {
  readonly #takeTurn: TakeTurn;
  readonly #provider: Provider;
  #made = 0;
  #tools: readonly unknown[] = [];

  /** @param maxRetries Default: LangChain's own. */
  constructor(takeTurn: TakeTurn, provider: Provider = 'first', maxRetries?: number) {
    super(maxRetries === undefined ? {} : { maxRetries });
    this.#takeTurn = takeTurn;
    this.#provider = provider;
  }

  _llmType(): string {
    return 'scripted';
  }

  override bindTools(tools: BindToolsInput[]): this {
    this.#tools = tools.map((one) => convertToOpenAITool(one as StructuredToolInterface));
    return this;
  }

  async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const sent = messages.map(({ type, content, name, ...rest }) => {
      const { tool_calls, tool_call_id } = rest as Partial<AIMessage & ToolMessage>;
      return { type, content, name, tool_calls, tool_call_id };
    });
    // As the packages of providers do, whose requests LangChain repeats.
    const turn = await this.caller.call(() =>
      this.#takeTurn([sent, this.#tools], lastResult(messages), messages[0]?.text ?? '', this.#provider),
    );
    this.#made += 1;
    const content = 'text' in turn ? turn.text : '';
    const calls =
      'text' in turn
        ? []
        : [
            {
              type: 'tool_call' as const,
              id: `call-${this.#made}`,
              name: turn.call.tool,
              args: turn.call.input as Record<string, unknown>,
            },
          ];
    return { generations: [{ text: content, message: new AIMessage({ content, tool_calls: calls }) }] };
  }
}

/** With its defaults: two more attempts, after one second and two. */
const retryMiddleware = (): AgentMiddleware => toolRetryMiddleware() as unknown as AgentMiddleware;

const NAMES = ['first', 'second'] as const;

export const langChainLoop: Loop = async (request, takeTurn, { call, session, inPlace = [], own, models }) => {
  const tools = eachTool((name) =>
    tool((given: unknown, { signal }: { signal?: AbortSignal }) => call(name, given as Arguments, signal), {
      name,
      description: name,
      schema: ANY_OBJECT,
    }),
  ).map(([, one]) => one);
  const model = (provider: Provider, maxRetries?: number) => new ScriptedChatModel(takeTurn, provider, maxRetries);
  const guarded =
    models && guardModels(models, { models: NAMES.map((name) => ({ model: model(name, 0), name: `${name}/model` })) });
  const common = { model: guarded ?? model('first', own ? undefined : 0), tools, systemPrompt: INSTRUCTIONS };
  const ofItsOwn = () => [retryMiddleware(), modelFallbackMiddleware(model('second')) as unknown as AgentMiddleware];
  const agent = createAgent({
    ...common,
    middleware: session ? [breakerMiddleware(session, { inPlace, interruptOn: {} })] : own ? ofItsOwn() : [],
  });
  await agent.invoke({ messages: [{ role: 'user', content: request }] }, { recursionLimit: 3 * MOST_TURNS });
};
