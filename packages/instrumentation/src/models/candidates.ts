import { type Breakerbox, BreakerboxConfigError, type Session } from '@breakerbox/core';
import { boxModels, type ModelHandle } from '@breakerbox/core/internal';
import { type Limits, limitsOf, type ModelLimits } from './model-limits.ts';
import type { ModelVerdict } from './model-verdict.ts';

/** A model as an adapter knows it. */
export interface NamedModel<Model> {
  readonly model: Model;
  /** `PROVIDER/MODEL`. */
  readonly name: string;
  /** The circuit that it shares with the other models of the same provider and key. */
  readonly group: string;
  readonly provider: string;
  readonly modelId: string;
  /** The name of its API key. Default: the only one of its provider. */
  readonly key: string | undefined;
}

/** A model of a list. */
export interface Candidate<Model> {
  readonly given: Model;
  /** `PROVIDER/MODEL`. */
  readonly model: string;
  readonly provider: string;
  readonly modelId: string;
  /** Whether it has the provider of the first model: what a call tells a provider is for these only (L1). */
  readonly isOfFirst: boolean;
  /** Whether it has the key as well: secrets of a call, and conversations that a provider keeps, are for these only. */
  readonly hasFirstKey: boolean;
  /** Its place in the list. 0: the primary. */
  readonly index: number;
  readonly handle: ModelHandle;
  /** The name of the first model's circuit. */
  readonly primary: string;
}

/** A model that was tried before another one answered. */
export interface TriedModel {
  readonly model: string;
  readonly why: 'failed' | 'skipped' | 'unsupported';
  readonly category?: ModelVerdict['category'] | undefined;
  readonly status?: number | undefined;
}

/** What an answer says of itself. */
export interface AnswerFacts {
  /** Those of the cache included. */
  readonly inputTokens?: number | undefined;
  /** Of `inputTokens`: read from the prompt cache. */
  readonly cacheReadTokens?: number | undefined;
  /** Of `inputTokens`: written to the prompt cache. */
  readonly cacheWriteTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** The name of the model, as the provider answered it. */
  readonly responseModel?: string | undefined;
}

/** Options that every form of `guardModels` has. */
export interface GuardModelsOptions extends ModelLimits {
  /**
   * Whose run it is: its id is on the spans of the calls, and its limits count what the models use (D3). A pause of the session does not stop
   * models, so that the run can report; after the pause of a limit they answer once more, and then fail with a `RunLimitError` (D2). Default:
   * the session of the active `withSession`, otherwise none.
   */
  readonly session?: Session;
  /**
   * What to do if the first model says that the prompt is too long: give the caller the error, or ask the next model. Default: the error.
   */
  readonly onContextTooLong?: 'next';
  /**
   * `cache`: a model that is only rate-limited, for at most `maxWaitMs`, is waited for, because another model has no prompt cache of the
   * run. Default: the next model is asked at once.
   */
  readonly prefer?: 'cache';
  /** How long a request waits in all with `prefer: 'cache'`. Milliseconds. Default 10,000. */
  readonly maxWaitMs?: number;
}

/** The option of tenants, in every form of `guardModels`. */
export interface TenantOption<Call> {
  /**
   * Whose API key a call uses, if tenants bring keys of their own: an id of the tenant, never the key itself. A refused key, a used-up quota and
   * a reached limit then count for that tenant alone (C14), an outage for all. Default: all calls use one key.
   */
  readonly tenant?: (call: Call) => string;
}

/** The models of a list, with their circuits. */
export interface ModelList<Model> {
  readonly agent: string;
  readonly session: Session;
  /** The Unix time by the clock of the box, in milliseconds. */
  readonly unixNow: () => number;
  /** Whether runs of the box have a limit of tokens or cost (D2). */
  readonly limitsUsage: () => boolean;
  readonly candidates: readonly Candidate<Model>[];
  readonly limits: Limits;
  readonly options: GuardModelsOptions;
}

/**
 * Gives each model of a list its circuit in the box (L2).
 *
 * @throws BreakerboxConfigError if there is no model, or if two have the same name.
 */
export const listModels = <Model>(
  box: Breakerbox,
  models: readonly NamedModel<Model>[],
  options: GuardModelsOptions,
  where: string,
): ModelList<Model> => {
  const { session, unixNow, limitsUsage, declare } = boxModels(box);
  const issues = models.flatMap(({ name }, index) =>
    models.findIndex((one) => one.name === name) === index ? [] : [sameName(name, index, where)],
  );
  if (models.length === 0) {
    issues.push({ path: `${where} options.models`, message: 'has no model. Give at least one.' });
  }
  if (issues.length > 0) throw new BreakerboxConfigError(issues);
  const handles = models.map(({ name, group }, index) =>
    declare({ name, group, hasFallback: index < models.length - 1 }),
  );
  const moved = models.flatMap(({ name }, index) =>
    handles[index] === undefined ? [otherKey(name, index, where)] : [],
  );
  if (moved.length > 0) throw new BreakerboxConfigError(moved);
  const primary = handles[0]?.name ?? '';
  return {
    agent: box.agent,
    session,
    unixNow,
    limitsUsage,
    limits: limitsOf(options),
    options,
    candidates: models.map(({ model, name, provider, modelId, key }, index) => ({
      given: model,
      model: name,
      provider,
      modelId,
      isOfFirst: provider === models[0]?.provider,
      hasFirstKey: provider === models[0]?.provider && key === models[0].key,
      index,
      handle: handles[index] as ModelHandle,
      primary,
    })),
  };
};

const sameName = (name: string, index: number, where: string) => ({
  path: `${where} options.models[${index}]`,
  message: `has the name '${name}', as a model before it. Each circuit needs a name of its own. Set name and, if it has another key or account, key, such as { model, name: '${name}@eu', key: 'eu' }.`,
});

const otherKey = (name: string, index: number, where: string) => ({
  path: `${where} options.models[${index}]`,
  message: `has the name '${name}', which this box knows with another provider or key. A circuit belongs to one key, so that a bad key of one tenant stops no other. Set name, such as { model, name: '${name}@tenant-b', key: 'tenant-b' }.`,
});

/** Services that pass calls on to the provider that the id of the model begins with. */
const ROUTERS: ReadonlySet<string> = new Set([
  'gateway',
  'helicone',
  'litellm',
  'openrouter',
  'portkey',
  'requesty',
  'vercel',
]);

/**
 * The circuit that a model shares with others (L2): of its provider and key. Behind a router that is the upstream provider, so that an
 * outage of one opens no other.
 */
export const groupOf = (provider: string, modelId: string, key: string | undefined): string => {
  const upstream =
    ROUTERS.has(provider) && modelId.includes('/') ? `${provider}/${modelId.split('/', 1)[0]}` : provider;
  return key === undefined ? upstream : `${upstream}/${key}`;
};

/** What ids of providers end with: the API that a model is called by. */
const API = /\.(?:chat|completions?|converse|generative-ai|interactions|language-model|messages|responses)$/;

/**
 * The provider of an id, such as `openai` of `openai.responses`: all before the name of an API. `google.vertex` is another provider than
 * `google`, because it has another key.
 */
export const providerOf = (id: string): string => id.replace(API, '') || 'unknown';
