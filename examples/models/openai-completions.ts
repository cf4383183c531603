import type { Turn } from './script.ts';

/** A turn in the words of OpenAI's Chat Completions, which many providers speak. */
export const completionOf = (id: string, { text, calls }: Turn, model: string) => ({
  ...head(id, model),
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: text === '' ? null : text,
        refusal: null,
        ...(calls.length > 0 && { tool_calls: calls.map(toolCall) }),
      },
      finish_reason: finishOf(calls),
      logprobs: null,
    },
  ],
  usage,
});

/** The same as a stream tells of it. */
export const completionEvents = (id: string, { text, calls }: Turn, model: string) => {
  const chunk = (delta: object, finish_reason: string | null) => ({
    ...head(id, model),
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason, logprobs: null }],
  });
  return [
    chunk({ role: 'assistant', content: text }, null),
    ...calls.map((call, index) => chunk({ tool_calls: [{ index, ...toolCall(call) }] }, null)),
    chunk({}, finishOf(calls)),
    { ...head(id, model), object: 'chat.completion.chunk', choices: [], usage },
    '[DONE]',
  ];
};

interface Message {
  readonly role: string;
  readonly content?: unknown;
}

/** The texts of the tool results among them. */
export const resultsInMessages = (messages: readonly Message[]): readonly string[] =>
  messages.flatMap(({ role, content }) => (role === 'tool' ? [textOf(content)] : []));

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

const head = (id: string, model: string) => ({ id, created: 1_800_000_000, model });

const toolCall = ({ id, tool, input }: Turn['calls'][number]) => ({
  id,
  type: 'function',
  function: { name: tool, arguments: JSON.stringify(input) },
});

const finishOf = (calls: Turn['calls']): string => (calls.length > 0 ? 'tool_calls' : 'stop');

const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return JSON.stringify(content);
  return content.map((part) => (typeof part?.text === 'string' ? part.text : JSON.stringify(part))).join('\n');
};
