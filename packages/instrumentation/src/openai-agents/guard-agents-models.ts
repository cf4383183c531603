import type { Breakerbox } from '@breakerbox/core';
import { askModels } from '../models/ask-models.ts';
import { type Candidate, type GuardModelsOptions, listModels, type TenantOption } from '../models/candidates.ts';
import { iterableOf, MODEL_CHECKS, sourceOf } from '../models/guard-models.ts';
import type { ModelAttempt } from '../models/model-attempt.ts';
import { askWithHistory } from '../models/model-history.ts';
import { type OpenedStream, openStream } from '../models/model-stream.ts';
import { hasMethods, modelEntries, namedModel } from '../models/named-model.ts';
import { checkOptions } from '../options.ts';
import { checkVersion } from '../versions.ts';
import { ITEMS, withoutForeignIds } from './item-history.ts';
import { type AgentsEvent, eventFormat, judgedError, judgedEvents, responseFacts } from './model-events.ts';

/** A model of `@openai/agents`. */
export interface AgentsModel {
  getResponse(request: never): Promise<unknown>;
  getStreamedResponse(request: never): AsyncIterable<unknown>;
}

/** A model with its name, which the SDK keeps to itself. */
export interface AgentsModelEntry<Model extends AgentsModel> {
  readonly model: Model;
  /** `PROVIDER/MODEL`, such as `openai/gpt-5`. */
  readonly name: string;
  /** The name of its API key, if models of one provider use several. Models with one key share a circuit. Default: one key. */
  readonly key?: string;
}

/** Options of {@link guardModels}. */
export interface GuardAgentsModelsOptions<Model extends AgentsModel>
  extends GuardModelsOptions,
    TenantOption<{ readonly modelSettings?: Readonly<Record<string, unknown>> }> {
  /** The models, the preferred one first. */
  readonly models: readonly AgentsModelEntry<Model>[];
}

/** The part of a request that is read or changed. */
interface AgentsRequest {
  readonly input?: unknown;
  readonly signal?: AbortSignal;
  readonly tools?: readonly { readonly type?: string }[];
  readonly previousResponseId?: string;
  readonly conversationId?: string;
  readonly modelSettings?: Readonly<Record<string, unknown>>;
  readonly _internal?: object;
}

type Asked = Candidate<AgentsModelEntry<AgentsModel>>;

const entries = modelEntries(
  "{ model: new OpenAIResponsesModel(client, 'gpt-5'), name: 'openai/gpt-5' }",
  ({ model }) => hasMethods(model, 'getResponse', 'getStreamedResponse'),
  true,
);

/**
 * A model of OpenAI Agents that is several: each has a circuit in the box, and if one is unavailable, the next one answers (L1, L5). Give it
 * to an `Agent` or a run as `model`. Models of names, such as 'gpt-5', come from a provider: `await new OpenAIProvider().getModel('gpt-5')`.
 *
 * Another model answers only before the first visible part of a stream. A request that continues a stored conversation goes only to models of
 * the same provider and key. If no model is left, runs fail with a `ModelsUnavailableError`.
 *
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError if `box` is not a box, or if the SDK is too old.
 *
 * @example
 * ```ts
 * const model = guardModels(box, {
 *   models: [
 *     { model: new OpenAIResponsesModel(openai, 'gpt-5'), name: 'openai/gpt-5' },
 *     { model: new OpenAIChatCompletionsModel(groq, 'gpt-oss'), name: 'groq/gpt-oss' },
 *   ],
 * });
 * const agent = new Agent({ name: 'research', model });
 * ```
 */
export const guardAgentsModels = <Model extends AgentsModel>(
  box: Breakerbox,
  options: GuardAgentsModelsOptions<Model>,
): Model => {
  const checks = { ...MODEL_CHECKS, models: entries };
  checkOptions('guardModels()', { ...options, models: options?.models ?? null }, checks);
  checkVersion('@openai/agents', 'guardModels() of @breakerbox/instrumentation/openai-agents');
  const named = options.models.map((one) => namedModel<AgentsModelEntry<AgentsModel>>(one, one.name, one.key));
  const list = listModels(box, named, options, 'guardModels()');
  const isAlone = list.candidates.length === 1;
  const ask = <Answer>(
    request: AgentsRequest,
    run: (candidate: Asked, own: never, attempt: ModelAttempt) => Promise<Answer>,
  ): Promise<Answer> =>
    askModels(list, {
      signal: request.signal,
      tenant: options.tenant?.(request),
      maxOutputTokens: maxTokensOf(request),
      canCarry: (candidate) => carries(candidate, request),
      call: (candidate, attempt) => {
        const own = requestFor(candidate, request, attempt);
        const input = isAlone ? request.input : withoutForeignIds(request.input);
        return askWithHistory(input, ITEMS, isAlone, (history) =>
          run(candidate, { ...own, input: history } as never, attempt),
        );
      },
    });
  const guarded = {
    getResponse: (request: AgentsRequest) => ask(request, whole),
    async *getStreamedResponse(request: AgentsRequest) {
      yield* iterableOf(await ask(request, stream));
    },
    // A retry of the SDK would ask all models again.
    getRetryAdvice: () => ({ suggested: false, reason: 'Every model that is available was asked.' }),
  };
  return guarded as unknown as Model;
};

const maxTokensOf = ({ modelSettings }: AgentsRequest): number | undefined => {
  const most = modelSettings?.maxTokens;
  return typeof most === 'number' ? most : undefined;
};

/** L9: a stored conversation is known to one key only. L1: so are the tools that a provider runs. */
const carries = ({ isOfFirst, hasFirstKey }: Asked, request: AgentsRequest): boolean => {
  const { previousResponseId, conversationId, tools = [] } = request;
  if (previousResponseId ?? conversationId) return hasFirstKey;
  return isOfFirst || tools.every(({ type = 'function' }) => type === 'function');
};

/** The settings for a provider may hold its secrets. `runnerManagedRetry` keeps OpenAI's client from calls of its own (L6). */
const requestFor = (
  { isOfFirst }: Asked,
  { modelSettings = {}, ...request }: AgentsRequest,
  { signal }: ModelAttempt,
): object => {
  const { providerData, ...settings } = modelSettings;
  return {
    ...request,
    modelSettings: isOfFirst ? modelSettings : settings,
    signal,
    _internal: { ...request._internal, runnerManagedRetry: true },
  };
};

const whole = async ({ given, model }: Asked, own: never, attempt: ModelAttempt): Promise<unknown> => {
  const answer = given.model.getResponse(own).catch((error: unknown) => {
    throw judgedError(error);
  });
  const response = await attempt.wait(answer, attempt.limits.attemptMs);
  attempt.succeeded(responseFacts(response, model));
  return response;
};

const stream = ({ given }: Asked, own: never, attempt: ModelAttempt): Promise<OpenedStream<AgentsEvent>> =>
  openStream(sourceOf(judgedEvents(given.model.getStreamedResponse(own))), eventFormat(), attempt);
