import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Store } from '../airline/database.ts';
import { type Arguments, RequestError, runTool } from '../airline/tools.ts';
import { type Fate, PROVIDER } from './faults.ts';

/** The tools over HTTP, on loopback. They fail on the socket, as the header of the call says. */
export interface ToolServer {
  readonly url: string;
  /** The database that calls with this name in their header read and write from now on. */
  use(name: string, store: Store): void;
  close(): Promise<void>;
}

const send = (response: ServerResponse, status: number, body: string): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
};

/** What a fate does to an answer. `cut off`, `no JSON` and `empty` lose the answer of a call that was carried out. */
const fail: Readonly<Record<Exclude<Fate, 'refused'>, (response: ServerResponse, body: string) => void>> = {
  hang: () => {},
  'status 500': (response) => send(response, 500, '{"error":"Internal Server Error"}'),
  'status 503': (response) => send(response, 503, '{"error":"Service Unavailable"}'),
  'status 401': (response) => send(response, 401, '{"error":"Unauthorized"}'),
  'status 429': (response) => send(response, 429, '{"error":"Too Many Requests"}'),
  'cut off': (response, body) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length + 1 });
    response.write(body.slice(0, body.length / 2), () => response.destroy());
  },
  'no JSON': (response) => send(response, 200, 'Invalid response format'),
  empty: (response) => send(response, 200, ''),
};

const LOST_AFTER: readonly string[] = ['cut off', 'no JSON', 'empty'] satisfies Fate[];

export const startToolServer = async (): Promise<ToolServer> => {
  const stores = new Map<string, Store>();
  const answer = (name: string, given: Arguments, headers: IncomingHttpHeaders, response: ServerResponse): void => {
    const fate = String(headers['x-fate'] ?? '');
    const current = stores.get(String(headers['x-store']));
    if (fate !== '' && !LOST_AFTER.includes(fate)) {
      fail[fate as 'hang'](response, '');
      return;
    }
    if (name === PROVIDER) {
      send(response, 200, '{}');
      return;
    }
    try {
      if (current === undefined) throw new RequestError('There is no task');
      const body = JSON.stringify(runTool(current, name, given));
      if (fate === '') send(response, 200, body);
      else fail[fate as 'empty'](response, body);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      send(response, / not found$/.test(error.message) ? 404 : 422, JSON.stringify({ error: error.message }));
    }
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += String(piece);
    answer(request.url?.slice(1) ?? '', JSON.parse(body) as Arguments, request.headers, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    use: (name, store) => void stores.set(name, store),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
};
