import Newest from '@anthropic-ai/sdk';
import { betaZodTool as newestTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { ToolError as NewestToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import { VERSION as NEWEST } from '@anthropic-ai/sdk/version';
import { guardTools } from '@breakerbox/instrumentation/anthropic';
import { scriptedModel } from '@breakerbox/scripted-models/anthropic';
import Oldest from 'anthropic-sdk-oldest';
import { betaZodTool as oldestTool } from 'anthropic-sdk-oldest/helpers/beta/zod';
import { ToolError as OldestToolError } from 'anthropic-sdk-oldest/lib/tools/ToolError';
import { VERSION as OLDEST } from 'anthropic-sdk-oldest/version';
import { z } from 'zod';
import { contract } from './contract.ts';
import type { AgentRun, Harness } from './harness.ts';

/** A version of the SDK. */
interface Sdk {
  readonly version: string;
  readonly Anthropic: typeof Newest;
  readonly betaZodTool: typeof newestTool;
  readonly ToolError: typeof NewestToolError;
}

const newest: Sdk = { version: NEWEST, Anthropic: Newest, betaZodTool: newestTool, ToolError: NewestToolError };
// Its types differ in parts that the suite does not use.
const oldest = {
  version: OLDEST,
  Anthropic: Oldest,
  betaZodTool: oldestTool,
  ToolError: OldestToolError,
} as unknown as Sdk;

const run = async ({ Anthropic, betaZodTool, ToolError }: Sdk, stream: boolean, agent: AgentRun) => {
  const { session, tools, servers, judging, script, timeoutMs, signal } = agent;
  const { fetch, heard } = scriptedModel(script);
  const client = new Anthropic({ apiKey: 'none', fetch, maxRetries: 0 });
  const own = Object.entries(tools).map(([name, body]) =>
    betaZodTool({
      name,
      description: `Tool ${name}`,
      inputSchema: z.object({ q: z.string() }),
      run: async (input, context) => {
        const result = await body(input, context?.signal ?? undefined);
        if (result instanceof ToolError) throw result;
        return typeof result === 'string' ? result : JSON.stringify(result);
      },
    }),
  );
  const runner = client.beta.messages.toolRunner(
    {
      model: 'claude-sonnet-5',
      max_tokens: 1_000,
      messages: [{ role: 'user', content: 'Go.' }],
      tools: guardTools(own, session, {
        ...judging,
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(servers && { group: (tool) => servers[tool] }),
      }),
      stream,
    },
    signal && { signal },
  );
  const current = typeof session === 'function' ? session() : session;
  for await (const _ of runner) current.step();
  const { content } = await runner.done();
  return { text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''), heard: heard() };
};

const harnessOf = (sdk: Sdk, stream: boolean): Harness => ({
  framework: `Anthropic SDK ${sdk.version}${stream ? ', streaming' : ''}`,
  run: (agent) => run(sdk, stream, agent),
  inBand: (text) => new sdk.ToolError(text),
  ...(sdk === newest && { nativeSpan: (tool: string) => `anthropic.custom_tool_use ${tool}` }),
  lacks: {
    responses: 'A tool of the runner returns text or content, and no Response.',
    frameworkTimeout: 'The tool runner has no time-out for tools.',
    approval: 'The tool runner does not ask for approval.',
    generators: 'A tool of the runner returns one result.',
    ...(sdk === oldest && { nativeSpan: 'Only later versions make spans.' }),
    ...(sdk === oldest && !stream && { callersSignal: 'Each request of the SDK leaves a listener on the signal.' }),
  },
});

for (const sdk of [newest, oldest]) for (const stream of [false, true]) contract(harnessOf(sdk, stream));
