import type { Breakerbox } from '@breakerbox/core';
import { read } from '@breakerbox/core/internal';
import { askModels } from '../models/ask-models.ts';
import { type Candidate, type GuardModelsOptions, listModels, type TenantOption } from '../models/candidates.ts';
import { MODEL_CHECKS } from '../models/guard-models.ts';
import type { ModelAttempt } from '../models/model-attempt.ts';
import { askWithHistory } from '../models/model-history.ts';
import { ModelsUnavailableError, RunLimitError } from '../models/models-unavailable.ts';
import { hasMethods, modelEntries, namedModel } from '../models/named-model.ts';
import { checkOptions } from '../options.ts';
import { orUndefined } from '../untrusted.ts';
import { checkVersion } from '../versions.ts';
import { guardedClient, isMessage } from './guarded-client.ts';
import { answeredStream, answeredWhole } from './message-answer.ts';
import { MESSAGES } from './message-history.ts';

/** A client of `@anthropic-ai/sdk`. */
export interface AnthropicClient {
  readonly baseURL: string;
  withOptions(options: never): unknown;
  post(path: string, options: never): { asResponse(): Promise<Response> };
}

/** A model of a provider that speaks Anthropic's Messages format. */
export interface AnthropicModelEntry<Model extends AnthropicClient> {
  /** Its client, which has address and key. */
  readonly client: Model;
  /** The name of the model at this provider. */
  readonly model: string;
  /** `PROVIDER/MODEL`. Needed where two models would have the same name. Default: the host of the client, or `anthropic`, and `model`. */
  readonly name?: string;
  /** The name of its API key, if models of one provider use several. Models with one key share a circuit. Default: one key. */
  readonly key?: string;
}

/** Options of {@link guardModels}. */
export interface GuardAnthropicModelsOptions<Model extends AnthropicClient>
  extends GuardModelsOptions,
    TenantOption<{ readonly headers: Headers; readonly metadata?: unknown }> {
  /** The models, the preferred one first. */
  readonly models: readonly AnthropicModelEntry<Model>[];
}

const entries = modelEntries(
  "{ client: new Anthropic(), model: 'claude-opus-5' }",
  ({ client, model }) => hasMethods(client, 'post', 'withOptions') && typeof model === 'string',
  false,
);

/** The body of a request for a message. */
interface MessageRequest {
  readonly model?: string;
  readonly stream?: boolean;
  readonly max_tokens?: number;
  readonly messages?: unknown;
  readonly metadata?: unknown;
  readonly thinking?: unknown;
  readonly thread?: unknown;
  readonly tools?: readonly { readonly type?: string }[];
}

/**
 * A client of Anthropic's SDK whose messages several models can answer: each has a circuit in the box, and if one is unavailable, the next
 * one answers (L1, L5). `messages`, `beta.messages` and the tool runner use it as any client, with the name of the first model. It does not
 * retry. All else, such as batches and counted tokens, goes to the first client.
 *
 * Another model answers only before the first visible part of a stream. The headers `breakerbox-model` and `breakerbox-position` of a
 * response say who answered. If no model is left, calls fail with the SDK's error for status 503, whose text says why.
 *
 * @throws BreakerboxConfigError for options that can't work.
 * @throws BreakerboxUsageError if `box` is not a box, or if the SDK is too old.
 *
 * @example
 * ```ts
 * const client = guardModels(box, {
 *   models: [
 *     { client: new Anthropic(), model: 'claude-opus-5' },
 *     { client: new Anthropic(), model: 'claude-haiku-5' },
 *   ],
 * });
 * await client.messages.create({ model: 'claude-opus-5', max_tokens: 1024, messages });
 * ```
 */
export const guardAnthropicModels = <Client extends AnthropicClient>(
  box: Breakerbox,
  options: GuardAnthropicModelsOptions<Client>,
): Client => {
  const checks = { ...MODEL_CHECKS, models: entries };
  checkOptions('guardModels()', { ...options, models: options?.models ?? null }, checks);
  checkVersion('@anthropic-ai/sdk', 'guardModels() of @breakerbox/instrumentation/anthropic');
  const named = options.models.map((one) => namedModel(one, one.name ?? `${hostOf(one.client)}/${one.model}`, one.key));
  const list = listModels(box, named, options, 'guardModels()');
  const [primary] = list.candidates as readonly [Candidate<AnthropicModelEntry<Client>>];
  const { client, model } = primary.given;
  const isAlone = list.candidates.length === 1;
  return guardedClient(client, !isAlone, async (url, init, call) => {
    const { pathname, search } = new URL(url);
    if (!isMessage(pathname)) {
      if (!asksForMessage(init.body)) return (read(client, 'fetch') as typeof globalThis.fetch)(url, init);
      return unknownAddress(pathname);
    }
    const body = JSON.parse(`${init.body}`) as MessageRequest;
    if (body.model !== model) return otherModel(model, body.model);
    const { signal } = call;
    return askModels(list, {
      signal,
      tenant: options.tenant?.({ headers: new Headers(init.headers), metadata: body.metadata }),
      maxOutputTokens: body.max_tokens,
      canCarry: ({ isOfFirst, hasFirstKey }) =>
        (isOfFirst || !hasProvidersTool(body)) && (hasFirstKey || read(body.thread, 'type') !== 'continue'),
      call: (candidate, attempt) =>
        askWithHistory(body.messages, MESSAGES, isAlone, async (messages, isCleaned) => {
          const { thinking, ...rest } = body;
          const own = { ...rest, ...(thinking !== undefined && !isCleaned && { thinking }), messages };
          // The time limit of a call is for each model. That of a client is its own.
          const timeout = call.limitMs === read(client, 'timeout') ? undefined : call.limitMs;
          const response = await attempt.wait(
            send(candidate, primary, `/v1/messages${search}`, own, { ...init, timeout }, attempt),
            limitOf(attempt, body),
          );
          return body.stream === true ? answeredStream(response, attempt, signal) : answeredWhole(response, attempt);
        }),
    }).catch(asResponse);
  });
};

const hostOf = ({ baseURL }: AnthropicClient): string => {
  const host = URL.canParse(baseURL) ? new URL(baseURL).host : 'unknown';
  return host === 'api.anthropic.com' ? 'anthropic' : host.replaceAll('.', '-');
};

const limitOf = ({ limits }: ModelAttempt, { stream }: MessageRequest): number =>
  stream === true ? Math.min(limits.firstByteMs, limits.firstChunkMs ?? limits.firstByteMs) : limits.attemptMs;

/** Tools that Anthropic runs. */
const hasProvidersTool = ({ tools = [] }: MessageRequest): boolean =>
  tools.some(({ type = 'custom' }) => type !== 'custom');

/** Each client sends its own. */
const SECRETS: ReadonlySet<string> = new Set(['x-api-key', 'authorization']);

/** The headers of the call may have its secrets, so other providers and keys get only what the format needs. */
const headersFor = (
  { given, hasFirstKey }: Candidate<AnthropicModelEntry<AnthropicClient>>,
  primary: Candidate<AnthropicModelEntry<AnthropicClient>>,
  headers: Headers,
): Record<string, string> =>
  Object.fromEntries(
    [...headers].filter(([name]) => {
      if (name === 'content-length') return false;
      if (!hasFirstKey) return name.startsWith('anthropic-');
      return given.client === primary.given.client || !SECRETS.has(name);
    }),
  );

const send = (
  candidate: Candidate<AnthropicModelEntry<AnthropicClient>>,
  primary: Candidate<AnthropicModelEntry<AnthropicClient>>,
  path: string,
  body: MessageRequest,
  { headers, timeout }: RequestInit & { readonly timeout: number | undefined },
  { signal }: ModelAttempt,
): Promise<Response> => {
  const { given } = candidate;
  const request = {
    body: { ...body, model: given.model },
    headers: headersFor(candidate, primary, new Headers(headers)),
    signal,
    maxRetries: 0,
    stream: body.stream === true,
    ...(timeout !== undefined && { timeout }),
  };
  return given.client.post(path, request as never).asResponse();
};

const problem = (status: number, type: string, message: string): Response =>
  Response.json({ type: 'error', error: { type, message } }, { status, headers: { 'x-should-retry': 'false' } });

const otherModel = (model: string, asked: string | undefined): Response =>
  problem(
    400,
    'invalid_request_error',
    `This client guards a list of models that begins with '${model}', and the request is for '${asked}'. Set model: '${model}', or make a client with guardModels() for the other one.`,
  );

/** Whether a body asks for a message. One that only counts its tokens has no limit for them, and one of a batch has several below it. */
const asksForMessage = (body: unknown): boolean => {
  if (typeof body !== 'string') return false;
  const asked = orUndefined(() => JSON.parse(body) as unknown);
  return Array.isArray(read(asked, 'messages')) && read(asked, 'max_tokens') !== undefined;
};

/** A client of a subclass that gives messages another address: unguarded, it would have no circuit and no other model. */
const unknownAddress = (path: string): Response =>
  problem(
    400,
    'invalid_request_error',
    `guardModels() does not know the address '${path}' for messages, so it can't guard them. Make the first client of a class of @anthropic-ai, such as AnthropicVertex.`,
  );

/** What the SDK makes its own error of, without a retry. What is not an answer is thrown. */
const asResponse = (error: unknown): Response => {
  if (error instanceof RunLimitError) return problem(403, 'permission_error', error.message);
  if (error instanceof ModelsUnavailableError) return problem(503, 'overloaded_error', error.message);
  const status = read(error, 'status');
  if (typeof status !== 'number') throw read(error, 'cause') ?? error;
  const body = read(error, 'error');
  const headers = new Headers(read(error, 'headers') as Headers | undefined);
  headers.set('x-should-retry', 'false');
  for (const name of ['content-encoding', 'content-length']) headers.delete(name);
  return new Response(body === undefined ? `${read(error, 'message')}` : JSON.stringify(body), { status, headers });
};
