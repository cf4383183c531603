/**
 * Serves a stdio server on streamable HTTP, so that the conformance suite can speak to it. Messages go through as they are, in both
 * protocol eras: nothing of an SDK is between the suite and the process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly _meta?: Record<string, unknown>; readonly progressToken?: unknown };
  readonly error?: { readonly code: number };
}

const REVISION = 'io.modelcontextprotocol/protocolVersion';
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

/** A process, and the HTTP requests that wait for it. */
class Connection {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<unknown, { readonly to: ServerResponse; readonly token: unknown }>();
  listener: ServerResponse | undefined;

  constructor(command: string, args: readonly string[]) {
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    if (this.#child.stdout) createInterface({ input: this.#child.stdout }).on('line', (line) => this.#receive(line));
    this.#child.on('exit', () => this.end());
  }

  /** Two clients may use the same id at the same time. */
  isBusyWith({ id, params }: Message): boolean {
    const token = params?._meta?.progressToken;
    return this.#waiting.has(id) || [...this.#waiting.values()].some((one) => one.token === (token ?? one));
  }

  send(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  ask(message: Message, line: string, to: ServerResponse): void {
    this.#waiting.set(message.id, { to, token: message.params?._meta?.progressToken });
    to.on('close', () => {
      if (this.#waiting.delete(message.id) && !to.writableEnded)
        this.send(
          JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: message.id } }),
        );
    });
    this.send(line);
  }

  end(): void {
    for (const { to } of this.#waiting.values()) to.destroy();
    this.listener?.end();
    this.#child.stdin?.end();
  }

  async over(): Promise<void> {
    this.end();
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit');
  }

  #receive(line: string): void {
    const message = JSON.parse(line) as Message;
    if (message.method === undefined) this.#answer(message, line);
    else this.#tell(message, line);
  }

  /** A notification or a request of the server goes where the request goes that it belongs to. */
  #tell(message: Message, line: string): void {
    const about = message.params?._meta?.[SUBSCRIPTION];
    const token = message.params?.progressToken;
    const all = [...this.#waiting.values()];
    const found =
      about === undefined ? all.find((one) => token !== undefined && one.token === token) : this.#waiting.get(about);
    const to = found?.to ?? all.at(-1)?.to ?? this.listener;
    if (to !== undefined) event(to, line);
  }

  #answer({ id, error }: Message, line: string): void {
    const found = this.#waiting.get(id);
    if (found === undefined) return;
    this.#waiting.delete(id);
    const { to } = found;
    if (to.headersSent) {
      event(to, line);
      to.end();
      return;
    }
    const isStateless = !to.hasHeader('mcp-session-id');
    const status = isStateless && error !== undefined ? (error.code === -32_601 ? 404 : 400) : 200;
    to.writeHead(status, { 'content-type': 'application/json' }).end(line);
  }
}

const event = (to: ServerResponse, line: string): void => {
  if (!to.headersSent) to.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  to.write(`event: message\ndata: ${line}\n\n`);
};

/** Serves the command. Each session of a client gets a process; the requests of the stateless protocol share processes. */
export const serveOverHttp = async (command: string, ...args: string[]) => {
  const all: Connection[] = [];
  const sessions = new Map<string, Connection>();
  /** By revision: the first message of a connection decides about its era. */
  const shared = new Map<unknown, Connection[]>();
  const connection = (): Connection => {
    const made = new Connection(command, args);
    all.push(made);
    return made;
  };

  const stateless = (message: Message): Connection => {
    const revision = message.params?._meta?.[REVISION];
    const connections = shared.get(revision) ?? [];
    const free = connections.find((one) => !one.isBusyWith(message));
    if (free !== undefined) return free;
    const made = connection();
    shared.set(revision, [...connections, made]);
    return made;
  };

  const post = async (request: IncomingMessage, response: ServerResponse, id: string | undefined): Promise<void> => {
    let line = '';
    for await (const chunk of request.setEncoding('utf8')) line += chunk;
    const message = JSON.parse(line) as Message;
    const sessionId = message.method === 'initialize' ? crypto.randomUUID() : id;
    if (message.method === 'initialize') sessions.set(sessionId ?? '', connection());
    const to = sessionId === undefined ? stateless(message) : sessions.get(sessionId);
    if (to === undefined) return void response.writeHead(404).end();
    if (sessionId !== undefined) response.setHeader('mcp-session-id', sessionId);
    if (message.id !== undefined && message.method !== undefined) return to.ask(message, line, response);
    to.send(line);
    response.writeHead(202).end();
  };

  const server = createServer((request, response) => {
    const { host = '', origin } = request.headers;
    const isLocal = (name: string): boolean => /^(localhost|127\.0\.0\.1)(:\d+)?$/.test(name);
    if (!isLocal(host) || (origin !== undefined && !isLocal(origin.replace(/^https?:\/\//, ''))))
      return void response.writeHead(403).end();
    const id = request.headers['mcp-session-id'] as string | undefined;
    if (request.method === 'POST')
      return void post(request, response, id).catch(() => response.headersSent || response.writeHead(400).end());
    const session = sessions.get(id ?? '');
    if (session === undefined) return void response.writeHead(id === undefined ? 405 : 404).end();
    if (request.method === 'DELETE') {
      sessions.delete(id ?? '');
      session.end();
      return void response.writeHead(200).end();
    }
    session.listener = response;
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    response.flushHeaders();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    stop: async (): Promise<void> => {
      await Promise.all(all.map((one) => one.over()));
      server.closeAllConnections();
      server.close();
    },
  };
};
