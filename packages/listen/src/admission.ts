import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isIPv6, type Socket } from 'node:net';
import { type Connection, createPlaces } from './places.ts';

/** How many connections there may be at a time. */
export interface Places {
  /** Of clients that have not shown who they are. */
  readonly unknown: number;
  /** Of known clients, which the unknown ones cannot take. 0 where a client never shows who it is. */
  readonly known: number;
}

/**
 * Which connections of a server stay open. An unknown client cannot keep a known one out: a new connection replaces the unknown one that has
 * been silent longest, an answer to an unknown client is the last one of its connection, and known clients have places of their own. A client cannot keep another one out: the client with most connections
 * gives way.
 */
export interface Admission {
  /** Applies this to the connections of a server. */
  watch(server: Server): void;
  /** The client of a connection is known from now on. False if there is no place: then answer, and close the connection. */
  recognize(socket: Socket | undefined, client: string): boolean;
  /** The answer on this connection is a stream that its client can ask for again, so it gives way like a silent one. */
  giveWay(socket: Socket): void;
}

/** No connection yet. */
export const createAdmission = (most: Places): Admission => {
  const unknown = createPlaces(most.unknown);
  const known = createPlaces(most.known);
  const bySocket = new WeakMap<Socket, Connection>();
  /** The answers that a connection waits for, of requests that do not ask for its end. */
  const awaited = new WeakMap<Connection, Set<ServerResponse>>();
  /**
   * Where clients can become known, the unknown ones have not earned that a request of theirs protects them, nor that their connection stays
   * open after its answer: it would count as a new one then, and never be the oldest.
   */
  const isProtected = (connection: Connection): boolean => most.known === 0 || known.has(connection);

  const enter = (socket: Socket): void => {
    const connection: Connection = { socket, client: networkOf(socket.remoteAddress), isBusy: false };
    if (!unknown.take(connection)) return void socket.destroy();
    bySocket.set(socket, connection);
    socket.once('close', () => {
      // Known only after it has closed, it would keep its place for ever.
      bySocket.delete(socket);
      bySocket.delete(connection.socket);
      unknown.leave(connection);
      known.leave(connection);
    });
  };
  /** Over TLS a request has another socket than its connection. */
  const secured = (socket: Socket, raw: Socket): void => {
    const connection = bySocket.get(raw);
    if (connection === undefined) return void socket.destroy();
    connection.socket = socket;
    bySocket.set(socket, connection);
  };
  const asked = (request: IncomingMessage, response: ServerResponse): void => {
    const connection = bySocket.get(request.socket);
    if (connection === undefined) return;
    const protect = (): void => {
      connection.isBusy = isProtected(connection);
    };
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
    // A request whose body does not come would keep its place.
    if (length === undefined && coding === undefined) protect();
    else request.once('end', protect);
    const answers = awaited.get(connection) ?? new Set();
    awaited.set(connection, response.shouldKeepAlive ? answers.add(response) : answers);
    if (!isProtected(connection)) response.shouldKeepAlive = false;
    response.once('close', () => {
      request.off('end', protect);
      answers.delete(response);
      connection.isBusy = false;
      unknown.rest(connection);
      known.rest(connection);
    });
  };
  return {
    watch: (server) => {
      server.on('connection', enter).on('secureConnection', secured).prependListener('request', asked);
    },
    recognize: (socket, client) => {
      const connection = socket && bySocket.get(socket);
      if (connection === undefined) return true; // It has closed. Or it is not of the server, as in a test of an app.
      if (known.has(connection) && connection.client === client) return true;
      unknown.leave(connection);
      known.leave(connection);
      connection.client = client;
      connection.isBusy = known.take(connection);
      if (connection.isBusy) for (const answer of awaited.get(connection) ?? []) answer.shouldKeepAlive = true;
      return connection.isBusy;
    },
    giveWay: (socket) => {
      const connection = bySocket.get(socket);
      if (connection !== undefined) connection.isBusy = false;
    },
  };
};

/** Whom an address counts for. Of IPv6 a client has a network of its own, with as many addresses as it likes. */
export const networkOf = (address = 'socket'): string => {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? [];
  const groups = head.split(':').filter(Boolean);
  const after = tail?.split(':').filter(Boolean) ?? [];
  const zeros = tail === undefined ? [] : Array<string>(8 - groups.length - after.length).fill('0');
  return `${[...groups, ...zeros, ...after].slice(0, 4).join(':')}::/64`;
};
