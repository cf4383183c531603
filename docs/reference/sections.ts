/** One type of options on the page. */
export interface Section {
  /** The heading: what the user calls with these options. */
  readonly title: string;
  /** The exported type. */
  readonly type: string;
  /** Where it is imported from. */
  readonly from: string;
}

const of =
  (name: string) =>
  (title: string, type: string, path = ''): Section => ({
    title,
    type,
    from: `@breakerbox/${name}${path && `/${path}`}`,
  });

const core = of('core');
const instrumentation = of('instrumentation');
const telemetry = of('telemetry');
const control = of('control');
const fleet = of('fleet');

/** In the order of the page. */
export const SECTIONS: readonly Section[] = [
  core('createBreakerbox', 'BreakerboxConfig'),
  core('A tool', 'ToolConfig'),
  core('Failure rate', 'FailureRateConfig'),
  core('Slow calls', 'SlowCallRateConfig'),
  core('Wasted tokens', 'WastedTokensConfig'),
  core('A trip policy of your own', 'CustomTripPolicy'),
  core('What a trip policy sees', 'TripCall'),
  core('An alternative', 'Alternative'),
  core('A group', 'GroupConfig'),
  core('A model', 'ModelConfig'),
  core('The price of a model', 'ModelPrice'),
  core('The failure budget', 'BudgetOptions'),
  core('Limits of a run', 'LimitsOptions'),
  core('A limit with a mode', 'LimitOptions'),
  core('A limit of money', 'CostLimitOptions'),
  core('The end of a systemic failure', 'RecoveryPolicy'),
  core('A clock', 'Clock'),
  core('box.session', 'SessionOptions'),
  core('A tool of one session', 'SessionToolConfig'),
  core('session.child', 'ChildOptions'),
  core('session.spend', 'Usage'),
  core('session.declare', 'DeclareOptions'),
  core('session.acquire', 'AcquireOptions'),
  core('permit.settle', 'Settlement'),
  core('How current a result is', 'FreshnessHint'),
  core('planScope', 'Task', 'scope'),
  core('report', 'ReportOptions', 'report'),
  core('restore', 'RestoreOptions', 'snapshot'),
  core('operator.force', 'ForceOptions', 'control'),
  core('operator.release', 'ReleaseOptions', 'control'),
  core('reconfigure', 'ReconfigureOptions', 'control'),
  core('A fleet', 'BoxFleet'),
  core('classifyError of core', 'ClassifyContext'),
  core('What classify gives', 'Classification'),
  telemetry('startTelemetry', 'TelemetryOptions'),
  telemetry('The scrape endpoint', 'PrometheusOptions'),
  control('startControl', 'ControlOptions'),
  control('A Unix socket', 'SocketAddress'),
  control('A TCP port', 'TcpAddress'),
  control('startConsole', 'ConsoleOptions', 'console'),
  control('A control API', 'Target', 'client'),
  fleet('createFleet', 'FleetOptions'),
  fleet('memoryStore', 'MemoryStoreOptions'),
  instrumentation('guard', 'GuardOptions'),
  instrumentation('A guarded call', 'ToolCall'),
  instrumentation('The end of a call', 'CallEnd'),
  instrumentation('guardAll', 'GuardAllOptions'),
  instrumentation('hookedCalls', 'HookedCallsOptions'),
  instrumentation('A hooked call', 'HookedCall'),
  instrumentation('classifyError', 'ReadContext'),
  instrumentation('guardModels', 'GuardFunctionsOptions'),
  instrumentation('A model as a function', 'ModelFunction'),
  instrumentation('AI SDK: guardModels', 'GuardAiModelsOptions', 'ai-sdk'),
  instrumentation('AI SDK: a model with settings', 'ModelEntry', 'ai-sdk'),
  instrumentation('LangChain: guardModels', 'GuardChatModelsOptions', 'langchain'),
  instrumentation('LangChain: a model', 'ChatModelEntry', 'langchain'),
  instrumentation('Mastra: guardModels', 'GuardAiModelsOptions', 'mastra'),
  instrumentation('OpenAI Agents: guardModels', 'GuardAgentsModelsOptions', 'openai-agents'),
  instrumentation('OpenAI Agents: a model', 'AgentsModelEntry', 'openai-agents'),
  instrumentation('Anthropic SDK: guardModels', 'GuardAnthropicModelsOptions', 'anthropic'),
  instrumentation('Anthropic SDK: a model', 'AnthropicModelEntry', 'anthropic'),
  instrumentation('AI SDK: guardTools', 'GuardToolsOptions', 'ai-sdk'),
  instrumentation('AI SDK: breakerPrepareStep', 'BreakerPrepareStepOptions', 'ai-sdk'),
  instrumentation('AI SDK: breakerTelemetry', 'BreakerTelemetryOptions', 'ai-sdk'),
  instrumentation('AI SDK: what hide is given', 'CallTools', 'ai-sdk'),
  instrumentation('LangChain: breakerMiddleware', 'BreakerMiddlewareOptions', 'langchain'),
  instrumentation('LangChain: guardTools', 'GuardToolOptions', 'langchain'),
  instrumentation('OpenAI Agents: guardToolFactory', 'GuardToolFactoryOptions', 'openai-agents'),
  instrumentation('OpenAI Agents: guardMcpServer', 'GuardMcpServerOptions', 'openai-agents'),
  instrumentation('OpenAI Agents: breakerSteps', 'BreakerStepsOptions', 'openai-agents'),
  instrumentation('Mastra: breakerProcessor', 'BreakerProcessorOptions', 'mastra'),
  instrumentation('Mastra: breakerHooks', 'BreakerHooksOptions', 'mastra'),
  instrumentation('Claude Agent SDK: breakerHooks', 'BreakerHooksOptions', 'claude-agent'),
  instrumentation('Anthropic SDK: guardTools', 'GuardToolsOptions', 'anthropic'),
  instrumentation('Google ADK: BreakerPlugin', 'BreakerPluginOptions', 'google-adk'),
  instrumentation('MCP: guardMcpClient', 'GuardMcpOptions', 'mcp'),
  instrumentation('watchConfig', 'WatchOptions', 'config'),
  instrumentation('Checks: mcpPing', 'McpPingOptions', 'checks'),
  instrumentation('Checks: httpEndpoint', 'HttpEndpointOptions', 'checks'),
];

/** Exported under a name of options, and parts of others: `BreakerboxConfig` has the first in its rows, `ToolConfig` the second, `GroupConfig` the third, `GuardOptions` the last. */
export const PARTS_OF_OTHERS: readonly string[] = [
  'SystemicPolicy',
  'CircuitConfig',
  'GroupPolicyConfig',
  'JudgingOptions',
  'GuardModelsOptions',
];

/** What functions and methods take that is no choice of the user's: what a package gave before. */
export const NO_OPTIONS: readonly string[] = [
  'ConfigIssue',
  'CountedAction',
  'ExpectedLimit',
  'FileSettings',
  'FleetOrder',
  'FreshnessLabel',
  'Grant',
  'ModelCall',
  'Position',
  'ProbeResult',
  'Report',
  'Role',
  'SessionReport',
  'SessionSource',
  'UnansweredModel',
  'SharedPolicy',
];
