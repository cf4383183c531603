import { createSdkMcpServer, type Options, type Query, query, tool } from '@anthropic-ai/claude-agent-sdk';
import { scriptedModel } from '@breakerbox/scripted-models/claude-agent';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import { z } from 'zod';

// Real Claude Code, a process of its own for each query, on a model that follows a script.

export const SEARCH = 'mcp__t__search';
export const call = (name: string, input: object) => [{ tool: name, input }];
export const ask = (q: string) => call(SEARCH, { q });

export type Answer = (q: string, signal: AbortSignal | undefined) => Promise<string>;

const serverOf = (answer: Answer) =>
  createSdkMcpServer({
    name: 't',
    tools: [
      tool('search', 'Searches', { q: z.string() }, async ({ q }, extra) => {
        const text = await answer(q, (extra as { signal?: AbortSignal }).signal);
        return { content: [{ type: 'text', text }] };
      }),
    ],
  });

const found: Answer = async (q) => `found ${q}`;

interface Play {
  readonly script: readonly ScriptedStep[];
  readonly options: Options;
  readonly answer?: Answer;
  readonly prompt?: Parameters<typeof query>[0]['prompt'];
  /** Reads the messages of the query. Default: to its end. */
  readonly read?: (running: Query) => Promise<unknown>;
}

export const toItsEnd = async (running: Query): Promise<void> => {
  for await (const _ of running);
};

/** What the model heard of its tools. A query that ends in an error has ended, too. */
export const play = async ({
  script,
  options,
  answer = found,
  prompt = 'Go.',
  read = toItsEnd,
}: Play): Promise<readonly string[]> => {
  const claude = await scriptedModel(script);
  try {
    const running = query({ prompt, options: { ...claude.options, mcpServers: { t: serverOf(answer) }, ...options } });
    await read(running).catch(() => {}); // An interrupted one says so by an error.
    return claude.heard();
  } finally {
    await claude.stop();
  }
};

export const say = (content: string) => ({
  type: 'user' as const,
  message: { role: 'user' as const, content },
  parent_tool_use_id: null,
  session_id: '',
});

export const gate = () => {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open: () => open(), opened };
};
