import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { type Availability, BreakerboxConfigError, BreakerboxUsageError, type Precheck } from '@breakerbox/core';
import { watchEnd } from '@breakerbox/core/internal';
import { checkOptions, milliseconds, type OptionCheck } from './options.ts';

/** The part of an MCP client that a ping needs. The clients of SDK 1 and SDK 2 both have it. */
export interface PingableMcpClient {
  ping(options?: { timeout?: number }): Promise<unknown>;
}

/** Options of {@link mcpPing}. */
export interface McpPingOptions {
  /** Milliseconds that the server has to answer. Default 3,000, which is below core's limit of 5,000. */
  readonly timeoutMs?: number;
}

/** Options of {@link httpEndpoint}. */
export interface HttpEndpointOptions {
  /** Milliseconds that the server has to answer. Default 3,000, which is below core's limit of 5,000. */
  readonly timeoutMs?: number;
  /** Headers of the request, such as an API key. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds after which an answer is `degraded`. Below `timeoutMs`. Default: none; a slow answer is `available` too. */
  readonly degradedAfterMs?: number;
}

const TIMEOUT_MS = 3_000;
/** JSON-RPC's code for a method that the server does not have. That is an answer too. */
const METHOD_NOT_FOUND = -32_601;

/**
 * K4: available if the MCP server answers a ping, unavailable if it does not answer in time or is not connected. Give the client of
 * `@modelcontextprotocol/sdk` (1.x) or `@modelcontextprotocol/client` (2.x). If you reconnect, give a function that returns the
 * current client; while that function throws, the tool counts as available (K2).
 *
 * @throws BreakerboxUsageError when `client` is neither. The check itself throws it when the function returns no client.
 * @throws BreakerboxConfigError for options that can't work.
 *
 * @example
 * ```ts
 * const box = createBreakerbox({ agent: 'research-agent', tools: { read_file: { precheck: mcpPing(client) } } });
 * ```
 */
export const mcpPing = (
  client: PingableMcpClient | (() => PingableMcpClient),
  options: McpPingOptions = {},
): Precheck => {
  checkOptions('mcpPing()', options, { timeoutMs: duration });
  if (typeof client !== 'function') checkClient(client, 'mcpPing()');
  const { timeoutMs = TIMEOUT_MS } = options;
  return () => {
    const what = 'the client function given to mcpPing()';
    const current = typeof client === 'function' ? client() : client;
    watchEnd(what, current);
    checkClient(current, what);
    return ping(current, timeoutMs);
  };
};

/**
 * K4: available if the endpoint answers a GET with a status below 500 (a 404 or 401 comes from a server that works), unavailable
 * on 5xx and without an answer. Redirects count as answers and are not followed. The body is not read.
 *
 * @throws BreakerboxUsageError when `url` is not an http or https URL.
 * @throws BreakerboxConfigError for options that can't work.
 *
 * @example
 * ```ts
 * const precheck = httpEndpoint('https://search.example/health', { degradedAfterMs: 1_000 });
 * ```
 */
export const httpEndpoint = (url: string | URL, options: HttpEndpointOptions = {}): Precheck => {
  checkOptions('httpEndpoint()', options, { timeoutMs: duration, headers, degradedAfterMs: duration });
  const { timeoutMs = TIMEOUT_MS, degradedAfterMs = Number.POSITIVE_INFINITY } = options;
  if (options.degradedAfterMs !== undefined && degradedAfterMs >= timeoutMs) {
    const message = `is ${degradedAfterMs}, but the check ends after ${timeoutMs} ms (timeoutMs). Lower it, or raise timeoutMs.`;
    throw new BreakerboxConfigError([{ path: 'httpEndpoint() options.degradedAfterMs', message }]);
  }
  const address = asAddress(url);
  // A copy, because the caller may change the object after the check.
  const sent = { ...options.headers };
  return async () => {
    const startMs = performance.now();
    try {
      const signal = AbortSignal.timeout(Math.ceil(timeoutMs)); // Only takes whole numbers.
      const { status, body } = await fetch(address, { headers: sent, redirect: 'manual', signal });
      const tookMs = performance.now() - startMs;
      await body?.cancel().catch(() => {}); // The status is known, so an error in the body does not matter.
      if (status >= 500) return 'unavailable';
      return tookMs > degradedAfterMs ? 'degraded' : 'available';
    } catch {
      return 'unavailable';
    }
  };
};

/**
 * K4: available if the file or folder exists and this process may read it. A folder has to be listable and enterable. A relative
 * path starts at the working directory at the time of the check.
 *
 * @throws BreakerboxUsageError when `path` is not a path.
 *
 * @example
 * ```ts
 * const precheck = readable('/data/notes');
 * ```
 */
export const readable = (path: string | URL): Precheck => {
  const isPath = typeof path === 'string' ? path !== '' && !path.includes('\0') : isFileUrl(path);
  if (!isPath) {
    throw new BreakerboxUsageError(
      'readable(): the argument is not a path, so there is nothing to check. Give the path of a file or folder, or its file: URL.',
    );
  }
  return async () => {
    try {
      const isFolder = (await stat(path)).isDirectory();
      await access(path, isFolder ? constants.R_OK | constants.X_OK : constants.R_OK);
      return 'available';
    } catch {
      return 'unavailable';
    }
  };
};

/**
 * K4: available if all of these environment variables are set and not empty. They are read at each check, and their values are
 * not sent anywhere.
 *
 * @throws BreakerboxUsageError when there is no name, or an empty one.
 *
 * @example
 * ```ts
 * const precheck = envSet('SEARCH_API_KEY');
 * ```
 */
export const envSet = (...names: readonly string[]): Precheck => {
  if (names.length === 0 || !names.every((name) => typeof name === 'string' && name !== '')) {
    throw new BreakerboxUsageError(
      'envSet(): each name must be a non-empty string, and at least one is needed. Give the names of environment ' +
        "variables, as in envSet('SEARCH_API_KEY').",
    );
  }
  return () => (names.every((name) => (process.env[name] ?? '') !== '') ? 'available' : 'unavailable');
};

/** Stops waiting in time, even if the client ignores its timeout. */
const ping = async (client: PingableMcpClient, timeoutMs: number): Promise<Availability> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Availability>((resolve) => {
    timer = setTimeout(() => resolve('unavailable'), timeoutMs);
    timer.unref(); // C10
  });
  // Not an AbortSignal: SDK 1 leaves its listener on one, and would cancel the ping after it is over.
  const answer = (async () => client.ping({ timeout: timeoutMs }))().then(
    () => 'available' as const,
    (error: { code?: unknown } | null | undefined) =>
      error?.code === METHOD_NOT_FOUND ? ('available' as const) : ('unavailable' as const),
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
};

const checkClient = (client: unknown, where: string): void => {
  if (typeof (client as Partial<PingableMcpClient> | null | undefined)?.ping === 'function') return;
  throw new BreakerboxUsageError(
    `${where}: got ${client === null ? 'null' : `a value of type ${typeof client}`}, which has no function ping, so no server can be pinged. ` +
      'Give a Client of @modelcontextprotocol/sdk or @modelcontextprotocol/client, or a function that returns one.',
  );
};

/** Leaves the address out of its errors, because it may contain a key. */
const asAddress = (url: string | URL): URL => {
  const address = URL.canParse(String(url)) ? new URL(String(url)) : undefined;
  if (address === undefined || !['http:', 'https:'].includes(address.protocol)) {
    throw new BreakerboxUsageError(
      'httpEndpoint(): did not get an http or https URL, so there is nothing to request. Give a complete URL, as in ' +
        "httpEndpoint('https://search.example/health').",
    );
  }
  if (address.username === '' && address.password === '') return address;
  throw new BreakerboxUsageError(
    'httpEndpoint(): got a URL with a user or password in it, which fetch refuses. Give them as options.headers.authorization.',
  );
};

const isFileUrl = (value: unknown): boolean => value instanceof URL && value.protocol === 'file:';

/** A valid timer duration. Leaving the option out does not turn the limit off here. */
const duration: OptionCheck = (value) =>
  milliseconds(value) === undefined
    ? undefined
    : `is ${typeof value === 'number' ? value : `of type ${typeof value}`}. Set milliseconds above 0 and below 2 ** 31, or leave it out.`;

const headers: OptionCheck = (value) => {
  try {
    const isRecord =
      typeof value === 'object' && value !== null && Object.values(value).every((one) => typeof one === 'string');
    if (isRecord) new Headers(value as Record<string, string>);
    if (isRecord) return undefined;
  } catch {
    // The error of `Headers` quotes the rejected value, which may be a secret.
  }
  return 'has a name or a value that is not valid in an HTTP header. Set an object of strings by header name, or leave it out.';
};
