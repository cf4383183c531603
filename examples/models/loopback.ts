import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A model's HTTP API on loopback, that answers by a script. What it is asked goes nowhere. */
export interface ScriptedApi {
  /** For the variable that tells the provider's client where its API is. */
  readonly url: string;
  /** The texts of all tool results in the last request that the script answered, in order; what is no text as JSON. */
  heard(): readonly string[];
  stop(): Promise<void>;
}

/** What a client asked, without its headers: they hold a key. */
export interface Asked {
  readonly path: string;
  /** Empty where there was none. */
  readonly body: string;
}

/** Serves on a port that is free, until `stop`. */
export const serveOnLoopback = async (
  answer: (asked: Asked) => Response | Promise<Response>,
): Promise<Omit<ScriptedApi, 'heard'>> => {
  const server = createServer(async (request, response) => {
    const reply = await answer({ path: request.url ?? '/', body: await textIn(request) });
    response.writeHead(reply.status, Object.fromEntries(reply.headers)).end(await reply.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** A stream of server-sent events, all at once; objects as JSON, named by their `type`. */
export const eventStream = (events: readonly (string | object)[]): Response =>
  new Response(events.map(frame).join(''), { headers: { 'content-type': 'text/event-stream' } });

const frame = (event: string | object): string => {
  if (typeof event === 'string') return `data: ${event}\n\n`;
  const name = 'type' in event ? `event: ${event.type}\n` : '';
  return `${name}data: ${JSON.stringify(event)}\n\n`;
};

const textIn = async (request: IncomingMessage): Promise<string> => {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
};
