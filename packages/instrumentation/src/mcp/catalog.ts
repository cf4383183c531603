import { titleOf } from '../judging.ts';

/** The part of an MCP client that is used here. The clients of SDK 1 and SDK 2 both have it. */
export interface McpClient {
  callTool(params: { name: string }, ...rest: never[]): Promise<unknown>;
  listTools(params?: { cursor?: string }, ...rest: never[]): Promise<unknown>;
}

/** The tools of a server that its lists have shown. */
export interface Catalog {
  /** Reads a list, or a page of one, that the server gave. Returns the names in it. */
  record(list: unknown): readonly string[];
  /** The tool's title, if a list of the server had one. */
  titleOf(name: string): string | undefined;
  /** Whether a list of the server had the tool. */
  lists(name: string): boolean;
  /** Whether the server has a tool; `unknown` if only the server's list can tell. */
  has(name: string): boolean | 'unknown';
  /**
   * Asks the server for its list, then answers. Also true if the list fails or takes longer than `ms` milliseconds.
   *
   * @throws the signal's reason when it fires.
   */
  request(name: string, ms: number, signal?: AbortSignal): Promise<boolean>;
}

/** Milliseconds that a server has to give its list, so that a hanging server cannot delay a call for long. */
export const LIST_MS = 5_000;
/** Milliseconds without a new request after a server did not give its list. */
const RETRY_LIST_MS = 30_000;
/** Most pages of a list that are read. A server could give cursors without end. */
const MAX_PAGES = 64;
/**
 * Most names kept that are not on the list. For each new one the list is read again, because the server may have a new tool. Beyond this
 * number the model is making names up, and only lists that the agent asks for add tools.
 */
const MAX_ABSENT = 100;
/** Milliseconds until those names are forgotten. Servers add tools while they run, and need not report it (`tools/list_changed`). */
const ABSENT_MS = 30_000;

/** Catalogs by client, because many sessions may share one. */
const catalogs = new WeakMap<McpClient, Catalog>();

/** The catalog of a client's server. */
export const catalogOf = (client: McpClient): Catalog => {
  const found = catalogs.get(client);
  if (found !== undefined) return found;
  const made = createCatalog(client);
  catalogs.set(client, made);
  return made;
};

const createCatalog = (client: McpClient): Catalog => {
  const names = new Map<string, string | undefined>();
  const absent = new Set<string>();
  let listing: Promise<boolean> | undefined;
  let silentUntilMs = 0;
  let absentUntilMs = 0;

  const record = (list: unknown): readonly string[] => {
    const tools = readPage(list)?.tools ?? [];
    for (const tool of tools) {
      names.set(tool.name, titleOf(tool));
      absent.delete(tool.name);
    }
    return tools.map(({ name }) => name);
  };

  /** Whether the whole list could be read. */
  const readAll = async (): Promise<boolean> => {
    const endMs = performance.now() + LIST_MS;
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const leftMs = endMs - performance.now();
      const list = await within(requestList(client, cursor, leftMs), leftMs, undefined);
      record(list);
      const found = readPage(list);
      if (found?.nextCursor === undefined) return found !== undefined;
      cursor = found.nextCursor;
    }
    return false;
  };

  const read = async (): Promise<boolean> => {
    const complete = await readAll().catch(() => false);
    silentUntilMs = complete ? 0 : performance.now() + RETRY_LIST_MS;
    listing = undefined;
    return complete;
  };

  return {
    record,
    titleOf: (name) => names.get(name),
    lists: (name) => names.has(name),
    has: (name) => {
      if (names.has(name)) return true;
      if (!isName(name)) return false;
      if (performance.now() >= absentUntilMs) absent.clear();
      if (absent.has(name) || absent.size >= MAX_ABSENT) return false;
      return performance.now() < silentUntilMs || 'unknown';
    },
    request: async (name, ms, signal) => {
      listing ??= read();
      const complete = await within<boolean | 'late'>(listing, ms, 'late', signal);
      if (complete === 'late') silentUntilMs = performance.now() + RETRY_LIST_MS;
      if (names.has(name) || complete !== true) return true;
      if (absent.size === 0) absentUntilMs = performance.now() + ABSENT_MS;
      absent.add(name);
      return false;
    },
  };
};

/** The position of the options in an SDK's methods, after the parameters. In SDK 1 a result schema comes before them. */
export const optionsPosition = (client: McpClient): 0 | 1 =>
  // Only SDK 2 has protocol eras.
  typeof (client as { getProtocolEra?: unknown }).getProtocolEra === 'function' ? 0 : 1;

/**
 * Replaces SDK 1's schema of a list, which is not available without the SDK. `readPage` checks the result. Early versions call `parse`,
 * later ones `safeParse`.
 */
const anyResult = { parse: (data: unknown) => data, safeParse: (data: unknown) => ({ success: true, data }) };

/**
 * Requests a page of the list. For an SDK's own client this bypasses `listTools`, which would store output schemas and then reject results
 * that do not match them. A tool that works without Breakerbox would then fail (E3). Any other client is asked by its `listTools`, since
 * it may give tools other names than the server does.
 */
const requestList = async (client: McpClient, cursor: string | undefined, timeout: number): Promise<unknown> => {
  const params = cursor === undefined ? undefined : { cursor };
  if (!isSdkOwn(client)) return client.listTools(params);
  const message = { method: 'tools/list', ...(params && { params }) };
  // In SDK 1 a signal would stay on the request, and cancel it after it is over.
  return optionsPosition(client) === 0
    ? client.request(message, { timeout })
    : client.request(message, anyResult, { timeout });
};

type SdkClient = McpClient & { request(...given: unknown[]): unknown };

/** Whether an SDK's own methods call and list tools, and not those of a subclass or a proxy. */
const isSdkOwn = (client: McpClient): client is SdkClient => {
  const sdk = ownerOf(client, 'getServerCapabilities'); // Only an SDK's class has it.
  return (
    sdk !== undefined &&
    typeof (client as Partial<SdkClient>).request === 'function' &&
    (['listTools', 'callTool'] as const).every((key) => ownerOf(client, key) === sdk && client[key] === sdk[key])
  );
};

/** The object on the prototype chain that has a member. */
const ownerOf = (client: McpClient, key: PropertyKey): McpClient | undefined => {
  let owner: McpClient | null = client;
  while (owner !== null && !Object.hasOwn(owner, key)) owner = Object.getPrototypeOf(owner) as McpClient | null;
  return owner ?? undefined;
};

/**
 * Waits for a promise until the time is over or the signal fires, even if the promise ignores both.
 *
 * @throws the signal's reason.
 */
const within = async <Value>(
  promise: Promise<Value>,
  ms: number,
  late: Value,
  signal?: AbortSignal,
): Promise<Value> => {
  let stop = (): void => {};
  const stopped = new Promise<Value>((resolve, reject) => {
    const timer = setTimeout(() => resolve(late), ms);
    const giveUp = (): void => reject(signal?.reason);
    signal?.addEventListener('abort', giveUp);
    stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
    };
  });
  try {
    return await Promise.race([promise, stopped]);
  } finally {
    stop();
  }
};

interface Page {
  readonly tools: readonly { readonly name: string }[];
  readonly nextCursor: string | undefined;
}

/** Undefined if it is not a list. */
const readPage = (list: unknown): Page | undefined => {
  const { tools, nextCursor } = (list ?? {}) as { tools?: unknown; nextCursor?: unknown };
  if (!Array.isArray(tools)) return undefined;
  return {
    tools: tools.filter((tool: { name?: unknown } | null) => isName(tool?.name)),
    nextCursor: typeof nextCursor === 'string' ? nextCursor : undefined,
  };
};

/** Whether a circuit can have this name. */
const isName = (name: unknown): name is string => typeof name === 'string' && name.trim() !== '';
