import { BreakerboxUsageError } from '@breakerbox/core';
import { safely } from '@breakerbox/core/internal';
import { diag } from '@opentelemetry/api';
import { aValue } from './caller.ts';
import { groupsBy, type ToolGroup, toolGroup } from './groups.ts';
import { markGuarded, refuseGuarded } from './guarded.ts';
import { JUDGING, type JudgingOptions, judgesBy } from './judging.ts';
import { aside, isCheckingSchema, labelAside, labelForModel, lenient, noteForModel } from './openai-agents-output.ts';
import { checkOptions, milliseconds, reader } from './options.ts';
import type { DirectCall } from './otherwise.ts';
import type { CallEnd } from './run.ts';
import { type Cook, type Kitchen, type Manners, runInPlace, runTool, type ToolRequest } from './run-tool.ts';
import { declareNow, type SessionSource, sessionFinder } from './session-source.ts';

export { type GuardMcpServerOptions, guardMcpServer, type McpServer } from './openai-agents-mcp.ts';
export { type BreakerStepsOptions, breakerSteps, type ModelInputFilter } from './openai-agents-steps.ts';

/** The part of the function `tool` of `@openai/agents` that is used here. The rest differs between versions. */
export type ToolFactory = (options: never) => { readonly name: string };

/** Options of {@link guardToolFactory}. */
export interface GuardToolFactoryOptions extends JudgingOptions {
  /**
   * Milliseconds that one call of a tool may take. After that, the signal in the tool's `details` fires, the model gets the text of the
   * tool's `errorFunction`, and the call counts as a failure. Default: none. A tool's own `timeoutMs` is recognized as well.
   */
  readonly timeoutMs?: number;
  /** Reads the cost of a call in tokens when it ends. Tokens of failed calls are wasted. Default: not known. */
  readonly tokens?: (end: CallEnd<unknown>) => number | undefined;
  /**
   * The group of the tools (C13), such as the MCP server or the service behind them: a name for all of them, or a function that gives the
   * group of each by the tool's name. When tools of a group fail in a row, all of the group are skipped, and one probe serves them all.
   * The configuration of a tool takes precedence. Default: none.
   */
  readonly group?: ToolGroup;
}

/**
 * Guards the function `tool` of the OpenAI Agents SDK. Make tools with the result as you would with `tool`. Its type is the same.
 *
 * On skip and pause a tool gives the refusal as its output, which the model reads. It does not use `errorFunction`, whose default text asks
 * the model to try again. A tool with `serveStaleMs` instead gives its last good result for the same arguments, with a label. A tool whose
 * alternative has `adapt` and was made by the same function gives the alternative's result, with a note. That needs a session, not a
 * session function, because the tools of a session function may belong to different users.
 *
 * Errors that a tool throws are recorded, then go to its `errorFunction` as usual. Arguments that its schema refuses reach neither the tool
 * nor the session. A handoff, or a call that a person or a guardrail refuses, does not reach the session either.
 *
 * Also use {@link breakerSteps}, or call `session.step()` after each turn of the model.
 *
 * @throws BreakerboxConfigError for options or tool names that can't work. Names are checked when the tool is made.
 * @throws BreakerboxUsageError when `session` is not a session, `tool` is not a function, or it is guarded for that session already.
 *
 * @example
 * ```ts
 * const guarded = guardToolFactory(tool, session, { timeoutMs: 10_000 });
 * const search = guarded({ name: 'web_search', description: 'Searches the web', parameters: z.object({ query: z.string() }), execute });
 * ```
 */
export function guardToolFactory<Factory extends ToolFactory>(
  tool: Factory,
  session: SessionSource,
  options: GuardToolFactoryOptions = {},
): Factory {
  checkOptions(WHERE, options, { timeoutMs: milliseconds, tokens: reader, group: toolGroup, ...JUDGING });
  const findSession = sessionFinder(session, WHERE);
  if (typeof tool !== 'function') {
    throw new BreakerboxUsageError(
      `${WHERE}: got ${aValue(tool)} in place of a function, so there is nothing that makes tools. Give tool of @openai/agents.`,
    );
  }
  refuseGuarded(WHERE, tool, session);
  const { timeoutMs, tokens, group } = options;
  const groupOf = groupsBy(group, WHERE);
  const kitchen: Kitchen = { findSession, where: WHERE, timeoutMs, groupOf, judgeOf: judgesBy(options, WHERE) };
  const workshop: Workshop = { kitchen, tokens, made: new Map() };

  const make = (given: ToolOptions): { readonly name: string } => {
    const create = tool as unknown as (options: ToolOptions) => { readonly name: string };
    if (typeof given?.execute !== 'function') return create(given); // The framework reports the missing function.
    refuseGuarded(`${WHERE}, tool '${given.name}'`, given.execute, session);
    const execute: Execute = (...call) => run(name, given, call, workshop);
    Object.defineProperty(execute, 'name', { value: given.execute.name }); // The SDK uses it for a tool without a name.
    const { outputSchema } = given;
    const created = create({
      ...given,
      execute,
      ...(isCheckingSchema(outputSchema) && { outputSchema: lenient(outputSchema) }),
    });
    const { name } = created; // The framework replaces characters that a model cannot use.
    const { name: wanted = name } = given;
    if (wanted !== name) safely('the logger', () => diag.warn(renamed(wanted, name)));
    declareNow(session, [name], groupOf);
    // Two tools with one name cannot be told apart. Nor can those of many conversations, which may belong to different users.
    if (typeof session !== 'function') workshop.made.set(name, workshop.made.has(name) ? undefined : given);
    return created;
  };
  return markGuarded(make, session) as unknown as Factory;
}

const WHERE = 'guardToolFactory()';

const renamed = (given: string, name: string): string =>
  `Breakerbox: ${WHERE}: the SDK names tool '${given}' '${name}', and so do circuits and telemetry: what the box is told of ` +
  `'${given}' doesn't apply. Call it '${name}', in the configuration too.`;

type Execute = (input: unknown, context?: unknown, details?: CallDetails) => unknown;

/** The third argument of a tool's function. */
interface CallDetails {
  readonly signal?: AbortSignal;
  readonly toolCall?: { readonly callId?: string };
}

interface ToolOptions {
  readonly name?: string;
  readonly execute: Execute;
  readonly outputSchema?: unknown;
  readonly needsApproval?: unknown;
  readonly isEnabled?: unknown;
  readonly inputGuardrails?: readonly unknown[];
  readonly outputGuardrails?: readonly unknown[];
}

/** The context that the tools of one guarded function share. */
interface Workshop {
  readonly kitchen: Kitchen;
  readonly tokens: GuardToolFactoryOptions['tokens'];
  /** Options by the tool's name; undefined if several tools have that name. */
  readonly made: Map<string, ToolOptions | undefined>;
}

const run = (tool: string, own: ToolOptions, call: Parameters<Execute>, workshop: Workshop): Promise<unknown> => {
  const { kitchen, tokens } = workshop;
  const [input, , details] = call;
  const request: ToolRequest = { tool, input, callId: details?.toolCall?.callId, signal: details?.signal };
  const isChecked = isCheckingSchema(own.outputSchema);
  const manners: Manners<unknown> = {
    tokens,
    refuse: ({ message }) => (isChecked ? aside(message) : message),
    find: (other) => directCall(own, other, request, call, workshop),
    label: isChecked ? labelAside : labelForModel,
    note: noteForModel,
  };
  return runTool(kitchen, request, cook(own, input, call), manners);
};

const cook =
  (tool: ToolOptions, input: unknown, [, context, details]: Parameters<Execute>): Cook<unknown> =>
  ({ signal }) =>
    tool.execute(input, context, withSignal(details, signal));

/** A copy that keeps the properties that the SDK hides in the details. */
const withSignal = (details: CallDetails | undefined, signal: AbortSignal): CallDetails =>
  Object.create(details ? Object.getPrototypeOf(details) : Object.prototype, {
    ...(details && Object.getOwnPropertyDescriptors(details)),
    signal: { value: signal, enumerable: true, configurable: true, writable: true },
  }) as CallDetails;

/** R4. Only for a tool that the SDK would have run without asking anyone, and whose result the model would read the same way. */
const directCall = (
  own: ToolOptions,
  name: string,
  request: ToolRequest,
  call: Parameters<Execute>,
  { made, kitchen, tokens }: Workshop,
): DirectCall | undefined => {
  const other = made.get(name);
  if (other === undefined || isAsking(other) || own.outputSchema || other.outputSchema) return undefined;
  return (input) =>
    runInPlace(kitchen, { ...request, tool: name, input }, cook(other, input, call), { tokens, label: labelForModel });
};

/** Whether the user restricts the tool's calls: by a person, a guardrail, or a predicate that hides it from some agents. */
const isAsking = ({ needsApproval, isEnabled = true, inputGuardrails, outputGuardrails }: ToolOptions): boolean =>
  Boolean(needsApproval) || isEnabled !== true || Boolean(inputGuardrails?.length) || Boolean(outputGuardrails?.length);
