import { createBreakerbox } from '@breakerbox/core';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, toolStrategy } from 'langchain';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { search } from '../test-support/langchain-agents.ts';
import { breakerMiddleware } from './langchain.ts';

interface Request {
  readonly tool_choice?: string;
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

type Call = { readonly name: string; readonly args: object };

/** OpenAI's chat API on a function: what the model says to a request. It is the class `Model`. */
const modelOf = (say: (request: Request) => Call | string, Model = ChatOpenAI) => {
  const requests: Request[] = [];
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    const request = JSON.parse(String(init?.body)) as Request;
    requests.push(request);
    const said = say(request);
    const message =
      typeof said === 'string'
        ? { role: 'assistant', content: said }
        : {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: `c${requests.length}`,
                type: 'function',
                function: { name: said.name, arguments: JSON.stringify(said.args) },
              },
            ],
          };
    const choices = [{ index: 0, finish_reason: 'stop', message }];
    return Response.json({ id: `x${requests.length}`, object: 'chat.completion', created: 0, model: 'gpt', choices });
  };
  const model = new Model({ model: 'gpt', apiKey: 'none', maxRetries: 0, configuration: { fetch } });
  return { model, requests };
};

const paused = () => createBreakerbox({ agent: 'lister', limits: { calls: 1 } }).session();
const SEARCH = { name: 'search', args: { q: 'x' } };
const seen = ({ tool_choice, tools }: Request) => [tool_choice, tools?.map((one) => one.function.name)];

/** Throws before a request, as `ChatBedrockConverse` and `ChatCohere` do. */
class Refusing extends ChatOpenAI {
  override bindTools(...given: Parameters<ChatOpenAI['bindTools']>) {
    if (given[1]?.tool_choice === 'none') throw new Error('Tool with name none not found in tools list.');
    return super.bindTools(...given);
  }
}

test('D6: a model of LangChain that knows no tool choice "none" answers in the last turn nevertheless', async () => {
  let turn = 0;
  const { model, requests } = modelOf(() => (++turn <= 2 ? SEARCH : 'I stop.'), Refusing);
  const agent = createAgent({ model, tools: [search(async () => 'r')], middleware: [breakerMiddleware(paused())] });
  const { messages } = await agent.invoke({ messages: 'Go.' });
  expect(messages.at(-1)?.text).toBe('I stop.');
  expect(requests.map(seen)).toEqual(Array.from({ length: 3 }, () => [undefined, ['search']]));
});

test('D6: an error of the last turn that is not about the choice of tools is the run’s', async () => {
  let turn = 0;
  const { model, requests } = modelOf(() => {
    turn += 1;
    if (turn > 2) throw new Error('overloaded');
    return SEARCH;
  });
  const agent = createAgent({ model, tools: [search(async () => 'r')], middleware: [breakerMiddleware(paused())] });
  await expect(agent.invoke({ messages: 'Go.' })).rejects.toThrow();
  expect(requests).toHaveLength(3);
});

test.each([
  ['toolStrategy', toolStrategy(z.object({ found: z.string() }).meta({ title: 'report' }))],
  ['a schema, and a model without JSON schemas', z.object({ found: z.string() }).meta({ title: 'report' })],
])(
  'D6: with %s, the last turn has only the tool for the answer, and the run gives its object',
  async (_, responseFormat) => {
    const { model, requests } = modelOf(({ tools }) =>
      tools?.length === 1 ? { name: 'report', args: { found: 'a' } } : SEARCH,
    );
    const agent = createAgent({
      model,
      tools: [search(async () => 'r')],
      middleware: [breakerMiddleware(paused())],
      responseFormat: responseFormat as never,
    });
    const { structuredResponse } = (await agent.invoke({ messages: 'Go.' })) as { structuredResponse: unknown };
    expect(structuredResponse).toEqual({ found: 'a' });
    expect(seen(requests.at(-1) as Request)).toEqual(['required', ['report']]);
  },
);
