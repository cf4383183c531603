/** The part of an MCP client that is used here; those of SDK 1 and SDK 2 both have it. */
export interface McpClient {
  callTool(params: { name: string }, ...rest: never[]): Promise<unknown>;
  listTools(params?: { cursor?: string }, options?: { signal?: AbortSignal }): Promise<unknown>;
}

/** Which tools a server has, as far as its lists have told. */
export interface Catalog {
  /** Takes note of a list, or a page of one, that the server gave; the names in it. */
  note(list: unknown): readonly string[];
  /** Whether the server has a tool; `ask` where it takes a look at the server's list to say so. */
  has(name: string): boolean | 'ask';
  /** Asks the server for its list, then answers; true as well where the list can't be had. */
  ask(name: string): Promise<boolean>;
}

/** Milliseconds that a server gets to give its list, so that one which hangs can't hold up a call for long. */
const LIST_MS = 5_000;
/** Pages of a list that are read; a server might hand out cursors for ever. */
const MAX_PAGES = 64;
/**
 * Names not on the list that are kept. For each new one the list is read again, for the server may have gained a tool;
 * beyond so many the names are surely made up, and only lists that pass by bring new tools.
 */
const MAX_ABSENT = 100;

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
  const names = new Set<string>();
  const absent = new Set<string>();
  let asking: Promise<boolean> | undefined;

  const note = (list: unknown): readonly string[] => {
    const tools = readPage(list)?.tools ?? [];
    for (const name of tools) {
      names.add(name);
      absent.delete(name);
    }
    return tools;
  };

  /** Whether all of the list could be read. */
  const readAll = async (): Promise<boolean> => {
    const signal = AbortSignal.timeout(LIST_MS);
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const list = await within(client.listTools(cursor === undefined ? undefined : { cursor }, { signal }), signal);
      note(list);
      const found = readPage(list);
      if (found?.nextCursor === undefined) return found !== undefined;
      cursor = found.nextCursor;
    }
    return false;
  };

  return {
    note,
    has: (name) => {
      if (names.has(name)) return true;
      return absent.has(name) || absent.size >= MAX_ABSENT ? false : 'ask';
    },
    ask: async (name) => {
      asking ??= readAll()
        .catch(() => false)
        .finally(() => {
          asking = undefined;
        });
      const complete = await asking;
      if (names.has(name) || !complete) return true;
      absent.add(name);
      return false;
    },
  };
};

/** A promise that gives up when the signal fires, whether or not what it waits for listens to the signal. */
export const within = async <Value>(promise: PromiseLike<Value>, signal: AbortSignal | undefined): Promise<Value> => {
  if (signal === undefined) return promise;
  let giveUp = (): void => {};
  const gaveUp = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason);
  });
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  try {
    return await Promise.race([promise, gaveUp]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
};

interface Page {
  readonly tools: readonly string[];
  readonly nextCursor: string | undefined;
}

/** Undefined where it is no list. */
const readPage = (list: unknown): Page | undefined => {
  const { tools, nextCursor } = (list ?? {}) as { tools?: unknown; nextCursor?: unknown };
  if (!Array.isArray(tools)) return undefined;
  return {
    tools: tools.map((tool: { name?: unknown } | null) => tool?.name).filter(isName),
    nextCursor: typeof nextCursor === 'string' ? nextCursor : undefined,
  };
};

/** A name that a circuit can have. */
const isName = (name: unknown): name is string => typeof name === 'string' && name.trim() !== '';
