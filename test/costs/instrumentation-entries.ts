import { createBreakerbox, type Session } from '@breakerbox/core';
import {
  classifyError,
  classifyModelCall,
  classifyResult,
  defaultKey,
  guard,
  guardAll,
  hookedCalls,
  unavailableNotice,
  withAdvice,
} from '@breakerbox/instrumentation';
import { guardTools as guardAiTools } from '@breakerbox/instrumentation/ai-sdk';
import { guardTools as guardAnthropicTools } from '@breakerbox/instrumentation/anthropic';
import { breakerHooks as claudeHooks } from '@breakerbox/instrumentation/claude-agent';
import { breakerCallbacks } from '@breakerbox/instrumentation/google-adk';
import { breakerMiddleware, guardTool, guardTools } from '@breakerbox/instrumentation/langchain';
import { breakerHooks as mastraHooks } from '@breakerbox/instrumentation/mastra';
import { guardMcpClient } from '@breakerbox/instrumentation/mcp';
import { guardMcpServer } from '@breakerbox/instrumentation/openai-agents';

/** A call whose tool ends with a value, as an error or as a result. */
type Call = (value: unknown, end: () => Promise<never>) => unknown;

const session = (): Session =>
  createBreakerbox({
    agent: 'costs',
    budget: { failures: 1_000_000 },
    defaults: { failureThreshold: 1_000_000 },
  }).session();

/** Only the part that is called here: the frameworks' own types have dozens of members. */
const given = <Value>(value: unknown): Value => value as Value;

type Hook = (input: object, id: string | undefined, options: object) => Promise<unknown>;
const hook = (hooks: ReturnType<typeof claudeHooks>, name: keyof ReturnType<typeof claudeHooks>, input: object) =>
  given<Hook>(hooks[name]?.[0]?.hooks[0])({ tool_name: 'search', tool_use_id: 'a', ...input }, 'a', {});

const adkCall = async (run: () => unknown): Promise<unknown> => {
  const actions = { requestedToolConfirmations: {}, requestedAuthConfigs: {} };
  const tool = { name: 'search', runAsync: async (_: unknown) => run() };
  const context = { functionCallId: 'a', actions, invocationContext: {} };
  given<(call: object) => unknown>(breakerCallbacks(session()).beforeToolCallback)({ tool, args: {}, context });
  return tool.runAsync({ args: {}, toolContext: context });
};

/** Every entry that reads what a tool gave, by its name in the API report. */
export const ENTRIES: Readonly<Record<string, Call>> = {
  'index classifyError': (value) => classifyError(value, { tool: 'fetch', input: { url: 'https://a.example/' } }),
  'index classifyResult': (value) => classifyResult(value, { tool: 'search', input: { query: 'ECONNRESET' } }),
  'index classifyModelCall': (value) => classifyModelCall({ provider: 'openai', model: 'gpt-5', error: value }),
  'index guard': (value, end) =>
    Promise.allSettled([guard(session(), 'search', end)(undefined), guard(session(), 'get', () => value)(undefined)]),
  'index guardAll': (_, end) => guardAll(session(), { search: end }).search(undefined),
  'index unavailableNotice': (value) => unavailableNotice(value),
  'index defaultKey': (value) => defaultKey(value),
  'index withAdvice': (value) => withAdvice(value, 'Do not call it now.'),
  'index hookedCalls': (value) => {
    const calls = hookedCalls(session());
    for (const settlement of [{ error: value }, { result: value }]) {
      calls.acquire({ callId: 'a', tool: 'search', input: {} });
      calls.settle('a', settlement);
    }
  },
  'ai-sdk guardTools': (_, end) => {
    const { search } = guardAiTools(given<{ search: object }>({ search: { execute: end } }) as never, session());
    return given<{ execute(input: object, options: object): unknown }>(search).execute(
      {},
      { toolCallId: 'a', messages: [] },
    );
  },
  'anthropic guardTools': (_, end) => guardAnthropicTools([{ name: 'search', run: end }], session())[0]?.run(),
  'claude-agent breakerHooks': async (value) => {
    const hooks = claudeHooks(session());
    const error = typeof value === 'string' ? value : String((value as { message?: unknown } | null)?.message ?? '');
    const tool_input = { query: 'ECONNRESET', words: error.slice(0, 8_000).split(' ') };
    await hook(hooks, 'PreToolUse', { tool_input });
    await hook(hooks, 'PostToolUseFailure', { tool_input, error, is_interrupt: false });
    await hook(hooks, 'PreToolUse', { tool_input });
    await hook(hooks, 'PostToolUse', { tool_input, tool_response: value });
  },
  'google-adk breakerCallbacks': (value, end) => Promise.allSettled([adkCall(end), adkCall(() => value)]),
  'langchain guardTool': (_, end) => guardTool({ name: 'search', invoke: end }, session()).invoke(),
  'langchain guardTools': (_, end) => guardTools([{ name: 'search', invoke: end }], session())[0]?.invoke(),
  'langchain breakerMiddleware': (_, end) =>
    given<{ wrapToolCall(request: object, handler: () => unknown): unknown }>(
      breakerMiddleware(session()),
    ).wrapToolCall(
      {
        toolCall: { name: 'search', id: 'a', args: {} },
        tool: { name: 'search', invoke: end },
        state: {},
        runtime: {},
      },
      end,
    ),
  'mastra breakerHooks': async (value) => {
    const hooks = mastraHooks(session());
    const call = { toolName: 'search', input: {}, context: { toolCallId: 'a' } };
    await hooks.beforeToolCall?.(given(call));
    await hooks.afterToolCall?.(given({ ...call, error: value }));
  },
  'mcp guardMcpClient': (value, end) => {
    const client = (callTool: () => unknown) =>
      guardMcpClient(
        given<{ callTool(params: { name: string }): Promise<unknown>; listTools(): Promise<unknown> }>({
          callTool,
          listTools: async () => ({ tools: [{ name: 'search' }] }),
        }),
        session(),
        { tools: ['search'] },
      ).callTool({ name: 'search' });
    return Promise.allSettled([client(end), client(async () => value)]);
  },
  'openai-agents guardMcpServer': (_, end) =>
    guardMcpServer({ name: 'web', listTools: async () => [{ name: 'search' }], callTool: end }, session()).callTool(),
};

/** Entries that read no error and no result of a tool, with what they read. */
export const NO_OUTSIDE_INPUT: Readonly<Record<string, string>> = {
  'ai-sdk ModelStreamError': 'an error of ours',
  'ai-sdk ModelsUnavailableError': 'an error of ours',
  'ai-sdk RunLimitError': 'an error of ours',
  'index ModelStreamError': 'an error of ours',
  'index ModelsUnavailableError': 'an error of ours',
  'index RunLimitError': 'an error of ours',
  'index guardModels': 'parts of a stream, each read once; test/models has the hostile answers',
  'ai-sdk breakerApproval': 'arguments, which the SDK has checked',
  'ai-sdk breakerPrepareStep': 'names of tools, which the developer gives',
  'ai-sdk guardModels': 'parts of a stream, each read once; test/models has the hostile answers',
  'anthropic guardModels': 'parts of a stream, each read once; test/models has the hostile answers',
  'langchain guardModels': 'parts of a stream, each read once; test/models has the hostile answers',
  'langchain ModelStreamError': 'an error of ours',
  'langchain ModelsUnavailableError': 'an error of ours',
  'langchain RunLimitError': 'an error of ours',
  'mastra guardModels': 'parts of a stream, each read once; test/models has the hostile answers',
  'mastra ModelStreamError': 'an error of ours',
  'mastra ModelsUnavailableError': 'an error of ours',
  'mastra RunLimitError': 'an error of ours',
  'openai-agents guardModels': 'parts of a stream, each read once; test/models has the hostile answers',
  'openai-agents ModelStreamError': 'an error of ours',
  'openai-agents ModelsUnavailableError': 'an error of ours',
  'openai-agents RunLimitError': 'an error of ours',
  'ai-sdk breakerStepEnd': 'numbers of tokens, each read once',
  'ai-sdk breakerTelemetry': 'the events of a run, without errors and results',
  'claude-agent guardQuery': 'the control of a query',
  'claude-agent mergeHooks': 'hooks, which the developer gives',
  'google-adk BreakerPlugin': 'the same functions as breakerCallbacks',
  'mastra breakerProcessor': 'the same judge as breakerHooks',
  'openai-agents breakerSteps': 'nothing: it counts turns',
  'openai-agents guardToolFactory': 'the same runTool as guardMcpServer',
  'config inMode': 'settings that loadConfig has checked',
  'checks envSet': 'the environment',
  'checks httpEndpoint': 'a status: the body is not read',
  'checks mcpPing': 'whether an answer comes: the answer is not read',
  'checks readable': 'the rights of a file',
  'session currentSession': 'nothing',
  'session withSession': 'nothing',
  ...Object.fromEntries(
    ['index', 'ai-sdk', 'anthropic', 'langchain', 'mastra'].map((entry) => [
      `${entry} ToolUnavailableError`,
      'a permit, which core makes',
    ]),
  ),
};
