import { breakerMiddleware } from '@breakerbox/instrumentation/langchain';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import { type AgentMiddleware, createAgent, tool, toolRetryMiddleware } from 'langchain';
import type { TakeTurn } from '../agent/meter.ts';
import type { Arguments } from '../airline/tools.ts';
import { ANY_OBJECT, eachTool, INSTRUCTIONS, type Loop, MOST_TURNS } from './loop.ts';

const lastResult = (messages: readonly BaseMessage[]): string | undefined => {
  const last = messages.at(-1);
  return last?.type === 'tool' ? last.text : undefined;
};

class ScriptedChatModel extends BaseChatModel {
  readonly #takeTurn: TakeTurn;
  #made = 0;

  constructor(takeTurn: TakeTurn) {
    super({ maxRetries: 0 });
    this.#takeTurn = takeTurn;
  }

  _llmType(): string {
    return 'scripted';
  }

  override bindTools(): this {
    return this;
  }

  async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const sent = messages.map(({ type, content, ...rest }) => ({
      type,
      content,
      calls: (rest as AIMessage).tool_calls,
    }));
    const turn = await this.#takeTurn(sent, lastResult(messages), messages[0]?.text ?? '');
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

export const langChainLoop: Loop = async (request, takeTurn, { call, session, own }) => {
  const tools = eachTool((name) =>
    tool((given: unknown, { signal }: { signal?: AbortSignal }) => call(name, given as Arguments, signal), {
      name,
      description: name,
      schema: ANY_OBJECT,
    }),
  ).map(([, one]) => one);
  const common = { model: new ScriptedChatModel(takeTurn), tools, systemPrompt: INSTRUCTIONS };
  const agent = createAgent({
    ...common,
    middleware: session ? [breakerMiddleware(session)] : own ? [retryMiddleware()] : [],
  });
  await agent.invoke({ messages: [{ role: 'user', content: request }] }, { recursionLimit: 3 * MOST_TURNS });
};
