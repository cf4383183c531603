import type { Socket } from 'node:net';

/** A connection, and the client that it counts for. */
export interface Connection {
  /** What ends it. Over TLS, the raw socket until the handshake is complete. */
  socket: Socket;
  /** The network of the client, or its name once it is known. */
  client: string;
  /** Whether a request waits for the end of its answer. A stream does so all the time. */
  isBusy: boolean;
}

/** Connections that share a number of places. */
export interface PlacesInUse {
  /** Takes a place. If all are taken, a connection of the client that has most gives way, or the answer is false. */
  take(newcomer: Connection): boolean;
  has(connection: Connection): boolean;
  leave(connection: Connection): void;
  /** From now on it counts as silent. */
  rest(connection: Connection): void;
}

/** No connection yet. */
export const createPlaces = (most: number): PlacesInUse => {
  /** The one that has been silent longest comes first. */
  const held = new Set<Connection>();
  return {
    take: (newcomer) => {
      if (held.size >= most) {
        const victim = givingWay([...held], newcomer.client);
        if (victim === undefined) return false;
        held.delete(victim);
        victim.socket.destroy();
      }
      held.add(newcomer);
      return true;
    },
    has: (connection) => held.has(connection),
    leave: (connection) => void held.delete(connection),
    rest: (connection) => {
      if (held.delete(connection)) held.add(connection);
    },
  };
};

/**
 * The connection that gives way to a newcomer. First a silent one of the client with most connections, if that client has at least as
 * many as the newcomer's. Then a busy one, if it leaves both clients with an equal number or the other one still with more.
 */
const givingWay = (held: readonly Connection[], client: string): Connection | undefined => {
  const counts = new Map<string, number>();
  for (const one of held) counts.set(one.client, (counts.get(one.client) ?? 0) + 1);
  const countOf = (one: Connection): number => counts.get(one.client) ?? 0;
  const most = (some: readonly Connection[]): Connection | undefined => {
    const largest = Math.max(...some.map(countOf));
    return some.find((one) => countOf(one) === largest);
  };
  const own = counts.get(client) ?? 0;
  const silent = most(held.filter((one) => !one.isBusy && countOf(one) >= own));
  return silent ?? most(held.filter((one) => countOf(one) > own + 1));
};
