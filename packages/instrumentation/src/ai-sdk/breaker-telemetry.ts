import { type Breakerbox, labelled, type Permit, type Session } from '@breakerbox/core';
import { safely } from '@breakerbox/core/internal';
import { diag } from '@opentelemetry/api';
import { acquire, declareTool, isRejected, type Rejection, type SessionSource, sessionFinder } from '../acquire.ts';
import { activeSession, inSession, isCurrentSession } from '../active-session.ts';
import { type GroupOf, groupsBy, serverOf, type ToolGroup, toolGroup } from '../groups.ts';
import { guardedBy } from '../guard-mark.ts';
import { JUDGING, type JudgeOf, type JudgingOptions, judgesBy } from '../judging.ts';
import { checkOptions } from '../options.ts';
import { Run } from '../run.ts';
import { followCalls, noteCall, subAgentOf } from '../running-calls.ts';
import { spendStep } from '../spend-answer.ts';
import { ToolUnavailableError } from '../unavailable.ts';
import {
  type AgentCall,
  type AgentRun,
  endRun,
  followRun,
  heardOf,
  isMade,
  madeForRun,
  openSession,
} from './agent-runs.ts';

/** The part of the AI SDK's events that is read here. Events of embeddings and similar have less, and are ignored. */
interface RunEvent {
  readonly callId?: string | undefined;
}

interface AbortEvent extends RunEvent {
  readonly reason?: unknown;
}

interface StartEvent extends RunEvent {
  readonly operationId?: string;
  /** Missing with `recordInputs: false`. */
  readonly tools?: object | undefined;
}

interface ToolEvent extends RunEvent {
  readonly toolCall?: { readonly toolName: string; readonly toolCallId: string; readonly input?: unknown };
  readonly recordInputs?: boolean | undefined;
  readonly recordOutputs?: boolean | undefined;
}

interface ToolEndEvent extends ToolEvent {
  readonly toolOutput?: { readonly type: string; readonly output?: unknown };
}

interface Execution<Value> extends ToolEvent {
  readonly toolCallId: string;
  readonly execute: () => PromiseLike<Value>;
}

/** Options of {@link breakerTelemetry}. */
export interface BreakerTelemetryOptions extends JudgingOptions {
  /**
   * The group of the tools (C13), such as the MCP server or the service behind them: a name for all of them, or a function that gives the
   * group of each by the tool's name. When tools of a group fail in a row, all of the group are skipped, and one probe serves them all.
   * The configuration of a tool takes precedence. Default: none, or the `clientName` that you gave the client of
   * `@ai-sdk/mcp` 2.
   */
  readonly group?: ToolGroup;
}

/** A telemetry integration of the AI SDK 7, for its `registerTelemetry`. */
export interface BreakerTelemetry {
  onStart(event: StartEvent): void;
  onStepEnd(event: RunEvent): void;
  onToolExecutionEnd(event: ToolEndEvent): void;
  onEnd(event: RunEvent): void;
  onAbort(event: AbortEvent): void;
  onError(event: unknown): void;
  executeTool<Value>(call: Execution<Value>): Promise<Value>;
}

const OPERATIONS: ReadonlySet<unknown> = new Set(['ai.generateText', 'ai.streamText']);

/**
 * Guards every `generateText`, `streamText` and agent of the process, with no other change. Each run gets a session of the box, or
 * has the one of `withSession`. Each tool call is decided and settled, and steps are counted. The session ends with the run.
 *
 * On skip and pause the tool is not run, and the model reads why. Register it before other integrations, so that Breakerbox's
 * spans are beneath theirs. Only `guardTools` has `timeoutMs`, `tokens`, alternatives that are called in place and labels on
 * results, and only it notices a hanging tool that ignores its signal. Here a last good result is part of the rejection's text.
 * Tools made by `guardTools` acquire for themselves. With `currentSession` they use the session of the run.
 *
 * If a reader leaves a stream, no event says so. After 10 minutes without an event and without a running tool, the session of that
 * stream ends as soon as another run begins. In servers, pass `abortSignal: request.signal`, or call `consumeStream()`.
 *
 * An agent within a tool is a sub-agent: its calls and its turns count in a session of its own beneath that of the tool (D1).
 *
 * It does not see runs with `telemetry: { isEnabled: false }`, or runs with integrations of their own, which replace registered ones.
 * With `recordInputs: false` it has no arguments, so there is no loop guard and no last good result. It then does not recognize
 * tools of `guardTools` either, and their calls are decided twice. With `recordOutputs: false` it does not see errors that tools
 * return.
 *
 * @param source A box: a session for each run. A session: one for all runs. A function: called at the start of each run.
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError for any other source.
 *
 * @example
 * ```ts
 * import { registerTelemetry } from 'ai';
 *
 * registerTelemetry(breakerTelemetry(createBreakerbox({ agent: 'research-agent' })));
 * ```
 */
export function breakerTelemetry(
  source: Breakerbox | SessionSource,
  options: BreakerTelemetryOptions = {},
): BreakerTelemetry {
  checkOptions('breakerTelemetry()', options, { group: toolGroup, ...JUDGING });
  const sessionOf = sessionStarter(source);
  followCalls();
  const settings: ToolSettings = {
    groupOf: groupsBy(options.group, 'breakerTelemetry()'),
    judgeOf: judgesBy(options, 'breakerTelemetry()'),
  };
  const over = ({ callId, reason }: AbortEvent): void => {
    if (callId !== undefined && heardOf(callId, integration)) endRun(callId, reason);
  };

  const integration: BreakerTelemetry = {
    onStart: ({ callId, operationId, tools = {} }) => {
      if (callId === undefined) return warnOfOldSdk();
      if (!OPERATIONS.has(operationId)) return;
      const { session, open } = sessionOf();
      const isStream = operationId === 'ai.streamText';
      followRun(callId, { by: integration, tools: tools as AgentRun['tools'], isStream, open }, session);
    },
    onStepEnd: (step) => {
      const run = heardOf(step.callId, integration);
      if (run?.session === undefined) return;
      if (run.counts) run.session.step();
      spendStep(run.session, step);
    },
    onToolExecutionEnd: ({ callId, toolCall, toolOutput, recordOutputs }) => {
      const run = heardOf(callId, integration);
      const call = run && toolOutput?.type === 'tool-result' ? callOf(run, toolCall) : undefined;
      if (run === undefined || call === undefined) return;
      run.calls.delete(call);
      if (recordOutputs === false) call.running.ended(undefined);
      else call.running.returned(toolOutput?.output);
    },
    onEnd: ({ callId }) => over({ callId }),
    onAbort: over,
    onError: (event) => over({ callId: (event as RunEvent | null | undefined)?.callId }),
    executeTool: async (call) => {
      const run = heardOf(call.callId, integration);
      // No event reports the end of a call that starts after its run is over.
      if (run === undefined || call.toolCall === undefined) return call.execute();
      run.running += 1;
      try {
        return await runTool(run, call, call.toolCall.toolName, settings);
      } finally {
        run.running -= 1;
      }
    },
  };
  return integration;
}

const callOf = ({ calls }: AgentRun, toolCall: ToolEvent['toolCall']): AgentCall | undefined => {
  const alike = [...calls].filter(({ id }) => id === toolCall?.toolCallId);
  return alike.find(({ input }) => input === toolCall?.input) ?? alike[0];
};

const OLD_SDK =
  'Breakerbox: breakerTelemetry() is registered with an AI SDK before version 7, which does not run tools through integrations. ' +
  'Its tools are not guarded. Wrap them in guardTools(), or update the AI SDK.';

let warned = false;
/** Warns that older SDKs send fewer events and do not run tools through integrations, so no tool would be guarded. */
const warnOfOldSdk = (): void => {
  if (!warned) safely('the logger', () => diag.warn(OLD_SDK));
  warned = true;
};

/** The options, read for each tool. */
interface ToolSettings {
  readonly groupOf: GroupOf;
  readonly judgeOf: JudgeOf;
}

const runTool = <Value>(
  run: AgentRun,
  call: Execution<Value>,
  name: string,
  settings: ToolSettings,
): PromiseLike<Value> => {
  const guard = guardedBy((run.tools[name] as { readonly execute?: unknown } | undefined)?.execute);
  if (guard !== undefined && !isCurrentSession(guard)) return call.execute();
  const session = openSession(run);
  if (session === undefined) return call.execute();
  return inSession(session, () => (guard === undefined ? decidedCall(session, run, call, settings) : call.execute()));
};

const decidedCall = async <Value>(
  session: Session,
  run: AgentRun,
  call: Execution<Value>,
  settings: ToolSettings,
): Promise<Value> => {
  const { toolCallId, toolCall, execute } = call;
  const permit = acquireFor(session, run.tools, call, settings);
  if (permit === undefined) return execute();
  if (isRejected(permit)) throw rejectionError(permit);
  const input = toolCall?.input;
  // `{}`: unknown arguments. The tool has a signal that is not known here.
  const start = {
    input: call.recordInputs === false ? {} : input,
    signal: run.over.signal,
    isToolsSignal: false,
    canStop: false,
  };
  const running = new Run(permit, start, { advise: {} }, settings.judgeOf(permit.tool));
  const underWay = { id: toolCallId, input, running };
  run.calls.add(underWay); // onToolExecutionEnd reports the outcome afterwards.
  try {
    return await running.enter(execute);
  } catch (error) {
    run.calls.delete(underWay);
    throw running.threw(error);
  }
};

/** Undefined for a name that no tool may have. Then nothing is decided. */
const acquireFor = (
  session: Session,
  tools: AgentRun['tools'],
  call: Execution<unknown>,
  { groupOf, judgeOf }: ToolSettings,
): Permit | undefined => {
  const { toolCallId, toolCall, recordInputs } = call;
  const { toolName = '', input } = toolCall ?? {};
  return safely(`declaring tool '${toolName}'`, () => {
    declareTool(session, toolName, groupOf(toolName) ?? serverOf(tools[toolName]));
    // Without its arguments a call must not look the same as any other call.
    return recordInputs === false
      ? noteCall(session, session.acquire(toolName, { callId: toolCallId, type: 'function' }))
      : acquire(session, toolName, input, { callId: toolCallId, key: judgeOf(toolName).keyOf(input) });
  });
};

/** A last good result cannot replace the tool's own here, so the rejection contains it (F2). */
const rejectionError = (permit: Rejection): ToolUnavailableError => {
  const error = new ToolUnavailableError(permit);
  const { route } = permit;
  if (route?.kind !== 'stale') return error;
  const result = labelled(route.result, route.label);
  const text = safely('a last good result', () => (typeof result === 'string' ? result : JSON.stringify(result)));
  if (text !== undefined) error.message = `${error.message}\n${text}`;
  return error;
};

type SessionOfRun = Partial<Pick<AgentRun, 'session'>> & Pick<AgentRun, 'open'>;

const sessionStarter = (source: Breakerbox | SessionSource): (() => SessionOfRun) => {
  const box = source as Partial<Breakerbox> | null | undefined;
  if (typeof source !== 'function' && typeof box?.session === 'function') {
    return () => {
      const open = subAgentOf();
      if (open !== undefined) return { open };
      const active = activeSession();
      const isGiven = active !== undefined && !isMade(active);
      return isGiven ? given(active) : { open: () => madeForRun((box as Breakerbox).session()) };
    };
  }
  const findSession = sessionFinder(source as SessionSource, 'breakerTelemetry()');
  return () => {
    const session = safely('the session function given to breakerTelemetry()', findSession);
    const open = session && subAgentOf(session);
    return open === undefined ? given(session) : { open };
  };
};

const given = (session: Session | undefined): SessionOfRun => ({ ...(session && { session }), open: undefined });
