import { type Breakerbox, labelled, type Permit, type Session } from '@breakerbox/core';
import { safely } from '@breakerbox/core/internal';
import { diag } from '@opentelemetry/api';
import { guardedBy } from './ai-sdk-guarded.ts';
import { countTurns } from './ai-sdk-turns.ts';
import { decide } from './decide.ts';
import { type Run, startRun } from './run.ts';
import { type SessionSource, sessionFinder } from './session-source.ts';
import { isRefused, type Refusal, ToolUnavailableError } from './unavailable.ts';
import { activeSession, currentSession, withSession } from './with-session.ts';

/** What is read of the events of the AI SDK. Those of embeddings and the like have less, and mean nothing here. */
interface RunEvent {
  readonly callId?: string;
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

/** A telemetry integration of the AI SDK 7, for its `registerTelemetry`. */
export interface BreakerTelemetry {
  onStart(event: StartEvent): void;
  onStepEnd(event: RunEvent): void;
  onToolExecutionEnd(event: ToolEndEvent): void;
  onEnd(event: RunEvent): void;
  onAbort(event: RunEvent): void;
  onError(event: unknown): void;
  executeTool<Value>(call: Execution<Value>): Promise<Value>;
}

/** One run of an agent, as its events tell of it. */
interface AgentRun {
  /** The integration that follows it. */
  readonly by: object;
  readonly tools: Readonly<Record<string, unknown>>;
  /** Undefined until a tool asks, where nobody gave one. */
  session: Session | undefined;
  /** Undefined where nothing can be guarded. */
  readonly open: (() => Session) | undefined;
  readonly stopCounting: () => void;
  /** Calls under way, by the ids of the tool calls. */
  readonly calls: Map<string, Run>;
}

/** By the AI SDK's ids. Each is followed by one integration alone, the last one that was registered. */
const runs = new Map<string, AgentRun>();
/** Beyond so many at once, somebody starts streams and never reads them: the oldest is given up. */
const MAX_RUNS = 10_000;
const OPERATIONS: ReadonlySet<unknown> = new Set(['ai.generateText', 'ai.streamText']);

/** Sessions that were made here: they end with their run. A run within a tool of another run gets its own. */
const made = new WeakSet<Session>();

/**
 * Guards every `generateText`, `streamText` and agent of the process, with no other change: each run gets a session of the box,
 * or has the one of `withSession`; each tool call is decided and settled; steps are counted; the session ends with the run.
 *
 * On skip and pause the tool isn't run, and the model reads why. Register it before other integrations, so that our spans are
 * beneath theirs. What only `guardTools` can do: `timeoutMs`, `tokens`, alternatives in place, labels on results, and seeing a
 * tool hang that takes no notice of its signal. A last good result comes within the text of the refusal. Tools made by
 * `guardTools` decide for themselves; with `currentSession` they use the session of the run.
 *
 * It sees nothing of runs with `telemetry: { isEnabled: false }`, or with integrations of their own, which take the place of
 * registered ones. With `recordInputs: false` it knows no arguments, so that there is no loop guard and no last good result, and
 * doesn't see which tools are of `guardTools`, which then are decided about twice; with `recordOutputs: false` it knows no errors
 * that tools return.
 *
 * @param source a box: a session for each run. A session: one for all. A function: asked at each run's start.
 * @throws BreakerboxUsageError for anything else.
 *
 * @example
 * ```ts
 * import { registerTelemetry } from 'ai';
 *
 * registerTelemetry(breakerTelemetry(createBreakerbox({ agent: 'research-agent' })));
 * ```
 */
export function breakerTelemetry(source: Breakerbox | SessionSource): BreakerTelemetry {
  const begin = (callId: string, tools: object = {}): AgentRun => {
    const run = { by: integration, tools: tools as AgentRun['tools'], calls: new Map(), ...sessionOf() };
    end(callId);
    runs.set(callId, run);
    const [oldest] = runs.keys();
    if (runs.size > MAX_RUNS && oldest !== undefined) end(oldest);
    return run;
  };
  const sessionOf = sessionStarter(source);
  const followed = (callId: string | undefined): AgentRun | undefined => {
    const run = callId === undefined ? undefined : runs.get(callId);
    return run?.by === integration ? run : undefined;
  };
  const over = ({ callId }: RunEvent): void => {
    if (callId !== undefined && followed(callId)) end(callId);
  };

  const integration: BreakerTelemetry = {
    onStart: ({ callId, operationId, tools }) => {
      if (callId === undefined) warnOfOldSdk();
      else if (OPERATIONS.has(operationId)) begin(callId, tools);
    },
    onStepEnd: ({ callId }) => followed(callId)?.session?.step(),
    onToolExecutionEnd: ({ callId, toolCall, toolOutput, recordOutputs }) => {
      const { calls } = followed(callId) ?? {};
      const call = calls?.get(toolCall?.toolCallId ?? '');
      if (call === undefined || toolOutput?.type !== 'tool-result') return;
      calls?.delete(toolCall?.toolCallId ?? '');
      if (recordOutputs === false) call.ended(undefined);
      else call.returned(toolOutput.output);
    },
    onEnd: over,
    onAbort: over,
    onError: (event) => over((event ?? {}) as RunEvent),
    executeTool: async (call) => {
      const { callId, toolCall, execute } = call;
      if (callId === undefined || toolCall === undefined) return execute();
      const run = runs.has(callId) ? followed(callId) : begin(callId);
      const guard = guardedBy(run?.tools[toolCall.toolName]);
      if (run === undefined || (guard !== undefined && guard !== currentSession)) return execute();
      const session = openSession(run);
      if (session === undefined) return execute();
      return withSession(session, () => (guard === undefined ? decidedCall(session, run, call) : execute()));
    },
  };
  return integration;
}

let warned = false;
/** Its integrations are told of less, and aren't asked to run tools: nobody would see that nothing is guarded. */
const warnOfOldSdk = (): void => {
  if (!warned) {
    diag.warn(
      'Breakerbox: breakerTelemetry() is registered with an AI SDK before version 7, which runs no tools through integrations, so ' +
        'that they are not guarded. Wrap them in guardTools(), or update the AI SDK.',
    );
  }
  warned = true;
};

const openSession = (run: AgentRun): Session | undefined => {
  run.session ??= run.open && safely('the box of breakerTelemetry()', run.open);
  return run.session;
};

const end = (callId: string): void => {
  const run = runs.get(callId);
  runs.delete(callId);
  run?.stopCounting();
  for (const call of run?.calls.values() ?? []) call.abandoned();
  if (run?.session !== undefined && made.has(run.session)) run.session.end();
};

const decidedCall = async <Value>(session: Session, run: AgentRun, call: Execution<Value>): Promise<Value> => {
  const { toolCallId, execute } = call;
  const permit = ask(session, call);
  if (permit === undefined) return execute();
  if (isRefused(permit)) throw refusal(permit);
  const running = startRun(permit, {});
  run.calls.set(toolCallId, running); // What it came to is told after it, by onToolExecutionEnd.
  try {
    return await running.enter(execute);
  } catch (error) {
    run.calls.delete(toolCallId);
    running.threw(error);
    throw error;
  }
};

/** Undefined for a name that no tool may have: then nothing is decided. */
const ask = (session: Session, { toolCallId, toolCall, recordInputs }: Execution<unknown>): Permit | undefined => {
  const { toolName = '', input } = toolCall ?? {};
  return safely(`declaring tool '${toolName}'`, () => {
    session.declare(toolName);
    // Without its arguments a call is like no other, and not like all others.
    return recordInputs === false
      ? session.acquire(toolName, { callId: toolCallId })
      : decide(session, toolName, input, toolCallId);
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

type SessionOfRun = Pick<AgentRun, 'session' | 'open' | 'stopCounting'>;

const sessionStarter = (source: Breakerbox | SessionSource): (() => SessionOfRun) => {
  const box = source as Partial<Breakerbox> | null | undefined;
  if (typeof source !== 'function' && typeof box?.session === 'function') {
    return () => {
      const active = activeSession();
      return active !== undefined && !made.has(active)
        ? given(active)
        : { ...given(undefined), open: () => make(box as Breakerbox) };
    };
  }
  const findSession = sessionFinder(source as SessionSource, 'breakerTelemetry()');
  return () => given(safely('the session function given to breakerTelemetry()', findSession));
};

const given = (session: Session | undefined): SessionOfRun => ({
  session,
  open: undefined,
  stopCounting: session === undefined ? () => {} : countTurns(session),
});

const make = (box: Breakerbox): Session => {
  const session = box.session();
  made.add(session);
  return session;
};
