import { titleOf } from './judging.ts';

/** The part of an MCP client that is used here; those of SDK 1 and SDK 2 both have it. */
export interface McpClient {
  callTool(params: { name: string }, ...rest: never[]): Promise<unknown>;
  listTools(params?: { cursor?: string }, ...rest: never[]): Promise<unknown>;
}

/** Which tools a server has, as far as its lists have told. */
export interface Catalog {
  /** Takes note of a list, or a page of one, that the server gave; the names in it. */
  note(list: unknown): readonly string[];
  /** The tool's title, where a list of the server had one. */
  titleOf(name: string): string | undefined;
  /** Whether a list of the server had the tool. */
  lists(name: string): boolean;
  /** Whether the server has a tool; `ask` where it takes a look at the server's list to say so. */
  has(name: string): boolean | 'ask';
  /**
   * Asks the server for its list, then answers; true as well where the list can't be had, in `ms` milliseconds or at all.
   *
   * @throws the signal's reason when it fires.
   */
  ask(name: string, ms: number, signal?: AbortSignal): Promise<boolean>;
}

/** Milliseconds that a server gets to give its list, so that one which hangs can't hold up a call for long. */
export const LIST_MS = 5_000;
/** Milliseconds for which a server that didn't give its list isn't asked again. */
const DEAF_MS = 30_000;
/** Pages of a list that are read; a server might hand out cursors for ever. */
const MAX_PAGES = 64;
/**
 * Names not on the list that are kept. For each new one the list is read again, for the server may have gained a tool;
 * beyond so many the names are surely made up, and only lists that pass by bring new tools.
 */
const MAX_ABSENT = 100;
/** Milliseconds after which they are forgotten: servers gain tools while they run, and tell whom they like (`tools/list_changed`). */
const ABSENT_MS = 30_000;

/** Kept by client, because many sessions may share one. */
const catalogs = new WeakMap<McpClient, Catalog>();

/** What is known of a client's server. */
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
  let asking: Promise<boolean> | undefined;
  let deafUntilMs = 0;
  let absentUntilMs = 0;

  const note = (list: unknown): readonly string[] => {
    const tools = readPage(list)?.tools ?? [];
    for (const tool of tools) {
      names.set(tool.name, titleOf(tool));
      absent.delete(tool.name);
    }
    return tools.map(({ name }) => name);
  };

  /** Whether all of the list could be read. */
  const readAll = async (): Promise<boolean> => {
    const endMs = performance.now() + LIST_MS;
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const leftMs = endMs - performance.now();
      const list = await within(requestList(client, cursor, leftMs), leftMs, undefined);
      note(list);
      const found = readPage(list);
      if (found?.nextCursor === undefined) return found !== undefined;
      cursor = found.nextCursor;
    }
    return false;
  };

  const read = async (): Promise<boolean> => {
    const complete = await readAll().catch(() => false);
    deafUntilMs = complete ? 0 : performance.now() + DEAF_MS;
    asking = undefined;
    return complete;
  };

  return {
    note,
    titleOf: (name) => names.get(name),
    lists: (name) => names.has(name),
    has: (name) => {
      if (names.has(name)) return true;
      if (!isName(name)) return false;
      if (performance.now() >= absentUntilMs) absent.clear();
      if (absent.has(name) || absent.size >= MAX_ABSENT) return false;
      return performance.now() < deafUntilMs || 'ask';
    },
    ask: async (name, ms, signal) => {
      asking ??= read();
      const complete = await within<boolean | 'late'>(asking, ms, 'late', signal);
      if (complete === 'late') deafUntilMs = performance.now() + DEAF_MS;
      if (names.has(name) || complete !== true) return true;
      if (absent.size === 0) absentUntilMs = performance.now() + ABSENT_MS;
      absent.add(name);
      return false;
    },
  };
};

/** Where an SDK's methods take their options, after the parameters: SDK 1 has a result schema before them. */
export const optionsPosition = (client: McpClient): 0 | 1 =>
  // Only SDK 2 has protocol eras.
  typeof (client as { getProtocolEra?: unknown }).getProtocolEra === 'function' ? 0 : 1;

/**
 * Stands in for SDK 1's schema of a list, which isn't here without the SDK; `readPage` looks at what came. The early ones
 * call `parse`, the later `safeParse`.
 */
const anyResult = { parse: (data: unknown) => data, safeParse: (data: unknown) => ({ success: true, data }) };

/**
 * Asks for a page of the list. An SDK's client past `listTools`, because from what that brings it learns output schemas, and
 * refuses results that don't keep to them: a tool would fail that works without us (E3). Any other client by its
 * `listTools`, since it may give tools other names than the server does.
 */
const requestList = async (client: McpClient, cursor: string | undefined, timeout: number): Promise<unknown> => {
  const params = cursor === undefined ? undefined : { cursor };
  if (!isSdkOwn(client)) return client.listTools(params);
  const message = { method: 'tools/list', ...(params && { params }) };
  // A signal would stay on the request in SDK 1, and cancel it after it is over.
  return optionsPosition(client) === 0
    ? client.request(message, { timeout })
    : client.request(message, anyResult, { timeout });
};

type SdkClient = McpClient & { request(...given: unknown[]): unknown };

/** Whether what a client calls and lists is an SDK's own doing: not a subclass's, a proxy's or a stand-in's. */
const isSdkOwn = (client: McpClient): client is SdkClient => {
  const sdk = ownerOf(client, 'getServerCapabilities'); // Which only an SDK's class has.
  return (
    sdk !== undefined &&
    typeof (client as Partial<SdkClient>).request === 'function' &&
    (['listTools', 'callTool'] as const).every((key) => ownerOf(client, key) === sdk && client[key] === sdk[key])
  );
};

/** Where on the prototype chain a member stands. */
const ownerOf = (client: McpClient, key: PropertyKey): McpClient | undefined => {
  let owner: McpClient | null = client;
  while (owner !== null && !Object.hasOwn(owner, key)) owner = Object.getPrototypeOf(owner) as McpClient | null;
  return owner ?? undefined;
};

/**
 * A promise that gives up on time, or when the signal fires, whether or not what it waits for listens.
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

/** Undefined where it is no list. */
const readPage = (list: unknown): Page | undefined => {
  const { tools, nextCursor } = (list ?? {}) as { tools?: unknown; nextCursor?: unknown };
  if (!Array.isArray(tools)) return undefined;
  return {
    tools: tools.filter((tool: { name?: unknown } | null) => isName(tool?.name)),
    nextCursor: typeof nextCursor === 'string' ? nextCursor : undefined,
  };
};

/** A name that a circuit can have. */
const isName = (name: unknown): name is string => typeof name === 'string' && name.trim() !== '';
