import { BreakerboxUsageError, type Permit } from '@breakerbox/core';
import { readCall, type ToolCall, throwIfAborted } from './caller.ts';
import { decide } from './decide.ts';
import { declareTool } from './groups.ts';
import type { GuardedCall, GuardedFunction, GuardOptions } from './guard.ts';
import { mark, refuseGuarded } from './guarded.ts';
import { directCallOf, type Guard } from './guards.ts';
import { type Judge, type JudgingOptions, judgesBy } from './judging.ts';
import { callOf } from './lazy-call.ts';
import { type Answer, otherwise } from './otherwise.ts';
import { perform } from './perform.ts';
import { type Reading, startRun } from './run.ts';
import { checkSource, currentOf, declareNow, type SessionSource } from './session-source.ts';
import { concluded, noted } from './stream.ts';
import { isRefused, type Refusal, ToolUnavailableError } from './unavailable.ts';

type Run<Input, Output> = (input: Input, call: GuardedCall) => Output | PromiseLike<Output>;

/**
 * `guard` with options that are already checked.
 *
 * @throws BreakerboxConfigError for a tool name that can't work.
 * @throws BreakerboxUsageError when `session` is not a session, `run` is not a function, or it is guarded for that session already.
 */
export const guardTool = <Input, Output>(
  session: SessionSource,
  tool: string,
  run: Run<Input, Output>,
  options: GuardOptions<Output, Input>,
): GuardedFunction<Input, Output> => {
  const where = `guard('${tool}')`;
  if (typeof run !== 'function') {
    throw new BreakerboxUsageError(
      `${where}: got a value of type ${typeof run} as the tool, so there is nothing to call. Give the function to run.`,
    );
  }
  checkSource(session, where);
  refuseGuarded(where, run, session);
  declareNow(session, [tool], () => options.group);
  const guarded = new GuardedTool(where, session, tool, run, options);
  const asked = (input: Input, given?: ToolCall): Promise<Output> => guarded.call(input, given);
  return mark(asked, guarded) as GuardedFunction<Input, Output>;
};

const NONE: NonNullable<GuardOptions['alternatives']> = {};

/** A class, because each session has one for each tool, and closures would cost more memory. */
class GuardedTool<Input, Output> implements Guard {
  readonly session: SessionSource;
  readonly tool: string;
  readonly #where: string;
  readonly #run: Run<Input, Output>;
  readonly #timeoutMs: number | undefined;
  readonly #alternatives: NonNullable<GuardOptions['alternatives']>;
  readonly #reading: Reading | undefined;
  readonly #judge: Judge;
  readonly #group: string | undefined;

  constructor(
    where: string,
    session: SessionSource,
    tool: string,
    run: Run<Input, Output>,
    options: GuardOptions<Output, Input>,
  ) {
    const { timeoutMs, tokens, freshness, alternatives = NONE, group } = options;
    this.session = session;
    this.tool = tool;
    this.#where = where;
    this.#run = run;
    this.#timeoutMs = timeoutMs;
    this.#alternatives = alternatives;
    this.#group = group;
    this.#reading = tokens || freshness ? ({ tokens, freshness } as Reading) : undefined;
    this.#judge = judgesBy(options as JudgingOptions, where)(tool);
  }

  /** Not async, which saves one promise for each call. Errors thrown here still reject. */
  call(input: Input, given: ToolCall | undefined): Promise<Output> {
    try {
      const call = readCall(this.#where, given);
      const permit = this.#ask(input, call);
      return isRefused(permit) ? this.#instead(permit, input, call) : this.#execute(permit, input, call);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async standIn(input: unknown, call: ToolCall, leftMs: number | undefined): Promise<Answer | undefined> {
    const permit = this.#ask(input as Input, call);
    if (isRefused(permit)) return undefined;
    const own = this.#timeoutMs;
    const withinMs = own === undefined || leftMs === undefined ? (own ?? leftMs) : Math.min(own, leftMs);
    return { value: await this.#execute(permit, input as Input, call, withinMs) };
  }

  #ask(input: Input, { signal, callId }: ToolCall): Permit {
    throwIfAborted(signal);
    const session = currentOf(this.session, this.#where);
    if (session !== this.session) declareTool(session, this.tool, this.#group);
    return decide(session, this.tool, input, { callId, key: this.#judge.keyOf(input) });
  }

  #execute(permit: Permit, input: Input, { signal }: ToolCall, timeoutMs = this.#timeoutMs): Promise<Output> {
    const running = startRun(permit, { input, signal, timeoutMs }, this.#reading, this.#judge);
    const run = this.#run;
    return perform(running, () => run(input, callOf(running, permit, run.length)), concluded);
  }

  #instead(permit: Refusal, input: Input, call: ToolCall): Promise<Output> {
    const timeoutMs = this.#timeoutMs;
    const startMs = timeoutMs === undefined ? 0 : performance.now();
    const leftMs = () => timeoutMs && Math.max(1, Math.ceil(timeoutMs - (performance.now() - startMs)));
    const find = (other: string) => directCallOf(this.#alternatives, other, call, leftMs);
    const answer = otherwise(permit, input, { find, note: noted });
    return answer === undefined ? refused(permit) : answered(permit, answer);
  }
}

const answered = async <Output>(permit: Refusal, answer: Promise<Answer | undefined>): Promise<Output> => {
  const found = await answer;
  if (found === undefined) throw new ToolUnavailableError(permit);
  return found.value as Output;
};

const NOW = Promise.resolve();

/** Rejects a moment later, when the caller listens. Node records a promise that rejects without a listener, which costs far more. */
const refused = (permit: Refusal): Promise<never> =>
  new Promise((_, reject) => void NOW.then(() => reject(new ToolUnavailableError(permit))).catch(reject));
