/** What the reader of a snippet already has, found by the snippet's text: a module of `around/`. */
export interface Around {
  readonly file: string;
  readonly has: string;
  /** The module; what it exports is there in the snippet. */
  readonly gives: string;
}

export const AROUND: readonly Around[] = [
  { file: 'README.md', has: 'guardTools(tools, session), stopWhen', gives: 'chat' },
  { file: 'packages/core/README.md', has: 'serveStaleMs: 600_000', gives: 'box' },
  { file: 'packages/instrumentation/README.md', has: 'guardTools(ownTools, currentSession)', gives: 'chat' },
  { file: 'packages/instrumentation/README.md', has: '/langchain', gives: 'langchain' },
  { file: 'packages/instrumentation/README.md', has: '/openai-agents', gives: 'openai-agents' },
  { file: 'packages/instrumentation/README.md', has: '/mastra', gives: 'mastra' },
  { file: 'packages/instrumentation/README.md', has: 'await mcp.listTools()', gives: 'mastra-mcp' },
  { file: 'packages/instrumentation/README.md', has: '/claude-agent', gives: 'claude-agent' },
  { file: 'packages/instrumentation/README.md', has: '/anthropic', gives: 'anthropic' },
  { file: 'packages/instrumentation/README.md', has: '/google-adk', gives: 'google-adk' },
  { file: 'packages/control/README.md', has: 'await readState(target)', gives: 'control' },
  { file: 'docs/fleet.md', has: 'createFleet({ client', gives: 'fleet' },
  { file: 'docs/frameworks.md', has: "app.post('/chat'", gives: 'chat' },
  { file: 'docs/limits.md', has: 'runner.generateToolResponse()', gives: 'anthropic-runner' },
  { file: 'docs/recipes.md', has: 'log.warn({ ...event }', gives: 'recipes' },
  { file: 'docs/recipes.md', has: 'readPage', gives: 'recipes' },
];
