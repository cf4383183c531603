import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { LOOPBACK, oneByOne } from '../listen.ts';
import type { Target } from '../target.ts';
import { createConsoleApp } from './console-app.ts';
import { watchEndpoints } from './endpoint-watch.ts';
import { mergeChanges } from './merged-changes.ts';
import { readPage } from './page-files.ts';
import { createSignIn } from './sign-in.ts';

export interface ConsoleOptions {
  /** The control endpoints. A function is asked again every 10 s, because processes come and go. */
  readonly targets: readonly Target[] | (() => readonly Target[]);
  /** Default `127.0.0.1`. */
  readonly host?: string | undefined;
  /** Default 0: any free port. */
  readonly port?: number | undefined;
  /** More names that browsers use for this console, such as that of a proxy. */
  readonly hosts?: readonly string[] | undefined;
  /** A proxy in front ends TLS. Without it, the console does not listen beyond this machine. */
  readonly behindProxy?: boolean | undefined;
  /** The folder of the built page. Default: the one in this package. */
  readonly page?: string | undefined;
}

/** A console that listens. */
export interface RunningConsole {
  /** The link to open. Its token is valid once and for 10 minutes. */
  readonly url: string;
  /** Another link, for another browser. */
  newLink(): string;
  close(): Promise<void>;
}

const TARGETS_MS = 10_000;

/**
 * Serves the operator's page over some control endpoints (A8). The browser gets none of their tokens.
 *
 * @throws Error if it cannot listen, if the address is beyond this machine without a proxy, or if the page is not built.
 *
 * @example
 * ```ts
 * const { url } = await startConsole({ targets: [{ url: 'unix:/run/agent.sock' }] });
 * process.stdout.write(`${url}\n`);
 * ```
 */
export const startConsole = async ({
  targets,
  host = '127.0.0.1',
  port = 0,
  hosts = [],
  behindProxy = false,
  page,
}: ConsoleOptions): Promise<RunningConsole> => {
  if (!behindProxy && !LOOPBACK.test(host))
    throw new Error(
      `the host is ${host}, which other machines can reach, so the page would cross the network unencrypted. Leave the host out. Or put a proxy that terminates TLS in front, and set behindProxy (--behind-proxy).`,
    );
  const signIn = createSignIn();
  const changes = mergeChanges();
  const files = readPage(page);
  const watch = watchEndpoints(changes.follow);
  const app = createConsoleApp({ signIn, watch, changes, page: files, hosts });
  const server = createServer(
    { requestTimeout: 10_000, headersTimeout: 5_000, connectionsCheckingInterval: 1_000 },
    oneByOne(getRequestListener(app.fetch)),
  );
  server.maxConnections = 100;
  await bound(server, host, port);
  const retarget = (): void => watch.setTargets(typeof targets === 'function' ? targets() : targets);
  retarget();
  const again = (): void => {
    try {
      retarget();
    } catch {
      // The list from before stays. The function is asked again.
    }
  };
  const timer = typeof targets === 'function' ? setInterval(again, TARGETS_MS) : undefined;
  timer?.unref();
  // Behind a proxy, the first name is that of the proxy.
  const origin = behindProxy && hosts[0] !== undefined ? `https://${hosts[0]}` : originOf(server);
  const newLink = (): string => `${origin}/#token=${signIn.newToken()}`;
  return {
    url: newLink(),
    newLink,
    close: async () => {
      clearInterval(timer);
      watch.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
};

const bound = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', reject);
      resolve();
    });
  });

const originOf = (server: Server): string => {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no address');
  if (['0.0.0.0', '::'].includes(address.address)) return `http://localhost:${address.port}`;
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
};

export type { Target } from '../target.ts';
export type { ConsoleAction, ConsoleChange, ConsoleResult, ConsoleState, EndpointState } from './console-state.ts';
