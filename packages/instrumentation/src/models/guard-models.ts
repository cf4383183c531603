import type { Breakerbox } from '@breakerbox/core';
import { checkOptions, functionGiven, milliseconds, type OptionCheck, show } from '../options.ts';
import { isAsyncIterable } from '../untrusted.ts';
import { askModels } from './ask-models.ts';
import { type GuardModelsOptions, listModels, type TenantOption } from './candidates.ts';
import { JudgedError } from './model-attempt.ts';
import { LIMIT_CHECKS } from './model-limits.ts';
import { isPing, type OpenedStream, openStream, type PartFormat, type PartSource, readableOf } from './model-stream.ts';
import { OWN_MISTAKE } from './model-verdict.ts';
import { hasMethods, modelEntries, namedModel } from './named-model.ts';

/** A model as a function. */
export interface ModelFunction<Request, Answer> {
  /** `PROVIDER/MODEL`, such as `openai/gpt-5`. */
  readonly name: string;
  /** The name of its API key, if models of one provider use several. Models with one key share a circuit. Default: one key. */
  readonly key?: string;
  /**
   * Calls the model: once, without retries of its own. Pass `signal` on, and throw what the provider's client throws. Gives the answer, or
   * its parts as an async iterable.
   */
  call(request: Request, options: { readonly signal: AbortSignal }): Answer | PromiseLike<Answer>;
}

/** Options of {@link guardModels}. */
export interface GuardFunctionsOptions<Request, Answer> extends GuardModelsOptions, TenantOption<Request> {
  /** The models, the preferred one first. */
  readonly models: readonly ModelFunction<Request, Answer>[];
  /**
   * Whether a part of a stream can be seen. Another model answers only before the first such part. Default: every part except for empty
   * strings and events of the type `ping` or `keepalive`.
   */
  readonly isVisible?: (part: unknown) => boolean;
  /**
   * Whether a part says that the answer is complete. With it, a stream that ends before such a part is an error. Default: a stream that ends
   * is complete.
   */
  readonly isLast?: (part: unknown) => boolean;
}

/** Asks the models of a list. */
export type GuardedModels<Request, Answer> = (
  request: Request,
  options?: { readonly signal?: AbortSignal | undefined },
) => Promise<Answer>;

const ON_TOO_LONG: OptionCheck = (value) =>
  value === 'next' ? undefined : `is ${show(value)}. Set 'next', or leave it out.`;

/** The checks of the options that every form of `guardModels` has. */
export const MODEL_CHECKS: Readonly<Record<keyof GuardModelsOptions | 'tenant', OptionCheck>> = {
  ...LIMIT_CHECKS,
  session: (value) =>
    hasMethods(value, 'acquire', 'step')
      ? undefined
      : `is ${show(value)}, and no session. Set what box.session() returns.`,
  onContextTooLong: ON_TOO_LONG,
  prefer: (value) => (value === 'cache' ? undefined : `is ${show(value)}. Set 'cache', or leave it out.`),
  maxWaitMs: milliseconds,
  tenant: functionGiven,
};

const functions = modelEntries(
  "{ name: 'openai/gpt-5', call: (request, { signal }) => … }",
  (entry) => hasMethods(entry, 'call'),
  true,
);

/**
 * Puts circuits before models that are functions, and asks the next one when one is unavailable (L1, L5). For the models of a framework,
 * use the function of the same name in its entry, such as `/ai-sdk`. If no model is left, the function that it returns rejects with a
 * `ModelsUnavailableError`.
 *
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError if `box` is not a box.
 *
 * @example
 * ```ts
 * const ask = guardModels(box, {
 *   models: [
 *     { name: 'openai/gpt-5', call: (prompt: string, { signal }) => askOpenAI(prompt, signal) },
 *     { name: 'anthropic/claude-opus-5', call: (prompt: string, { signal }) => askAnthropic(prompt, signal) },
 *   ],
 * });
 * const answer = await ask('How are you?');
 * ```
 */
export const guardModels = <Request, Answer>(
  box: Breakerbox,
  options: GuardFunctionsOptions<Request, Answer>,
): GuardedModels<Request, Answer> => {
  const checks = {
    ...MODEL_CHECKS,
    models: functions,
    isVisible: functionGiven,
    isLast: functionGiven,
  };
  checkOptions('guardModels()', { ...options, models: options?.models ?? null }, checks);
  const named = options.models.map((one) => namedModel(one, one.name, one.key));
  const list = listModels(box, named, options, 'guardModels()');
  const format = formatOf(options);
  return async (request, { signal } = {}) =>
    askModels(list, {
      signal,
      tenant: options.tenant?.(request),
      call: async ({ given }, attempt) => {
        const { attemptMs } = attempt.limits;
        // A function that gives an iterable at once does not make the call yet.
        const answered = given.call(request, { signal: attempt.signal });
        const answer = isAsyncIterable(answered)
          ? answered
          : await attempt.wait(Promise.resolve(answered), attemptMs, closeLate);
        if (!isAsyncIterable(answer)) {
          attempt.succeeded();
          return answer as Answer;
        }
        const opened = await openStream(sourceOf(answer), format, attempt);
        return (answer instanceof ReadableStream ? readableOf(opened) : iterableOf(opened)) as Answer;
      },
    });
};

const formatOf = ({
  isVisible = (part) => part !== '' && !isPing(part),
  isLast,
}: Pick<GuardFunctionsOptions<unknown, unknown>, 'isVisible' | 'isLast'>): PartFormat<unknown> => ({
  mustFinish: isLast !== undefined,
  meaning: (part) => {
    try {
      // OpenAI's chunk with the usage follows the one that finishes.
      if (isLast?.(part) === true) return { facts: {}, end: 'complete', goesOn: true };
      if (isVisible(part)) return 'visible';
      return isPing(part) ? 'ping' : 'held';
    } catch (error) {
      throw new JudgedError(error, OWN_MISTAKE);
    }
  },
  finished: (part) => part,
  failed: () => undefined,
});

/** A stream that comes after its call was stopped has no reader. */
const closeLate = (answer: unknown): void => {
  if (isAsyncIterable(answer)) sourceOf(answer).cancel();
};

/** The parts of an async iterable. */
export const sourceOf = <Part>(parts: AsyncIterable<Part>): PartSource<Part> => {
  const iterator = parts[Symbol.asyncIterator]();
  return {
    next: () => Promise.resolve(iterator.next()) as Promise<{ done: boolean; value?: Part }>,
    cancel: () => void (async () => iterator.return?.())().catch(() => {}),
  };
};

/** The rest of a stream as an async iterable, for one reader. */
export const iterableOf = <Part>(opened: OpenedStream<Part>): AsyncIterable<Part> => ({
  [Symbol.asyncIterator]: () => ({
    next: () => opened.next(),
    return: async () => {
      opened.cancel();
      return { done: true, value: undefined };
    },
  }),
});
