import { playScript, type ScriptedStep, type Turn } from './script.ts';

/** What a model reads, as chat APIs have it: what was asked, what it called, and what came of each call. */
export type Message =
  | { readonly role: 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly turn: Turn }
  | { readonly role: 'tool'; readonly callId: string; readonly content: string };

export type Call = Turn['calls'][number];

/** A language model without a framework: reads all that was said, and takes its turn. */
export type Model = (messages: readonly Message[]) => Promise<Turn>;

/** An agent in ten lines. Calls of one turn run side by side; `endTurn` is where `session.step()` belongs. */
export const runLoop = async (
  model: Model,
  prompt: string,
  callTool: (call: Call) => Promise<string>,
  endTurn: () => void,
): Promise<string> => {
  const messages: Message[] = [{ role: 'user', content: prompt }];
  for (;;) {
    const turn = await model(messages);
    if (turn.calls.length === 0) return turn.text;
    const results = await Promise.all(turn.calls.map(callTool));
    const told = turn.calls.map(
      ({ id }, index) => ({ role: 'tool', callId: id, content: results[index] ?? '' }) as const,
    );
    messages.push({ role: 'assistant', turn }, ...told);
    endTurn();
  }
};

/** Follows a script. `heard` gives the results of tools that it had read by its last turn, in order. */
export const scriptedModel = (steps: readonly ScriptedStep[]): { model: Model; heard(): readonly string[] } => {
  const play = playScript(steps);
  let read: readonly Message[] = [];
  return {
    model: async (messages) => {
      read = [...messages];
      return play();
    },
    heard: () => read.flatMap((message) => (message.role === 'tool' ? [message.content] : [])),
  };
};

/** A tool, as a model is told of it. */
export interface ToolDescription {
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema of its input. */
  readonly parameters: object;
}

interface Completion {
  readonly choices: readonly [
    {
      readonly message: {
        readonly content: string | null;
        readonly tool_calls?: readonly {
          readonly id: string;
          readonly function: { readonly name: string; readonly arguments: string };
        }[];
      };
    },
  ];
}

/** A model of OpenAI's, or of any service with the same API: the key is in OPENAI_API_KEY. */
export const openAiModel = (name: string, tools: readonly ToolDescription[]): Model => {
  const { OPENAI_API_KEY, OPENAI_BASE_URL = 'https://api.openai.com/v1' } = process.env;
  return async (messages) => {
    const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${OPENAI_API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: name,
        messages: messages.map(toOpenAi),
        tools: tools.map((tool) => ({ type: 'function', function: tool })),
      }),
    });
    if (!response.ok) throw new Error(`The model answered HTTP ${response.status}: ${await response.text()}`);
    const { message } = ((await response.json()) as Completion).choices[0];
    const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: input } }) => ({
      id,
      tool: name,
      input: parsed(input),
    }));
    return { text: message.content ?? '', calls };
  };
};

/** What is no JSON, for it was cut off, stays the text that it is: the loop tells the model. */
const parsed = (input: string): unknown => {
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
};

const toOpenAi = (message: Message): object => {
  if (message.role === 'user') return message;
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.callId, content: message.content };
  const tool_calls = message.turn.calls.map(({ id, tool, input }) => ({
    id,
    type: 'function',
    function: { name: tool, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
  }));
  return { role: 'assistant', content: message.turn.text, tool_calls };
};
