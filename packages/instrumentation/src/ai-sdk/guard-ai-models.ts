import { type Breakerbox, BreakerboxConfigError } from '@breakerbox/core';
import { askModels } from '../models/ask-models.ts';
import {
  type AnswerFacts,
  type Candidate,
  type GuardModelsOptions,
  listModels,
  type NamedModel,
  providerOf,
  type TenantOption,
} from '../models/candidates.ts';
import { MODEL_CHECKS } from '../models/guard-models.ts';
import { JudgedError, type ModelAttempt } from '../models/model-attempt.ts';
import { askWithHistory } from '../models/model-history.ts';
import { openStream, readableOf } from '../models/model-stream.ts';
import { CUT, EMPTY } from '../models/model-verdict.ts';
import { ModelStreamError } from '../models/models-unavailable.ts';
import { namedModel } from '../models/named-model.ts';
import { checkOptions, type OptionCheck, show, text } from '../options.ts';
import { checkVersion, type Framework } from '../versions.ts';
import { type AiOptions, type AiPart, type AiResult, factsOf, finishOf, partsOf, withAnswerer } from './model-parts.ts';
import { type AiUrls, commonUrls } from './model-urls.ts';
import { isKeptByProvider, PROMPT, withoutThinking } from './prompt-history.ts';

/** A language model of the AI SDK 5, 6 or 7. */
export interface AiModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: AiUrls | PromiseLike<AiUrls>;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<{ readonly stream: unknown }>;
}

/** A model with settings of its own. */
export interface ModelEntry<Model extends AiModel> {
  readonly model: Model;
  /**
   * `PROVIDER/MODEL`. Needed where two models would have the same name, and where a client has another address than that of its provider.
   * Default: the model's provider and id.
   */
  readonly name?: string;
  /** The name of its API key, if models of one provider use several. Models with one key share a circuit. Default: one key. */
  readonly key?: string;
  /** Headers of its calls. Those of the call go to models of the first provider and key only, because they may have its secrets. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Provider options of its calls, over those of the call. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Options of {@link guardModels}. */
export interface GuardAiModelsOptions<Model extends AiModel>
  extends GuardModelsOptions,
    TenantOption<Pick<AiOptions, 'headers' | 'providerOptions'>> {
  /** The models, the preferred one first. All must be of the same specification version. */
  readonly models: readonly (Model | ModelEntry<Model>)[];
}

const isModel = (value: unknown): value is AiModel =>
  typeof value === 'object' && value !== null && 'specificationVersion' in value && 'doGenerate' in value;

const modelList: OptionCheck = (value) => {
  if (!Array.isArray(value)) return `is ${show(value)}. Set an array of models.`;
  for (const [index, one] of value.entries()) {
    if (typeof one === 'string') {
      return `has a name in place of a model at ${index}. Give a model of a provider, such as openai('gpt-5') of @ai-sdk/openai, because a name has no provider to take circuits from.`;
    }
    if (isModel(one)) continue;
    const entry = (one ?? {}) as Partial<Record<keyof ModelEntry<AiModel>, unknown>>;
    const isSound = [entry.name, entry.key].every((part) => part === undefined || text(part) === undefined);
    if (!isModel(entry.model) || !isSound) {
      return `has no model at ${index}. Give a model of a provider, or { model, name, key, headers, providerOptions }.`;
    }
  }
  return undefined;
};

/**
 * A model of the AI SDK that is several: each has a circuit in the box, and if one is unavailable, the next one answers (L1, L5). Give it to
 * `generateText`, `streamText` or an agent in place of a model, with `maxRetries: 0`: a retry above it would ask all models again.
 *
 * Another model answers only before the first visible part of a stream. `providerMetadata.breakerbox` of the result says who answered. If no
 * model is left, calls fail with a `ModelsUnavailableError`, which the AI SDK does not retry.
 *
 * @throws BreakerboxConfigError for options that can't work, such as models of different specification versions.
 * @throws BreakerboxUsageError if `box` is not a box, or if the AI SDK is too old.
 *
 * @example
 * ```ts
 * const model = guardModels(box, { models: [anthropic('claude-opus-5'), openai('gpt-5')] });
 * await generateText({ model, maxRetries: 0, prompt });
 * ```
 */
export const guardAiModels = <Model extends AiModel>(box: Breakerbox, options: GuardAiModelsOptions<Model>): Model =>
  aiModelOf(box, options, 'ai', 'ai-sdk');

/** The same, for a framework that takes models of the AI SDK. */
export const aiModelOf = <Model extends AiModel>(
  box: Breakerbox,
  options: GuardAiModelsOptions<Model>,
  framework: Framework,
  entry: string,
): Model => {
  checkOptions(
    'guardModels()',
    { ...options, models: options?.models ?? null },
    { ...MODEL_CHECKS, models: modelList },
  );
  checkVersion(framework, `guardModels() of @breakerbox/instrumentation/${entry}`);
  const entries = options.models.map((one) => (isModel(one) ? { model: one as Model } : (one as ModelEntry<Model>)));
  const list = listModels(box, entries.map(namedOf), options, 'guardModels()');
  const [primary] = list.candidates as readonly [Candidate<ModelEntry<Model>>];
  const isAlone = list.candidates.length === 1;
  const { specificationVersion } = primary.given.model;
  const other = list.candidates.find(({ given }) => given.model.specificationVersion !== specificationVersion);
  if (other !== undefined) throw mixedVersions(primary, other);
  const ask = async <Answer>(
    call: AiOptions,
    run: (candidate: Candidate<ModelEntry<Model>>, own: AiOptions, attempt: ModelAttempt) => Promise<Answer>,
  ): Promise<Answer> =>
    askModels(list, {
      signal: call.abortSignal,
      tenant: options.tenant?.(call),
      maxOutputTokens: call.maxOutputTokens,
      canCarry: (candidate) => carries(candidate, call),
      call: (candidate, attempt) => {
        const own = optionsFor(candidate, call, attempt);
        return askWithHistory(call.prompt, PROMPT, isAlone, (prompt, isCleaned) => {
          const providerOptions = isCleaned ? withoutThinking(own.providerOptions) : own.providerOptions;
          return run(candidate, { ...own, prompt, providerOptions }, attempt);
        });
      },
    });
  const guarded: AiModel = {
    specificationVersion,
    provider: primary.given.model.provider,
    modelId: primary.given.model.modelId,
    supportedUrls: commonUrls(list.candidates.map(({ given }) => given.model.supportedUrls)),
    doGenerate: (call) => ask(call, generate),
    doStream: (call) => ask(call, stream),
  };
  return guarded as Model;
};

const namedOf = <Model extends AiModel>(entry: ModelEntry<Model>): NamedModel<ModelEntry<Model>> => {
  const { modelId, provider } = entry.model;
  return { ...namedModel(entry, entry.name ?? `${providerOf(provider)}/${modelId}`, entry.key), modelId };
};

const mixedVersions = (one: Candidate<ModelEntry<AiModel>>, other: Candidate<ModelEntry<AiModel>>) =>
  new BreakerboxConfigError([
    {
      path: 'guardModels() options.models',
      message:
        `mixes specification versions: ${one.model} has ${one.given.model.specificationVersion}, and ${other.model} has ` +
        `${other.given.model.specificationVersion}. Their prompts differ. Use provider packages of one version of the AI SDK, or wrap the older model with ` +
        'wrapLanguageModel({ model, middleware: [] }) of the newer one.',
    },
  ]);

/** A provider's own tool, such as `openai.web_search`, is unknown to others, and so is a conversation that it keeps (L9). */
const carries = (
  { given, hasFirstKey }: Candidate<ModelEntry<AiModel>>,
  { tools = [], providerOptions }: AiOptions,
): boolean =>
  (hasFirstKey || !isKeptByProvider(providerOptions)) &&
  tools.every(({ type, id = '' }) => type === 'function' || type === undefined || hasTool(given.model.provider, id));

/** `google.vertex` and `vertex.anthropic` have the tools of Google and Anthropic, and Azure those of OpenAI. */
const hasTool = (provider: string, id: string): boolean => {
  const [maker = ''] = id.split('.', 1);
  const parts = provider.split('.');
  return parts.includes(maker) || (maker === 'openai' && parts.includes('azure'));
};

const optionsFor = (
  { given, isOfFirst, hasFirstKey }: Candidate<ModelEntry<AiModel>>,
  { headers, providerOptions, ...call }: AiOptions,
  attempt: ModelAttempt,
) => {
  return {
    ...call,
    abortSignal: attempt.signal,
    headers: { ...(hasFirstKey && headers), ...given.headers },
    providerOptions: { ...(isOfFirst && providerOptions), ...given.providerOptions },
  };
};

const generate = async (
  { given, model }: Candidate<ModelEntry<AiModel>>,
  own: AiOptions,
  attempt: ModelAttempt,
): Promise<AiResult> => {
  const result = (await attempt.wait(given.model.doGenerate(own as never), attempt.limits.attemptMs)) as AiResult;
  const isEmpty = !result.content.some((part) => part.type !== 'text' || part.text !== '');
  const end = finishOf(result.finishReason, isEmpty);
  if (end !== 'complete') {
    const what = end === 'empty' ? 'gave an empty answer.' : 'stopped before its answer was complete.';
    throw new JudgedError(new ModelStreamError(model, what), end === 'cut' ? CUT : EMPTY);
  }
  const facts: AnswerFacts = factsOf(result.usage, result.response?.modelId, result.providerMetadata);
  attempt.succeeded(facts);
  return {
    ...result,
    response: { ...result.response, modelId: result.response?.modelId ?? given.model.modelId },
    providerMetadata: withAnswerer(result.providerMetadata, attempt),
  };
};

const stream = async ({ given }: Candidate<ModelEntry<AiModel>>, own: AiOptions, attempt: ModelAttempt) => {
  const { firstByteMs, firstChunkMs = firstByteMs } = attempt.limits;
  const limitMs = Math.min(firstByteMs, firstChunkMs);
  const answer = await attempt.wait(given.model.doStream(own as never), limitMs, closeLate);
  const reader = (answer.stream as ReadableStream<AiPart>).getReader();
  const source = {
    next: () => reader.read() as Promise<{ done: boolean; value?: AiPart }>,
    cancel: (reason?: unknown) => void reader.cancel(reason).catch(() => {}),
  };
  const opened = await openStream(source, partsOf(given.model.modelId), attempt, attempt.ranMs);
  // Otherwise `text` and `textStream` of version 7 end as if the answer were complete. In version 5 and 6, an error part is an end for
  // them as well, and after a stream that fails their promises never settle.
  const fails = given.model.specificationVersion === 'v4';
  return {
    ...answer,
    stream: readableOf(opened, (part) => (fails && part.type === 'error' ? { error: part.error } : undefined)),
  };
};

/** A stream that comes after its call was stopped has no reader. */
const closeLate = ({ stream }: { readonly stream: unknown }): void =>
  void (stream as ReadableStream<AiPart>).cancel().catch(() => {});
