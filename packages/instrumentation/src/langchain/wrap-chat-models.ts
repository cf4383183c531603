import type { Breakerbox } from '@breakerbox/core';
import { read } from '@breakerbox/core/internal';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { askModels } from '../models/ask-models.ts';
import {
  type Candidate,
  type GuardModelsOptions,
  listModels,
  type ModelList,
  type TenantOption,
} from '../models/candidates.ts';
import { MODEL_CHECKS } from '../models/guard-models.ts';
import type { ModelAttempt } from '../models/model-attempt.ts';
import { warnOfRetries } from '../models/model-warnings.ts';
import { hasMethods, modelEntries, namedModel } from '../models/named-model.ts';
import { checkOptions } from '../options.ts';
import { checkVersion } from '../versions.ts';
import type { Ask, CallOptions, ChatModel } from './chat-model.ts';
import { baseClassOf, guardedClass } from './guarded-chat-model.ts';

/** A chat model with a name of its own. */
export interface ChatModelEntry {
  readonly model: ChatModel;
  /** `PROVIDER/MODEL`. Needed where two models would have the same name. Default: what the model tells LangSmith. */
  readonly name?: string;
  /** The name of its API key, if models of one provider use several. Models with one key share a circuit. Default: one key. */
  readonly key?: string;
}

/** Options of {@link guardModels}. */
export interface GuardChatModelsOptions
  extends GuardModelsOptions,
    TenantOption<Pick<CallOptions, 'headers' | 'options'>> {
  /** The models, the preferred one first. Set `maxRetries: 0` on each. */
  readonly models: readonly (ChatModel | ChatModelEntry)[];
}

type Asked = Candidate<ChatModelEntry>;

const isChatModel = (value: unknown): value is ChatModel =>
  hasMethods(value, 'invoke', 'stream', 'getLsParams') && baseClassOf(value) !== undefined;

const entries = modelEntries(
  "a chat model, or { model: new ChatOpenAI({ model: 'gpt-5', maxRetries: 0 }), name, key }",
  (entry) => isChatModel(entry) || isChatModel(entry.model),
  false,
);

/**
 * A chat model of LangChain that is several: each has a circuit in the box, and if one is unavailable, the next one answers (L1, L5). Give it
 * to `createAgent` as `model`, or use it as any chat model: with `bindTools`, `withStructuredOutput` and streams.
 *
 * Another model answers only before the first visible part of a stream. `response_metadata.breakerbox` of the message says who answered. If no
 * model is left, calls fail with a `ModelsUnavailableError`.
 *
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError if `box` is not a box, or if LangChain is too old.
 *
 * @example
 * ```ts
 * const model = guardModels(box, {
 *   models: [
 *     new ChatAnthropic({ model: 'claude-opus-5', maxRetries: 0 }),
 *     new ChatOpenAI({ model: 'gpt-5', maxRetries: 0 }),
 *   ],
 * });
 * const agent = createAgent({ model, tools });
 * ```
 */
export const guardChatModels = (box: Breakerbox, options: GuardChatModelsOptions): BaseChatModel => {
  const checks = { ...MODEL_CHECKS, models: entries };
  checkOptions('guardModels()', { ...options, models: options?.models ?? null }, checks);
  checkVersion('@langchain/core', 'guardModels() of @breakerbox/instrumentation/langchain');
  const named = options.models.map((one) => {
    const entry: ChatModelEntry = isChatModel(one) ? { model: one } : one;
    return namedModel(entry, entry.name ?? nameOf(entry.model), entry.key);
  });
  const list = listModels(box, named, options, 'guardModels()');
  for (const { model, given } of list.candidates)
    if (!SAID.has(saidOf(given.model).provider)) warnOfRetries(model, retriesOf(given.model), FIX);
  const [primary] = list.candidates as readonly [Asked];
  const Guarded = guardedClass(primary.given.model);
  return new Guarded({ models: list.candidates.map(({ given }) => given.model), ask: asking(list, options) });
};

const FIX = 'Make the model with maxRetries: 0.';

/** Models of these providers take the number of retries from the call, which is 0. */
const SAID: ReadonlySet<string> = new Set(['openai', 'azure', 'anthropic']);

const retriesOf = (model: ChatModel): unknown => read(read(model, 'caller'), 'maxRetries');

/** What a model tells LangSmith. */
const saidOf = (model: ChatModel): { readonly provider: string; readonly name: string } => {
  const { ls_provider: provider = 'unknown', ls_model_name: name = 'unknown' } = model.getLsParams({} as never);
  return { provider, name };
};

const nameOf = (model: ChatModel): string => {
  const { provider, name } = saidOf(model);
  return `${provider === 'openai' ? compatibleOf(model) : provider}/${name}`;
};

/** Classes of other providers that are made from OpenAI's tell LangSmith that they are OpenAI's. An address of OpenAI's classes may be another provider's. */
const compatibleOf = (model: ChatModel): string => {
  const type = (model as { _llmType?(): string })._llmType?.() ?? 'openai';
  const baseURL = `${read(read(model, 'clientConfig'), 'baseURL')}`;
  if (type !== 'openai' || !URL.canParse(baseURL)) return type;
  const { hostname } = new URL(baseURL);
  // A host without a name, such as that of a proxy on this machine, says nothing.
  return /[a-z]$/.test(hostname) && hostname.includes('.') && !hostname.endsWith('.openai.com')
    ? hostname.replaceAll('.', '-')
    : type;
};

const asking =
  (list: ModelList<ChatModelEntry>, { tenant }: GuardChatModelsOptions): Ask =>
  (options, tools, prepare, run) =>
    askModels(list, {
      signal: options.signal,
      tenant: tenant?.(options),
      canCarry: ({ isOfFirst }) => isOfFirst || !tools.some(isProvidersTool),
      call: (candidate, attempt) =>
        run(prepare(candidate.given.model), optionsFor(candidate, options, attempt), attempt),
    });

/** A tool of a provider is a plain object such as `{ type: 'web_search_preview' }`. */
const isProvidersTool = (tool: unknown): boolean => {
  const type = read(tool, 'type');
  return typeof type === 'string' && type !== 'function' && type !== 'custom' && read(tool, 'invoke') === undefined;
};

/** Inner models report to no callback, because the guard does; and do not retry, where a call can say so (L6). */
const optionsFor = (
  { hasFirstKey }: Asked,
  { headers, options, promptIndex: _, ...call }: CallOptions,
  { signal }: ModelAttempt,
): object => ({
  ...call,
  ...(hasFirstKey && {
    ...(headers !== undefined && { headers }),
    ...(options !== undefined && { options }),
  }),
  signal,
  callbacks: [],
  maxRetries: 0,
});
