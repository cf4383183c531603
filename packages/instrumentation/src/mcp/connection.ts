import type { Permit, Settlement } from '@breakerbox/core';
import { read } from '@breakerbox/core/internal';
import { firstName } from '../groups.ts';
import type { Judge } from '../judging.ts';
import { hasMethod, orUndefined } from '../untrusted.ts';
import { isSessionLost } from './lost-session.ts';

/** The connection of an MCP client, or of a server object that holds one. */
export interface Connection {
  /**
   * Makes a call, and settles it if its transport ends. That is a failure of the group (C13), unless the caller closed the connection,
   * which cancels the calls under way. Any other end is not settled here.
   *
   * @param judge May give the meaning of a transport's error. Default: `network`.
   * @param costOf Reads from an error what the call cost, in tokens.
   */
  follow<Result>(
    permit: Permit,
    call: () => Promise<Result>,
    judge: Judge,
    costOf?: (error: unknown) => number | undefined,
  ): Promise<Result>;
  /** The transport that the client has now; undefined while it is not connected. */
  transport(): object | undefined;
}

/** Connections by client, because many sessions may share one. */
const connections = new WeakMap<object, Connection>();

/**
 * The connection of a client. From here on `close` of the client is watched, because nothing else tells a server that died from a
 * connection that the caller closed.
 *
 * @param owner The object with `close`.
 * @param clientOf Finds the SDK's client in it. Default: the owner itself.
 */
export const connectionOf = (owner: object, clientOf: (owner: object) => unknown = itself): Connection => {
  const found = connections.get(owner);
  if (found !== undefined) return found;
  const made = createConnection(owner, clientOf);
  connections.set(owner, made);
  return made;
};

/** The name that an MCP server gives itself; undefined until it is connected. */
export const serverNameOf = (client: unknown): string | undefined => {
  if (!hasMethod(client, 'getServerVersion')) return undefined;
  const server = orUndefined(() => (client as { getServerVersion(): unknown }).getServerVersion());
  const name = read(server, 'name');
  // It is read for each tool of the server.
  return firstName(typeof name === 'string' ? name.slice(0, MOST_NAME) : name);
};

/** Characters of a server's name that are read. */
const MOST_NAME = 512;

const itself = (owner: object): unknown => owner;

const createConnection = (owner: object, clientOf: (owner: object) => unknown): Connection => {
  /** The last transport seen. The SDK removes its own reference when the transport ends. */
  let last: object | undefined;
  const closed = new WeakSet<object>();

  const showsTransport = (): boolean => orUndefined(() => 'transport' in (clientOf(owner) as object)) === true;
  const now = (): object | undefined => {
    const transport = read(clientOf(owner), 'transport');
    return typeof transport === 'object' && transport !== null ? transport : undefined;
  };
  /** The transport that a call uses now; undefined for a client that has never been connected. */
  const begin = (): object | undefined => {
    last = now() ?? last;
    // For a client that shows no transport, the client itself is used in its place.
    return last ?? (showsTransport() ? undefined : owner);
  };

  begin();
  watchClose(owner, () => {
    const transport = begin();
    if (transport !== undefined) closed.add(transport);
  });

  /** The settlement of a call whose transport ended, or whose session was lost; undefined for any other error. */
  const settlementOf = (error: unknown, transport: object | undefined, judge: Judge): Settlement | undefined => {
    if (isSessionLost(error, transport))
      return { error, blames: 'group', verdict: judge.byOption(error) ?? { category: 'server' } };
    const end = endIn(error);
    if (end === undefined || transport === undefined) return undefined;
    // A server may use that code for other errors, such as one of its own connections.
    if (now() === transport) return undefined;
    if (!closed.has(transport))
      return { error, blames: 'group', verdict: judge.byOption(error) ?? { category: 'network' } };
    return end === 'closed' ? { outcome: 'ignored', category: 'cancelled' } : undefined;
  };

  return {
    transport: now,
    follow: async (permit, call, judge, costOf) => {
      const transport = begin();
      try {
        const result = await call();
        if (transport !== undefined) closed.delete(transport);
        return result;
      } catch (error) {
        const settlement = settlementOf(error, transport, judge);
        if (settlement) permit.settle({ ...settlement, tokens: costOf?.(error) });
        throw error;
      }
    },
  };
};

/** The errors of the SDKs for calls under way when the transport ends (`closed`), and for later ones (`absent`). */
const endIn = (error: unknown): 'closed' | 'absent' | undefined => {
  const code = read(error, 'code');
  const message = read(error, 'message');
  if (code === 'CONNECTION_CLOSED') return 'closed';
  if (code === -32_000 && typeof message === 'string' && message.endsWith('Connection closed')) return 'closed';
  return code === 'NOT_CONNECTED' || message === 'Not connected' ? 'absent' : undefined;
};

/** Calls back when the caller closes. An object that cannot be watched, such as a frozen one, is left as it is. */
const watchClose = (owner: object, onClose: () => void): void => {
  const own: unknown = read(owner, 'close');
  if (typeof own !== 'function') return;
  const close = (...given: unknown[]): unknown => {
    onClose();
    return Reflect.apply(own, owner, given);
  };
  orUndefined(() => Reflect.defineProperty(owner, 'close', { value: close, writable: true, configurable: true }));
};
