import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What one OTLP/HTTP request brought. */
export interface OtlpRequest {
  readonly path: string;
  readonly body: string;
}

/** A fake collector on loopback. */
export interface OtlpReceiver extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly OtlpRequest[];
  /** Resolves when something has been posted to the path. */
  received(path: string): Promise<OtlpRequest>;
}

/**
 * Starts a receiver that answers every export, as slowly as asked, or with `hang` one that takes them and never answers; with
 * `echo` one that refuses each with the credentials that it was sent; with `overloaded` one that asks to try again in 30 s; with
 * `endless` one whose answers never end.
 */
export async function startOtlpReceiver({
  hang = false,
  echo = false,
  overloaded = false,
  endless = false,
  answerAfterMs = 0,
} = {}): Promise<OtlpReceiver> {
  const requests: OtlpRequest[] = [];
  const waiting = new Set<() => void>();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    requests.push({ path: request.url ?? '', body });
    for (const check of waiting) check();
    if (hang) return;
    if (overloaded) return void response.writeHead(503, { 'retry-after': '30' }).end();
    if (endless) return void response.writeHead(200).write('{');
    const { authorization = '' } = request.headers;
    if (echo) return void response.writeHead(401, authorization).end(JSON.stringify(request.headers));
    const answer = (): void => void response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    if (answerAfterMs === 0) answer();
    else setTimeout(answer, answerAfterMs);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    received: (path) =>
      new Promise((resolve) => {
        const check = (): void => {
          const found = requests.find((request) => request.path === path);
          if (!found) return;
          waiting.delete(check);
          resolve(found);
        };
        waiting.add(check);
        check();
      }),
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
