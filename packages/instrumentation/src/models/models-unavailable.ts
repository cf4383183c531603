import type { ErrorCategory } from '@breakerbox/core';
import { type LimitView, unansweredText } from '@breakerbox/core/internal';

/** A model that did not answer. */
export interface UnansweredModel {
  /** `PROVIDER/MODEL`. */
  readonly model: string;
  /** `failed`: it was called. `skipped`: its circuit is open, or that of its provider. `unsupported`: it cannot carry a tool of the call, or a conversation that another provider keeps. */
  readonly why: 'failed' | 'skipped' | 'unsupported';
  /** What it failed with, now or when its circuit opened. */
  readonly category?: ErrorCategory | undefined;
  /** HTTP status of its answer. */
  readonly status?: number | undefined;
  /** Unix milliseconds from which it may be called again; undefined if it may be called now. */
  readonly untilUnixMs?: number | undefined;
  /** An operator or a setting forced its circuit open, so that no probe is made. */
  readonly isForced?: boolean;
  /** Only the key of this tenant is skipped: it was refused, or its quota or limit is reached. */
  readonly isOfTenant?: boolean;
}

/**
 * No model of the list answered (L5). The message says which models are unavailable, why, and until when. `cause` is the error of the
 * first model that was called; undefined if all were skipped. SDKs do not retry it, because a retry would be skipped as well.
 *
 * @example
 * ```ts
 * try {
 *   return await generateText({ model, maxRetries: 0, prompt });
 * } catch (error) {
 *   if (error instanceof ModelsUnavailableError) return reportOutage(error.models);
 *   throw error;
 * }
 * ```
 */
export class ModelsUnavailableError extends Error {
  override readonly name = 'ModelsUnavailableError';
  readonly code = 'BREAKERBOX_MODELS_UNAVAILABLE';
  /** For retries of SDKs that ask. */
  readonly isRetryable = false;
  readonly models: readonly UnansweredModel[];

  constructor(models: readonly UnansweredModel[], cause?: unknown) {
    super(`No model answered. ${models.map(sentence).join(' ')}`, ...(cause === undefined ? [] : [{ cause }]));
    this.models = models;
  }
}

const IT_FAILS = 'it fails';

const WORDS: Readonly<Record<ErrorCategory, string>> = {
  network: 'it cannot be reached or its answer was cut off',
  timeout: 'it did not answer in time',
  rate_limit: 'its rate limit is reached',
  permission: 'its key is missing, wrong or not allowed to use it',
  resource: 'its credit or quota is used up',
  server: 'its provider answers with errors',
  unusable: 'its provider does not have this model',
  invalid_input: 'it does not accept this request',
  filesystem: IT_FAILS,
  unknown: IT_FAILS,
  denied: IT_FAILS,
  cancelled: IT_FAILS,
  tool_error: IT_FAILS,
};

const sentence = ({ model, why, category, status, untilUnixMs, isForced, isOfTenant }: UnansweredModel): string => {
  if (why === 'unsupported')
    return `${model} was skipped, because it cannot carry a tool or a conversation of another provider.`;
  if (isForced && why === 'skipped')
    return `${model} is unavailable: its circuit is forced open by an operator or a setting.`;
  if (isOfTenant)
    return `${model} is unavailable for this tenant: its key was refused, or its quota or rate limit is reached.`;
  const code = status === undefined ? '' : ` (HTTP ${status})`;
  const words = category === undefined ? IT_FAILS : WORDS[category];
  const until = untilUnixMs === undefined ? '' : ` It is skipped until ${new Date(untilUnixMs).toISOString()}.`;
  return `${model} ${why === 'failed' ? 'failed' : 'is unavailable'}: ${words}${code}.${until}`;
};

/**
 * No model was asked: the run has reached one of its limits, and the model has no answer left (D2). The root of a tree has one more after that, so
 * that the run can report, and a sub-agent has one if enough was kept for it (D3).
 * `session.extend()` lets the run go on. SDKs do not retry it.
 *
 * @example
 * ```ts
 * if (error instanceof RunLimitError) session.extend(error.limit, 50_000);
 * ```
 */
export class RunLimitError extends Error {
  override readonly name = 'RunLimitError';
  readonly code = 'BREAKERBOX_RUN_LIMIT';
  readonly isRetryable = false;
  /** The limit that is reached. */
  readonly limit: LimitView['limit'];

  constructor(view: LimitView) {
    super(
      `No model was asked: ${unansweredText(view)}, and its model has no answer left. Extend the limit by session.extend('${view.limit}', …), or end the run.`,
    );
    this.limit = view.limit;
  }
}

/**
 * The answer of a model ended too early, took too long, was empty, or had an error in it (L3, L4). `cause`: the error that the provider sent, if
 * it did.
 */
export class ModelStreamError extends Error {
  override readonly name = 'ModelStreamError';
  readonly code = 'BREAKERBOX_MODEL_STREAM';
  /** `PROVIDER/MODEL`. */
  readonly model: string;
  readonly isRetryable = false;

  constructor(model: string, what: string, cause?: unknown) {
    super(`${model} ${what}`, ...(cause === undefined ? [] : [{ cause }]));
    this.model = model;
  }
}
