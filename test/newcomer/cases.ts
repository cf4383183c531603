import { anthropic, gemini, openAi, type Provider } from './providers.ts';

export interface Case {
  readonly provider: Provider;
  /** The tool, as the model knows it. Default: `fetch_page`. */
  readonly tool?: string;
  /** What the model gives it to have it read that page. */
  readonly input?: (url: string) => unknown;
  /** A command line: the tool fails because this process of the program's is killed, not because the page can't be reached. */
  readonly killed?: RegExp;
}

/** By the titles of the sections of docs/frameworks.md. */
export const CASES: Readonly<Record<string, Case>> = {
  'No change to the code': { provider: openAi },
  'AI SDK': { provider: openAi },
  LangChain: { provider: openAi },
  'OpenAI Agents': { provider: openAi },
  Mastra: { provider: openAi },
  'Claude Agent SDK': { provider: anthropic, tool: 'mcp__web__fetch_page' },
  'Anthropic SDK': { provider: anthropic },
  'Google ADK': { provider: gemini },
  MCP: { provider: openAi, tool: 'echo', input: (message) => ({ message }), killed: /mcp-server-everything/ },
  'A loop of your own': { provider: openAi },
};
