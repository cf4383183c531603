import type { AddressInfo } from 'node:net';
import { closeServer, createAdmission, createShares, limitedServer, listening } from '@breakerbox/listen';
import { getRequestListener } from '@hono/node-server';
import { MOST_BODY } from '../guards.ts';
import { LOOPBACK } from '../listen-address.ts';
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
/** Connections of browsers that are not signed in, and of those that are. A browser opens up to 6. */
const PLACES = { unknown: 128, known: 64 } as const;
/** Streams of changes that a browser may have at a time, and that all of them may: the other places are for their actions. */
const STREAMS = { each: 8, all: 48 } as const;
/** Milliseconds for the headers of a request. */
const SILENT_MS = 4_000;
/** Requests of one connection that wait for an answer. */
const MOST_WAITING = 4;

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
  const admission = createAdmission(PLACES);
  const streams = createShares(STREAMS.each, STREAMS.all);
  const app = createConsoleApp({ signIn, watch, changes, page: files, hosts, admission, streams });
  const listener = getRequestListener(app.fetch);
  const server = limitedServer({
    listener,
    admission,
    silentMs: SILENT_MS,
    mostWaiting: MOST_WAITING,
    mostBody: MOST_BODY,
  });
  server.ref(); // The console is a program of its own.
  const address = (await listening(server, { host, port, exclusive: true })) as AddressInfo;
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
  const origin = behindProxy && hosts[0] !== undefined ? `https://${hosts[0]}` : originOf(address);
  const newLink = (): string => `${origin}/#token=${signIn.newToken()}`;
  return {
    url: newLink(),
    newLink,
    close: async () => {
      clearInterval(timer);
      watch.close();
      await closeServer(server);
    },
  };
};

const originOf = ({ address, family, port }: AddressInfo): string => {
  if (['0.0.0.0', '::'].includes(address)) return `http://localhost:${port}`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
};

export type { Target } from '../target.ts';
export type { ConsoleAction, ConsoleChange, ConsoleResult, ConsoleState, EndpointState } from './console-state.ts';
