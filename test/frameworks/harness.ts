import type { JudgingOptions, SessionSource } from '@breakerbox/instrumentation';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';

/** A tool of the suite. May be async, throw, or be an async generator function if the framework has such tools. */
export type ToolBody = (input: { q: string }, signal: AbortSignal | undefined) => unknown;

/** One run of an agent. */
export interface AgentRun {
  /** For the adapter, unchanged. */
  readonly session: SessionSource;
  readonly tools: Readonly<Record<string, ToolBody>>;
  /** The server of a tool, by the tool's name: its MCP server, or the group that the adapter is given. */
  readonly servers?: Readonly<Record<string, string>>;
  /** The adapter's options for keys and failures. */
  readonly judging?: JudgingOptions;
  /** What the model does, turn by turn. */
  readonly script: readonly ScriptedStep[];
  /** Our time-out, in milliseconds. */
  readonly timeoutMs?: number;
  /** The framework's own time-out of a tool, in milliseconds. */
  readonly frameworkTimeoutMs?: number;
  /** The caller's signal. */
  readonly signal?: AbortSignal;
  /** Tools whose calls need a person's approval. The person denies it. */
  readonly deny?: readonly string[];
  /** The same, and the person approves. */
  readonly approve?: readonly string[];
}

/** The tools of a run by their server. Tools without one belong to `tools`. */
export const toolsByServer = ({ tools, servers = {} }: AgentRun): [server: string, tools: AgentRun['tools']][] => {
  const found = new Map<string, Record<string, ToolBody>>();
  for (const [tool, body] of Object.entries(tools)) {
    const server = servers[tool] ?? 'tools';
    found.set(server, { ...found.get(server), [tool]: body });
  }
  return [...found];
};

/** The end of a run. */
export interface AgentEnd {
  /** The last text of the agent. */
  readonly text: string;
  /** The results of tools that the model had read by its last turn, in order, as text. */
  readonly heard: readonly string[];
}

/** Features that a framework may lack. */
export const FEATURES = [
  'timeoutMs',
  'frameworkTimeout',
  'abort',
  'toolSignal',
  'callersSignal',
  'approval',
  'generators',
  'toolSpansBeneath',
  'nativeSpan',
  'inBandErrors',
  'errorText',
  'invalidInput',
  'unknownTool',
  'steps',
  'sessionFunction',
  'stale',
  'inPlace',
  'advice',
  'note',
  'responses',
  'primitives',
  'groups',
  'keys',
  'nested',
] as const;
export type Feature = (typeof FEATURES)[number];

/** A framework's own agent loop with its adapter, used as docs/frameworks.md tells users to. */
export interface Harness {
  /** With its version, such as `LangChain 1.5.14`. */
  readonly framework: string;
  run(agent: AgentRun): Promise<AgentEnd>;
  /** What a tool of this framework returns to report an error. */
  inBand(text: string): unknown;
  /** The last turn calls no tool, and the framework does not report it as a step. */
  readonly lastTurnUntold?: true;
  /** Its tools ask the person themselves: the call before the answer has a decision too, which costs nothing. */
  readonly asksInTool?: true;
  /** The name of the framework's own span for a tool. Left out if it `lacks.nativeSpan`. */
  readonly nativeSpan?: (tool: string) => string;
  /** Where its tools are of MCP servers, as the span says. Default: functions. */
  readonly toolType?: 'extension';
  /** Features that it lacks, each with the reason in one sentence, as in docs/frameworks.md. */
  readonly lacks: Partial<Readonly<Record<Feature, string>>>;
}
