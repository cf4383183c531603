import http from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { ErrorCategory } from '@breakerbox/core';
import axiosOfAll from 'axios';
import { onTestFinished, type TestContext } from 'vitest';
import type { ReadContext } from '../../classify/classify.ts';
import { classifyError } from './verdicts.ts';

/** The clock of every reading: a Retry-After that is a date is counted from here. */
export const NOW = { unixMs: Date.UTC(2026, 10, 20, 12, 0, 0) } as const satisfies ReadContext;

/** What `run` throws or rejects with. */
export async function thrownBy(run: () => unknown): Promise<unknown> {
  try {
    await run();
  } catch (error) {
    return error;
  }
  throw new Error('The call was to fail, and did not. Look at the server or the file that this test made.');
}

/** The category of what `run` throws, read without the signal that the call was given. */
export async function categoryOf(run: () => unknown): Promise<ErrorCategory> {
  return classifyError(await thrownBy(run), NOW).category;
}

/** Listens on a free port of loopback until the test ends, and says which. */
export async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** A URL where no server listens: the port was free a moment ago. */
export async function refusedUrl(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

/**
 * A server that fails as its path says: `/503` answers with the status, `/hang` never answers, `/drop` hangs up,
 * `/half` stops in the middle of the body, `/cut` hangs up there, `/html` answers with a page, `/empty` with nothing,
 * `/odd` with JSON of another kind.
 */
export async function failingUrl(headers: Record<string, string> = {}): Promise<string> {
  const server = http.createServer((request, response) => {
    const path = /^\/\w+/.exec(request.url ?? '')?.[0];
    if (path === '/hang') return;
    if (path === '/drop') request.socket.destroy();
    else if (path === '/html') response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Log in</html>');
    else if (path === '/empty') response.end();
    else if (path === '/odd') response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":"none"}');
    else if (path === '/half' || path === '/cut') {
      response.writeHead(200, { 'content-length': 100 });
      response.write('x', () => path === '/cut' && request.socket.destroy());
    } else response.writeHead(Number(path?.slice(1)), headers).end('{"error":{"message":"no"}}');
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

/** `node:http`, as a promise of the answer. */
export function get(url: string, options: http.RequestOptions = {}): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => http.get(url, options, resolve).on('error', reject));
}

/** axios, which would send loopback too through a proxy that the environment names. */
export const axios = axiosOfAll.create({ proxy: false });

/** Passes a test by, and says why, on a machine that has not what it takes. */
export function needs(context: TestContext, there: boolean, what: string): void {
  if (!there) context.skip(`This machine has no ${what}`);
}
