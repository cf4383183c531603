import type { JudgingOptions, SessionSource } from '@breakerbox/instrumentation';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';

/** What a tool of the suite does. May be async, throw, or be an async generator function where the framework has such tools. */
export type ToolBody = (input: { q: string }, signal: AbortSignal | undefined) => unknown;

/** One run of an agent. */
export interface AgentRun {
  /** For the adapter, as it is. */
  readonly session: SessionSource;
  readonly tools: Readonly<Record<string, ToolBody>>;
  /** The server that a tool is of, by the tool's name: its MCP server, or the group that the adapter is told. */
  readonly servers?: Readonly<Record<string, string>>;
  /** What the adapter is told of keys and failures. */
  readonly judging?: JudgingOptions;
  /** What the model does, turn by turn. */
  readonly script: readonly ScriptedStep[];
  /** Ours, in milliseconds. */
  readonly timeoutMs?: number;
  /** The framework's own, of a tool, in milliseconds. */
  readonly frameworkTimeoutMs?: number;
  /** The caller's. */
  readonly signal?: AbortSignal;
  /** Tools whose calls need a person's approval; the person says no. */
  readonly deny?: readonly string[];
  /** The same, and the person says yes. */
  readonly approve?: readonly string[];
}

/** The tools of a run by the server that they are of; those of which nothing is said are of `tools`. */
export const toolsByServer = ({ tools, servers = {} }: AgentRun): [server: string, tools: AgentRun['tools']][] => {
  const found = new Map<string, Record<string, ToolBody>>();
  for (const [tool, body] of Object.entries(tools)) {
    const server = servers[tool] ?? 'tools';
    found.set(server, { ...found.get(server), [tool]: body });
  }
  return [...found];
};

/** How it ended. */
export interface AgentEnd {
  /** What the agent said last. */
  readonly text: string;
  /** The results of tools that the model had read by its last turn, in order, as text. */
  readonly heard: readonly string[];
}

/** What a framework may have no place for. */
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
  /** Where the last turn, which calls nothing, is no step: nobody tells of it. */
  readonly lastTurnUntold?: true;
  /** Where its tools ask the person themselves: the call before the answer has a decision too, which costs nothing. */
  readonly asksInTool?: true;
  /** The name of the framework's own span of a tool's run. Left out where it `lacks.nativeSpan`. */
  readonly nativeSpan?: (tool: string) => string;
  /** What can't be, each with the reason in one sentence, as docs/frameworks.md has it. */
  readonly lacks: Partial<Readonly<Record<Feature, string>>>;
}
