import type { ModelAttempt } from '../models/model-attempt.ts';

/** A chat model of LangChain. */
export interface ChatModel {
  invoke(input: never, options?: never): Promise<unknown>;
  stream(input: never, options?: never): Promise<unknown>;
  bindTools?(tools: never, options?: never): unknown;
  getLsParams(options: never): { readonly ls_provider?: string; readonly ls_model_name?: string };
}

/** What a model becomes with tools or a schema. */
export interface ChatRunnable {
  invoke(input: unknown, options: object): Promise<unknown>;
  stream(input: unknown, options: object): Promise<AsyncIterable<unknown>>;
}

/** The part of a call's options that is read or changed. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  readonly options?: { readonly headers?: Readonly<Record<string, string>> };
  readonly promptIndex?: unknown;
}

/** Asks the models of a list, each prepared as the caller has prepared the guard. */
export type Ask = <Answer>(
  options: CallOptions,
  tools: readonly unknown[],
  prepare: (model: ChatModel) => ChatRunnable,
  run: (model: ChatRunnable, own: object, attempt: ModelAttempt) => Promise<Answer>,
) => Promise<Answer>;
