/** What the SDK's clients do with a request. Those of Bedrock and Vertex change its address, its body and its headers in some of these. */
interface Requests {
  prepareOptions(options: RequestOptions): Promise<void>;
  buildRequest(options: RequestOptions, more?: unknown): Promise<object>;
  prepareRequest(request: object, about: { readonly options: RequestOptions }): Promise<void>;
  backendMiddleware?(): readonly Middleware[];
  fetchWithTimeout(
    url: string,
    init: RequestInit | undefined,
    limitMs: number,
    controller: AbortController,
    ...more: readonly unknown[]
  ): Promise<Response>;
}

interface CopiedClient {
  withOptions(options: never): unknown;
}

interface RequestOptions {
  readonly path?: string;
}

type Middleware = (
  request: object,
  next: (request: object) => unknown,
  about: { readonly options?: RequestOptions },
) => unknown;

/** What a request says of its call. */
export interface MessageCall {
  /** It aborts when the caller leaves, with the caller's reason. */
  readonly signal: AbortSignal | undefined;
  /** The time limit of the call, or that of its client. Milliseconds. */
  readonly limitMs: number;
}

/** Whether a path is that of a request for a message. */
export const isMessage = (path = ''): boolean => /\/v1\/messages(?:\?|$)/.test(path);

/** As long as a timer can be. */
const NEVER_MS = 2 ** 31 - 1;

/**
 * A copy of a client that gives requests for messages to `fetch` as the SDK makes them: without the changes of Bedrock's and Vertex's clients,
 * because the client of each model makes its own; and without a time limit, because that limits each model.
 *
 * @param hasOthers whether other models can answer, which don't have the threads of the first one's server (L9)
 */
export const guardedClient = <Client extends CopiedClient>(
  client: Client,
  hasOthers: boolean,
  fetch: (url: string, init: RequestInit, call: MessageCall) => Promise<Response>,
): Client => {
  const calls = new WeakMap<AbortSignal, { readonly limitMs: number; readonly caller: AbortSignal | undefined }>();
  const base = baseOf(client);
  const Given = client.constructor as new (options: object) => Requests;
  /** A class of its own, because `withOptions` makes copies by the class. */
  class GuardedClient extends Given {
    constructor(options: object) {
      super(options);
      // With a thread, the SDK leaves out what the provider keeps of it.
      if (hasOthers) Object.assign(this, { _supportsMessageThreads: false });
    }

    override async prepareOptions(options: RequestOptions): Promise<void> {
      if (!isMessage(options.path)) await super.prepareOptions(options);
    }

    override buildRequest(options: RequestOptions, more?: unknown): Promise<object> {
      return isMessage(options.path) ? base.buildRequest.call(this, options, more) : super.buildRequest(options, more);
    }

    override async prepareRequest(request: object, about: { readonly options: RequestOptions }): Promise<void> {
      if (!isMessage(about.options.path)) await super.prepareRequest(request, about);
    }

    override backendMiddleware(): readonly Middleware[] {
      const given = super.backendMiddleware?.() ?? [];
      return given.map(
        (change): Middleware =>
          (request, next, about) =>
            isMessage(about.options?.path) ? next(request) : change(request, next, about),
      );
    }

    override fetchWithTimeout(
      url: string,
      init: RequestInit | undefined,
      limitMs: number,
      controller: AbortController,
      ...more: readonly unknown[]
    ): Promise<Response> {
      calls.set(controller.signal, { limitMs, caller: init?.signal ?? undefined });
      const isGuarded = isMessage(new URL(url).pathname);
      return super.fetchWithTimeout(url, init, isGuarded ? NEVER_MS : limitMs, controller, ...more);
    }
  }
  const fetchFor = (url: string, init: RequestInit = {}): Promise<Response> => {
    const { limitMs = NEVER_MS, caller } = (init.signal && calls.get(init.signal)) ?? {};
    return fetch(url, init, { limitMs, signal: withReason(init.signal ?? undefined, caller) });
  };
  const copy = client.withOptions({ fetch: fetchFor, maxRetries: 0 } as never) as Client;
  return (Object.setPrototypeOf(copy, GuardedClient.prototype) as Client).withOptions({} as never) as Client;
};

/** The prototype of the SDK's own class. */
const baseOf = (client: object): Requests => {
  let one = Object.getPrototypeOf(client) as object;
  for (let next = one; next !== Object.prototype; next = Object.getPrototypeOf(next) as object) one = next;
  return one as Requests;
};

/** The SDK passes an abort of the caller on, and leaves out its reason. */
const withReason = (signal: AbortSignal | undefined, caller: AbortSignal | undefined): AbortSignal | undefined => {
  if (signal === undefined) return undefined;
  const controller = new AbortController();
  const abort = (): void => controller.abort((caller?.aborted === true ? caller : signal).reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return controller.signal;
};
