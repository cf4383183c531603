import { type Breakerbox, labelled, type Permit, type Session } from '@breakerbox/core';
import { safely } from '@breakerbox/core/internal';
import { diag } from '@opentelemetry/api';
import { activeSession, inSession, isCurrentSession } from './active-session.ts';
import { type AgentCall, type AgentRun, endRun, followRun, heardOf, isMade, openSession } from './ai-sdk-runs.ts';
import { decide } from './decide.ts';
import { declareTool, type GroupOf, groupsBy, type ToolGroup, toolGroup } from './groups.ts';
import { guardedBy } from './guarded.ts';
import { JUDGING, type JudgeOf, type JudgingOptions, judgesBy } from './judging.ts';
import { checkOptions } from './options.ts';
import { startRun } from './run.ts';
import { type SessionSource, sessionFinder } from './session-source.ts';
import { isRefused, type Refusal, ToolUnavailableError } from './unavailable.ts';

/** What is read of the events of the AI SDK. Those of embeddings and the like have less, and mean nothing here. */
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

/** How the integration behaves. */
export interface BreakerTelemetryOptions extends JudgingOptions {
  /**
   * The group of the tools (C13), such as the MCP server or the service behind them: a name for all of them, or a function that gives the
   * group of each by the tool's name. When tools of a group fail in a row, all of the group are skipped, and one probe serves them all.
   * The configuration of a tool comes first. Default: none, for the tools of `@ai-sdk/mcp` do not name their server.
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
 * Guards every `generateText`, `streamText` and agent of the process, with no other change: each run gets a session of the box,
 * or has the one of `withSession`; each tool call is decided and settled; steps are counted; the session ends with the run.
 *
 * On skip and pause the tool isn't run, and the model reads why. Register it before other integrations, so that our spans are
 * beneath theirs. What only `guardTools` can do: `timeoutMs`, `tokens`, alternatives in place, labels on results, and seeing a
 * tool hang that takes no notice of its signal. A last good result comes within the text of the refusal. Tools made by
 * `guardTools` decide for themselves; with `currentSession` they use the session of the run.
 *
 * A stream that its reader left tells nobody: its session ends when the next run begins, once nothing was heard of it for 10
 * minutes, with no tool running. Servers pass `abortSignal: request.signal`, or call `consumeStream()`.
 *
 * The steps of a session are the turns of its outermost run: an agent within a tool is a part of that tool's turn.
 *
 * It sees nothing of runs with `telemetry: { isEnabled: false }`, or with integrations of their own, which take the place of
 * registered ones. With `recordInputs: false` it knows no arguments, so that there is no loop guard and no last good result, and
 * doesn't see which tools are of `guardTools`, which then are decided about twice; with `recordOutputs: false` it knows no errors
 * that tools return.
 *
 * @param source a box: a session for each run. A session: one for all. A function: asked at each run's start.
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
  const guide: Guide = {
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
    onStepEnd: ({ callId }) => {
      const run = heardOf(callId, integration);
      if (run?.counts) run.session?.step();
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
      // Nobody will tell the end of a call that starts when its run is over.
      if (run === undefined || call.toolCall === undefined) return call.execute();
      run.running += 1;
      try {
        return await runTool(run, call, call.toolCall.toolName, guide);
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
  'Breakerbox: breakerTelemetry() is registered with an AI SDK before version 7, which runs no tools through integrations, so ' +
  'that they are not guarded. Wrap them in guardTools(), or update the AI SDK.';

let warned = false;
/** Its integrations are told of less, and aren't asked to run tools: nobody would see that nothing is guarded. */
const warnOfOldSdk = (): void => {
  if (!warned) safely('the logger', () => diag.warn(OLD_SDK));
  warned = true;
};

/** What the options say of each tool. */
interface Guide {
  readonly groupOf: GroupOf;
  readonly judgeOf: JudgeOf;
}

const runTool = <Value>(run: AgentRun, call: Execution<Value>, name: string, guide: Guide): PromiseLike<Value> => {
  const guard = guardedBy((run.tools[name] as { readonly execute?: unknown } | undefined)?.execute);
  if (guard !== undefined && !isCurrentSession(guard)) return call.execute();
  const session = openSession(run);
  if (session === undefined) return call.execute();
  return inSession(session, () => (guard === undefined ? decidedCall(session, run, call, guide) : call.execute()));
};

const decidedCall = async <Value>(
  session: Session,
  run: AgentRun,
  call: Execution<Value>,
  guide: Guide,
): Promise<Value> => {
  const { toolCallId, toolCall, execute } = call;
  const permit = ask(session, call, guide);
  if (permit === undefined) return execute();
  if (isRefused(permit)) throw refusal(permit);
  const input = toolCall?.input;
  const start = { input: call.recordInputs === false ? {} : input, signal: run.over.signal }; // `{}`: arguments that are not known.
  const running = startRun(permit, start, undefined, guide.judgeOf(permit.tool));
  const underWay = { id: toolCallId, input, running };
  run.calls.add(underWay); // What it came to is told after it, by onToolExecutionEnd.
  try {
    return await running.enter(execute);
  } catch (error) {
    run.calls.delete(underWay);
    running.threw(error);
    throw error;
  }
};

/** Undefined for a name that no tool may have: then nothing is decided. */
const ask = (session: Session, call: Execution<unknown>, { groupOf, judgeOf }: Guide): Permit | undefined => {
  const { toolCallId, toolCall, recordInputs } = call;
  const { toolName = '', input } = toolCall ?? {};
  return safely(`declaring tool '${toolName}'`, () => {
    declareTool(session, toolName, groupOf(toolName));
    // Without its arguments a call is like no other, and not like all others.
    return recordInputs === false
      ? session.acquire(toolName, { callId: toolCallId, type: 'function' })
      : decide(session, toolName, input, { callId: toolCallId, key: judgeOf(toolName).keyOf(input) });
  });
};

/** A last good result can't take the place of the tool's own here: it is told with the refusal (F2). */
const refusal = (permit: Refusal): ToolUnavailableError => {
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
      const active = activeSession();
      const isGiven = active !== undefined && !isMade(active);
      return isGiven ? given(active) : { open: () => (box as Breakerbox).session() };
    };
  }
  const findSession = sessionFinder(source as SessionSource, 'breakerTelemetry()');
  return () => given(safely('the session function given to breakerTelemetry()', findSession));
};

const given = (session: Session | undefined): SessionOfRun => ({ ...(session && { session }), open: undefined });
