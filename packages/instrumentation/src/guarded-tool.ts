import { BreakerboxUsageError, type FreshnessHint, type Permit } from '@breakerbox/core';
import {
  acquire,
  checkSource,
  declareTool,
  declareTools,
  isRejected,
  readCall,
  type SessionSource,
  sessionOf,
  type ToolCall,
} from './acquire.ts';
import { type Answer, answerOf, type DirectCall, fallbackFor, orAlternative } from './fallback.ts';
import { type Guarded, mark, markOf, throwIfGuarded } from './guard-mark.ts';
import { type Judge, type JudgingOptions, judgesBy } from './judging.ts';
import { type OptionCheck, show } from './options.ts';
import { Run } from './run.ts';
import { calls } from './running-calls.ts';
import type { CallEnd, Reading } from './settlement.ts';
import { annotateResult, followStream } from './stream.ts';
import { ToolUnavailableError } from './unavailable.ts';

/** The second argument of a guarded tool. */
export interface GuardedCall {
  /** Fires on timeout and on the caller's abort. Pass it to `fetch` and similar functions. */
  readonly signal: AbortSignal;
  /** The decision that let this call through. It is settled for you. */
  readonly permit: Permit;
}

/** A guarded function. If its tool needs no input, you may call it without one. */
export type GuardedFunction<Input, Output> = (
  ...given: undefined extends Input ? [input?: Input, call?: ToolCall] : [input: Input, call?: ToolCall]
) => Promise<Output>;

/** Options of `guard`. */
export interface GuardOptions<Output = unknown, Input = unknown> extends JudgingOptions<Output, Input> {
  /**
   * Milliseconds that a call may take, up to the last piece if it gives an async generator. After that, the tool's signal fires, the call
   * rejects with a `TimeoutError` at once, and counts as a failure. An alternative that is called in place of the tool has the
   * remaining time. Default: none.
   */
  readonly timeoutMs?: number;
  /**
   * Reads the cost of a call in tokens when it ends: from the result, or from the error that the tool threw or that stopped it.
   * Tokens of a failed call are wasted: they are counted, are charged to the token budget, and may open the circuit. Default: not known.
   * It has to answer synchronously. Errors and promises go to OpenTelemetry's `diag`, and the call then has no known cost.
   */
  readonly tokens?: (end: CallEnd<Output>) => number | undefined;
  /**
   * Reads from a result how current it is, for tools with `labelFreshness`: when it was retrieved, and whether it was
   * checked. Default: retrieved by this call. It has to answer synchronously, too.
   */
  readonly freshness?: (result: Output) => FreshnessHint | undefined;
  /**
   * Functions made by `guard` for the tool's alternatives, by the alternatives' names. A function whose alternative has `adapt` is
   * called in place of this one while this one is unavailable, with a decision of its own. Other alternatives are left to the caller.
   */
  readonly alternatives?: Readonly<Record<string, GuardedFunction<never, unknown>>>;
  /**
   * The group of the tool (C13), such as the MCP server or the service behind it. When tools of a group fail in a row, all of the group
   * are skipped, and one probe serves them all. The configuration of the tool takes precedence. Default: none.
   */
  readonly group?: string;
}

type Tool<Input, Output> = (input: Input, call: GuardedCall) => Output | PromiseLike<Output>;

/** Properties of a function that `guard` made, maybe in another copy of the package. */
interface Guard extends Guarded {
  readonly tool: string;
  /**
   * Calls the tool in place of another. Undefined if it may not be called, so the alternative was not used.
   * @param leftMs Milliseconds that it has at most, even if its own timeout is longer. Undefined: no limit of the caller's.
   * @param usualMs Milliseconds that it has if it has no timeout of its own. Default: `leftMs`.
   */
  callAsAlternative(
    input: unknown,
    call: ToolCall,
    leftMs: number | undefined,
    usualMs?: number,
  ): Promise<Answer | undefined>;
}

/**
 * `guard` with options that are already checked.
 *
 * @throws BreakerboxConfigError for a tool name that can't work.
 * @throws BreakerboxUsageError when `session` is not a session, `run` is not a function, or it is guarded for that session already.
 */
export const guardFunction = <Input, Output>(
  session: SessionSource,
  tool: string,
  run: Tool<Input, Output>,
  options: GuardOptions<Output, Input>,
): GuardedFunction<Input, Output> => {
  const where = `guard('${tool}')`;
  if (typeof run !== 'function') {
    throw new BreakerboxUsageError(
      `${where}: the tool is a value of type ${typeof run}, so there is nothing to call. Give the function to run.`,
    );
  }
  checkSource(session, where);
  throwIfGuarded(where, run, session);
  declareTools(session, [tool], () => options.group);
  const guarded = new GuardedTool(where, session, tool, run, options);
  return mark(guarded.call.bind(guarded), guarded) as GuardedFunction<Input, Output>;
};

/** A class, because each session has one for each tool, and closures would cost more memory. */
class GuardedTool<Input, Output> implements Guard {
  readonly session: SessionSource;
  readonly tool: string;
  readonly #where: string;
  readonly #run: Tool<Input, Output>;
  readonly #options: GuardOptions<Output, Input>;
  readonly #judge: Judge;

  constructor(
    where: string,
    session: SessionSource,
    tool: string,
    run: Tool<Input, Output>,
    options: GuardOptions<Output, Input>,
  ) {
    this.session = session;
    this.tool = tool;
    this.#where = where;
    this.#run = run;
    this.#options = options;
    this.#judge = judgesBy(options as JudgingOptions, where)(tool);
  }

  /** Asks the session, then runs the tool in the permit's context, or answers in its place. */
  async call(input: Input, given?: ToolCall): Promise<Output> {
    const call = given === undefined ? NO_OPTIONS : readCall(this.#where, given);
    const permit = this.#acquire(input, call);
    const { timeoutMs, alternatives } = this.#options;
    if (!isRejected(permit)) {
      const run = this.#start(permit, input, call, timeoutMs);
      const end = this.#execute(run, permit, input);
      if (alternatives === undefined) return end;
      const find = (tool: string) => this.#find(tool, call, () => undefined);
      return orAlternative(this.tool, run, end, input, { find, note: annotateResult });
    }
    const startMs = performance.now();
    const leftMs = () => timeoutMs && Math.max(1, Math.ceil(timeoutMs - (performance.now() - startMs)));
    const find = (tool: string) => this.#find(tool, call, leftMs);
    const answer = await fallbackFor(permit, input, { find, note: annotateResult });
    if (answer === undefined) throw new ToolUnavailableError(permit);
    return answer.value as Output;
  }

  async callAsAlternative(
    input: unknown,
    call: ToolCall,
    leftMs: number | undefined,
    usualMs = leftMs,
  ): Promise<Answer | undefined> {
    const permit = this.#acquire(input as Input, call);
    if (isRejected(permit)) return undefined;
    const { timeoutMs = usualMs } = this.#options;
    const withinMs = timeoutMs === undefined || leftMs === undefined ? timeoutMs : Math.min(timeoutMs, leftMs);
    const run = this.#start(permit, input as Input, call, withinMs);
    return answerOf(this.#execute(run, permit, input as Input), () => run.unanswered);
  }

  #acquire(input: Input, { signal, callId }: ToolCall): Permit {
    if (signal?.aborted) throw signal.reason;
    const source = this.session;
    const isAsked = typeof source === 'function' || calls.running !== undefined;
    const session = isAsked ? sessionOf(source, this.#where) : source;
    if (session !== source) declareTool(session, this.tool, this.#options.group);
    return acquire(session, this.tool, input, { callId, key: this.#judge.keyOf(input) });
  }

  #start(permit: Permit, input: Input, { signal }: ToolCall, timeoutMs: number | undefined): Run {
    return new Run(permit, { input, signal, timeoutMs }, this.#options as Reading, this.#judge);
  }

  #execute(run: Run, permit: Permit, input: Input): Promise<Output> {
    const tool = this.#run;
    return run.execute(async () => tool(input, { signal: run.signal, permit }), followStream);
  }

  /** How to call another guarded function in place of this one. Without a limit of its own it has this one's. */
  #find(tool: string, call: ToolCall, leftMs: () => number | undefined): DirectCall | undefined {
    const { alternatives = NO_OPTIONS } = this.#options;
    const other = Object.hasOwn(alternatives, tool) ? guardOf(alternatives[tool]) : undefined;
    const { timeoutMs } = this.#options;
    return (
      other &&
      ((adapted, usualMs) => other.callAsAlternative(adapted, call, leftMs(), usualMs && (timeoutMs ?? usualMs)))
    );
  }
}

const NO_OPTIONS: ToolCall & NonNullable<GuardOptions['alternatives']> = {};

const guardOf = (value: unknown): Guard | undefined => {
  const found = typeof value === 'function' ? (markOf(value) as Partial<Guard> | undefined) : undefined;
  return found?.callAsAlternative && (found as Guard);
};

/** The check of an option with functions that `guard` made, by the names of their tools. */
export const guardsByTool: OptionCheck = (value) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return `is ${show(value)}. Set an object that has, under each tool name, the function that guard() returned, or leave it out.`;
  }
  for (const [name, one] of Object.entries(value)) {
    const found = guardOf(one);
    if (found === undefined) {
      return `has a value under '${name}' that guard() did not return, so its calls would never be skipped. Use the function that guard(session, '${name}', …) returns.`;
    }
    if (found.tool !== name) {
      return `has the function of tool '${found.tool}' under '${name}'. Move it to the key '${found.tool}', or put the function of tool '${name}' here.`;
    }
  }
  return undefined;
};
