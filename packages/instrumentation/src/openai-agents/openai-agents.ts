import { BreakerboxUsageError } from '@breakerbox/core';
import { isObject, read, safely } from '@breakerbox/core/internal';
import { diag } from '@opentelemetry/api';
import { declareTools, type SessionFinder, type SessionSource, sessionFinder } from '../acquire.ts';
import { type Advise, advisedError, advisedText, unavailableNotice } from '../advice.ts';
import { type CircuitFirst, circuitFirst, mayNeedApproval } from '../approval.ts';
import type { DirectCall } from '../fallback.ts';
import { groupsBy, type ToolGroup, toolGroup } from '../groups.ts';
import { markGuarded, markOf, throwIfGuarded } from '../guard-mark.ts';
import { JUDGING, type JudgingOptions, judgesBy } from '../judging.ts';
import { isLastTurn } from '../last-turn.ts';
import { aValue, checkOptions, functionGiven, milliseconds, names } from '../options.ts';
import {
  type AdapterContext,
  type ResponseFormat,
  ranUntil,
  rejectedBefore,
  runAlternative,
  runTool,
  type ToolExecutor,
  type ToolRequest,
} from '../run-tool.ts';
import type { CallEnd } from '../settlement.ts';
import { orUndefined } from '../untrusted.ts';
import {
  adviseForAgents,
  adviseUnchecked,
  isCheckingSchema,
  labelForAgents,
  labelUnchecked,
  lenient,
  noteForModel,
  uncheckedText,
} from './tool-output.ts';

export type { GuardModelsOptions } from '../models/candidates.ts';
export type { ModelLimits } from '../models/model-limits.ts';
export {
  ModelStreamError,
  ModelsUnavailableError,
  RunLimitError,
  type UnansweredModel,
} from '../models/models-unavailable.ts';
export { type BreakerStepsOptions, breakerSteps, type ModelInputFilter } from './breaker-steps.ts';
export {
  type AgentsModel,
  type AgentsModelEntry,
  type GuardAgentsModelsOptions,
  guardAgentsModels as guardModels,
} from './guard-agents-models.ts';
export { type GuardMcpServerOptions, guardMcpServer, type McpServer } from './guarded-server.ts';

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
  /**
   * Names of tools that may be called in place of another tool, if that one's alternative has `adapt`. Leave out each tool that a person
   * has to approve: a tool that was made by the same function may belong to another agent, and its guardrails are not asked. Default: none, so the
   * model reads of the alternative, and calls it itself.
   */
  readonly inPlace?: readonly string[];
}

/**
 * Guards the function `tool` of the OpenAI Agents SDK. Make tools with the result as you would with `tool`. Its type is the same.
 *
 * On skip and pause a tool gives the rejection as its output, which the model reads. It does not use `errorFunction`, whose default text asks
 * the model to try again. A tool with `serveStaleMs` instead gives its last good result for the same arguments, with a label. A tool whose
 * alternative has `adapt`, was made by the same function and is listed in `inPlace` gives the alternative's result, with a note. That needs a session, not a
 * session function, because the tools of a session function may belong to different users.
 *
 * Errors that a tool throws are recorded, then go to its `errorFunction` as usual. Arguments that its schema rejects reach neither the tool
 * nor the session. A handoff, or a call that a person or a guardrail rejects, does not reach the session either. A call with `needsApproval` that
 * is rejected now is rejected at once, and no person is asked.
 *
 * Once the model has read that the run is paused, the tools are not enabled: it answers without them, which ends the run (D6).
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
  checkOptions(WHERE, options, {
    timeoutMs: milliseconds,
    tokens: functionGiven,
    group: toolGroup,
    inPlace: names,
    ...JUDGING,
  });
  const findSession = sessionFinder(session, WHERE);
  if (typeof tool !== 'function') {
    throw new BreakerboxUsageError(
      `${WHERE}: got ${aValue(tool)} instead of a function. Pass the function tool of @openai/agents.`,
    );
  }
  throwIfGuarded(WHERE, tool, session);
  const { timeoutMs, tokens, group, inPlace = [] } = options;
  const groupOf = groupsBy(group, WHERE);
  const adapter: AdapterContext = { findSession, where: WHERE, timeoutMs, groupOf, judgeOf: judgesBy(options, WHERE) };
  // A guard of another session around the SDK's function needs the error itself.
  const sdkText = markOf(tool) ? undefined : sdkTextBy(tool as unknown as (options: object) => object);
  const factory: FactoryContext = { adapter, tokens, sdkText, made: new Map(), inPlace };

  const make = (given: ToolOptions): { readonly name: string } => {
    const create = tool as unknown as (options: ToolOptions) => { readonly name: string };
    if (typeof given?.execute !== 'function') return create(given); // The framework reports the missing function.
    throwIfGuarded(`${WHERE}, tool '${given.name}'`, given.execute, session);
    const { needsApproval } = given;
    const asked = mayNeedApproval(needsApproval)
      ? circuitFirst(
          (input, callId) => safely(WHERE, () => rejectedBefore(adapter, { tool: name, input, callId })),
          (context, callId) => answerOf(context, name, callId),
        )
      : undefined;
    const execute: Execute = (...call) => run(name, given, call, factory, asked);
    Object.defineProperty(execute, 'name', { value: given.execute.name }); // The SDK uses it for a tool without a name.
    const { outputSchema, errorFunction, timeoutMs, timeoutErrorFunction = textOfTimeout, isEnabled = true } = given;
    const needsCall = forcedCalls();
    const created = create({
      ...given,
      execute,
      ...(asked && {
        needsApproval: (context: unknown, input: unknown, callId?: string) =>
          asked.asks(context, callId, input, () =>
            typeof needsApproval === 'function' ? needsApproval(context, input, callId) : true,
          ),
      }),
      // D6: without tools the model can only answer. The SDK throws if it has none and has to call one.
      isEnabled: async (...about: never[]) =>
        (needsCall(about[0]) || !isPaused(findSession)) &&
        (typeof isEnabled === 'function' ? isEnabled(...about) : isEnabled),
      ...(typeof errorFunction === 'function' && {
        errorFunction: advising(errorFunction as Parameters<typeof advising>[0]),
      }),
      // A schema would reject the advice.
      ...(timeoutMs !== undefined &&
        outputSchema === undefined &&
        typeof timeoutErrorFunction === 'function' && {
          timeoutErrorFunction: advising(timeoutErrorFunction as Parameters<typeof advising>[0]),
        }),
      ...(isCheckingSchema(outputSchema) && { outputSchema: lenient(outputSchema) }),
    });
    const { name } = created; // The framework replaces characters that a model cannot use.
    const { name: wanted = name } = given;
    if (wanted !== name) safely('the logger', () => diag.warn(renamed(wanted, name)));
    declareTools(session, [name], groupOf);
    // Two tools with one name cannot be told apart. Nor can those of many conversations, which may belong to different users.
    if (typeof session !== 'function') factory.made.set(name, factory.made.has(name) ? undefined : given);
    return created;
  };
  return markGuarded(make, session) as unknown as Factory;
}

const WHERE = 'guardToolFactory()';

/** What a person has said about a call; undefined if not asked yet. */
const answerOf = (context: object, toolName: string, callId: string): unknown =>
  safely('isToolApproved() of the SDK', () =>
    (context as { isToolApproved?(call: object): unknown }).isToolApproved?.({ toolName, callId }),
  );

/** A tool without a session says so when it is called. */
const isPaused = (findSession: SessionFinder): boolean => orUndefined(() => isLastTurn(findSession())) ?? false;

/** What the SDK says of the turn for which it asks whether a tool is enabled. */
interface Turn {
  readonly runContext: object;
  readonly agent: { readonly resetToolChoice?: boolean; readonly modelSettings?: { readonly toolChoice?: unknown } };
}

/** Choices of tools with which the model may answer. */
const FREE_CHOICES: ReadonlySet<unknown> = new Set([undefined, 'auto', 'none']);

/**
 * Whether an agent's `toolChoice` makes it call a tool in this turn, for one tool. The SDK resets that choice once the agent has called a tool
 * in the run, so the first turn of an agent forces a call, unless `resetToolChoice` is false.
 */
const forcedCalls = () => {
  const seen = new WeakMap<object, WeakSet<object>>();
  return (turn: Turn | undefined): boolean => {
    if (!isObject(turn?.agent) || FREE_CHOICES.has(turn.agent.modelSettings?.toolChoice)) return false;
    const { runContext, agent } = turn;
    const agents = seen.get(runContext) ?? new WeakSet();
    seen.set(runContext, agents);
    const isFirst = !agents.has(agent);
    agents.add(agent);
    return isFirst || agent.resetToolChoice === false;
  };
};

const renamed = (given: string, name: string): string =>
  `Breakerbox: ${WHERE}: the SDK renames tool '${given}' to '${name}'. Circuits and telemetry use '${name}', so the box's configuration ` +
  `of '${given}' does not apply. Use '${name}' as the name of the tool and in the configuration.`;

/** A user's text for an error, with the advice that the error carries, because the text may not quote the error (R5). */
const advising =
  (errorFunction: (...given: readonly unknown[]) => unknown) =>
  async (...given: readonly unknown[]): Promise<unknown> => {
    const text: unknown = await errorFunction(...given);
    const advice = given.map(unavailableNotice).find((one) => one !== undefined);
    return typeof text === 'string' && advice !== undefined ? advisedText(text, advice) : text;
  };

/** The SDK's own text for a time-out. */
const textOfTimeout = (_: unknown, timeout: unknown): unknown => read(timeout, 'message');

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
  /** The SDK's limit of the tool, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  readonly timeoutErrorFunction?: unknown;
  readonly errorFunction?: unknown;
  readonly needsApproval?: unknown;
  readonly isEnabled?: unknown;
  readonly inputGuardrails?: readonly unknown[];
  readonly outputGuardrails?: readonly unknown[];
}

/** The context that the tools of one guarded function share. */
interface FactoryContext {
  readonly adapter: AdapterContext;
  readonly tokens: GuardToolFactoryOptions['tokens'];
  readonly inPlace: readonly string[];
  readonly sdkText: ((tool: string, error: unknown, context: unknown) => Promise<string>) | undefined;
  /** Options by the tool's name; undefined if several tools have that name. */
  readonly made: Map<string, ToolOptions | undefined>;
}

const run = (
  tool: string,
  own: ToolOptions,
  call: Parameters<Execute>,
  factory: FactoryContext,
  asked: CircuitFirst | undefined,
): Promise<unknown> => {
  const { adapter, tokens } = factory;
  const [input, context, details] = call;
  const { timeoutMs = Number.POSITIVE_INFINITY } = own;
  const request: ToolRequest = {
    tool,
    input,
    callId: details?.toolCall?.callId,
    signal: details?.signal,
    isOwnLimit: (ranMs) => ranUntil(timeoutMs, ranMs),
    rejection: asked?.rejectionOf(context, details?.toolCall?.callId),
  };
  const isChecked = isCheckingSchema(own.outputSchema);
  const format: ResponseFormat<unknown> = {
    tokens,
    advise: isChecked ? { ...ADVISE, result: adviseUnchecked, note: false } : ADVISE,
    reject: ({ message }) => (isChecked ? uncheckedText(message) : message),
    find: (other) => directCall(own, other, request, call, factory),
    label: isChecked ? labelUnchecked : labelForAgents,
    note: noteForModel,
  };
  const end = runTool(adapter, request, executor(own, input, call), format);
  // Without a function of the user, the SDK makes the text itself, and for a tool with an output schema it ends the run.
  const { sdkText } = factory;
  if (own.errorFunction !== undefined || own.outputSchema !== undefined || sdkText === undefined) return end;
  return end.catch(async (error: unknown) => {
    const advice = unavailableNotice(error);
    if (advice === undefined || details?.signal?.aborted === true) throw error; // The SDK knows its own time-outs.
    return advisedText(await sdkText(tool, error, context), advice);
  });
};

/** The error itself goes to the tool's `errorFunction`, and the advice after that function's text. */
const ADVISE: Advise = {
  error: (error, advice) => (isObject(error) ? error : advisedError(error, advice)),
  result: adviseForAgents,
};

/**
 * The SDK's own text for an error, which some versions make of the error and others not. It also marks the SDK's span. A tool that only
 * throws the error gives it.
 */
const sdkTextBy =
  (create: (options: object) => object): NonNullable<FactoryContext['sdkText']> =>
  async (name, error, context) => {
    const execute = (): Promise<never> => Promise.reject(error);
    const parameters = { type: 'object', properties: {}, required: [], additionalProperties: false };
    const thrower = create({ name, description: name, parameters, execute }) as {
      invoke(context: unknown, input: string): Promise<unknown>;
    };
    return String(await thrower.invoke(context, '{}'));
  };

const executor =
  (tool: ToolOptions, input: unknown, [, context, details]: Parameters<Execute>): ToolExecutor<unknown> =>
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
  { made, adapter, tokens, inPlace }: FactoryContext,
): DirectCall | undefined => {
  const other = made.get(name);
  if (other === undefined || !inPlace.includes(name) || restrictsCalls(other) || own.outputSchema || other.outputSchema)
    return undefined;
  const reading = { tokens, label: labelForAgents };
  return (input, usualMs) =>
    runAlternative(adapter, { ...request, tool: name, input }, executor(other, input, call), reading, usualMs);
};

/** Whether the user restricts the tool's calls: by a person, a guardrail, or a predicate that hides it from some agents. */
const restrictsCalls = ({ needsApproval, isEnabled = true, inputGuardrails, outputGuardrails }: ToolOptions): boolean =>
  Boolean(needsApproval) || isEnabled !== true || Boolean(inputGuardrails?.length) || Boolean(outputGuardrails?.length);
