import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttp2Server, type Http2Server, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';

/** A faulty OTLP backend. */
export type Backend = (request: IncomingMessage, response: ServerResponse) => void;

/** Words that a backend tries to write into our log. */
export const WORDS_OF_BACKEND = 'words-of-the-backend';

const MEGABYTE = Buffer.alloc(2 ** 20, 'x');

/** Backends by what they do. None of them answers as OTLP requires. */
export const BACKENDS: Readonly<Record<string, Backend>> = {
  'never answers': () => {},
  'answers 500': (_, response) => void response.writeHead(500).end(WORDS_OF_BACKEND),
  'answers 404': (_, response) => void response.writeHead(404).end(WORDS_OF_BACKEND),
  'answers 401 and says what it was asked': (request, response) =>
    void response.writeHead(401).end(JSON.stringify(request.headers)),
  'asks to wait for years': (_, response) => void response.writeHead(503, { 'retry-after': '999999999' }).end(),
  'asks to try again at once': (_, response) => void response.writeHead(503, { 'retry-after': '0' }).end(),
  'resets the connection': (request) => void request.socket.resetAndDestroy(),
  'sends us elsewhere': (_, response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
  'speaks no HTTP': (request) => void request.socket.end(`HTTP/9.9 999 ${WORDS_OF_BACKEND}\r\n\r\n`),
  'answers with headers without end': ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    for (let count = 0; count < 5_000; count += 1) socket.write(`x${count}: ${WORDS_OF_BACKEND}\r\n`);
  },
  'answers with a body without end': (_, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(MEGABYTE));
      response.once('drain', more);
    };
    response.writeHead(200);
    more();
  },
  'answers a byte at a time': (_, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'), 50);
    response.on('close', () => clearInterval(timer));
  },
};

/** The credentials from the request, in words that a plain search for the credentials would not find. */
const echoOf = (credentials = ''): string =>
  `${WORDS_OF_BACKEND} ${credentials} ${Buffer.from(credentials).toString('base64')}`;

/** Backends that echo the request in every place that OTLP over HTTP has for words. */
export const ECHOES: Readonly<Record<string, Backend>> = {
  'the body of a 401': BACKENDS['answers 401 and says what it was asked'] as Backend,
  'the reason of a 401': ({ headers }, response) => void response.writeHead(401, echoOf(headers.authorization)).end(),
  'the reason of a 503': ({ headers }, response) => void response.writeHead(503, echoOf(headers.authorization)).end(),
  'a partial success': ({ headers }, response) => {
    const partialSuccess = { errorMessage: echoOf(headers.authorization) };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ partialSuccess }));
  },
};

/** A backend on loopback. */
export interface RunningBackend extends AsyncDisposable {
  readonly url: string;
  /** Number of requests. */
  readonly asked: () => number;
}

/** Starts a server on loopback. `hangUp` ends its connections. */
const running = async (
  server: Server | Http2Server,
  asked: () => number,
  hangUp: () => void,
): Promise<RunningBackend> => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      hangUp();
      await closed;
    },
  };
};

export const startBackend = (answer: Backend): Promise<RunningBackend> => {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    for (const one of [request, response]) one.on('error', () => {}); // Clients close connections after such answers.
    request.resume();
    answer(request, response);
  });
  // Once per connection, which has many requests.
  server.on('connection', (socket) => socket.on('error', () => {}));
  return running(
    server,
    () => asked,
    () => server.closeAllConnections(),
  );
};

/** A backend that ends every gRPC call with this status, with the received credentials in the details. */
export const startGrpcEcho = (status: string): Promise<RunningBackend> => {
  let asked = 0;
  const sessions = new Set<ServerHttp2Session>();
  const server = createHttp2Server();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => {});
  });
  server.on('stream', (stream, { authorization }) => {
    asked += 1;
    stream.on('error', () => {});
    const message = encodeURIComponent(echoOf(authorization));
    const trailers = { 'content-type': 'application/grpc', 'grpc-status': status, 'grpc-message': message };
    stream.respond({ ':status': 200, ...trailers }, { endStream: true });
  });
  const hangUp = (): void => {
    for (const session of sessions) session.destroy();
  };
  return running(server, () => asked, hangUp);
};

/** An address on which no program listens. */
export const deadUrl = async (): Promise<string> => {
  const backend = await startBackend(() => {});
  await backend[Symbol.asyncDispose]();
  return backend.url;
};
