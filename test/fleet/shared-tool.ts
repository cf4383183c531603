import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A call that reached a tool. Times are of this process, so that calls of several processes can be compared. */
export interface Arrival {
  readonly tool: string;
  readonly process: string;
  readonly decision: string;
  readonly atMs: number;
  /** Undefined while it waits for its answer. */
  ok: boolean | undefined;
}

/** `hangs`: calls wait for an answer until `answer` is called. */
export type ToolState = 'works' | 'fails' | 'hangs';

/** The server of the tools that all agents share. It logs who calls what, and when. */
export interface SharedTool {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
  /** Sets the state of one tool. A tool that was never set works. */
  set(tool: string, state: ToolState): void;
  /** Answers the calls that wait. */
  answer(ok: boolean): void;
  close(): Promise<void>;
}

/** The answer of a tool whose backend is down. */
const UNAVAILABLE = 503;

/** Starts the server on loopback. */
export const startSharedTool = async (): Promise<SharedTool> => {
  const states = new Map<string, ToolState>();
  const arrivals: Arrival[] = [];
  const waiting = new Map<ServerResponse, Arrival>();
  const reply = (response: ServerResponse, arrival: Arrival, ok: boolean): void => {
    arrival.ok = ok;
    response.writeHead(ok ? 200 : UNAVAILABLE).end(ok ? 'done' : 'the backend is down');
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://tool');
    const tool = pathname.slice(1);
    const arrival: Arrival = {
      tool,
      process: searchParams.get('process') ?? '',
      decision: searchParams.get('decision') ?? '',
      atMs: performance.now(),
      ok: undefined,
    };
    arrivals.push(arrival);
    const state = states.get(tool) ?? 'works';
    if (state === 'hangs') waiting.set(response, arrival);
    else reply(response, arrival, state === 'works');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const answer = (ok: boolean): void => {
    for (const [response, arrival] of waiting) reply(response, arrival, ok);
    waiting.clear();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals,
    set: (tool, state) => void states.set(tool, state),
    answer,
    close: async () => {
      answer(false);
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
