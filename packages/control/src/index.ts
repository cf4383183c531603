import { chmod, mkdir, unlink } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import type { Breakerbox } from '@breakerbox/core';
import { getRequestListener } from '@hono/node-server';
import { createApp } from './app.ts';
import { openAudit } from './audit.ts';
import { followChanges } from './changes.ts';
import { operated } from './state.ts';

export { createToken, type Role, readTokens, revokeToken } from './tokens.ts';

/** Where the control API listens: a Unix socket, or TCP with tokens. */
export type Listen =
  | { readonly socket?: string | undefined }
  | {
      readonly host?: string | undefined;
      readonly port: number;
      readonly tokens: string;
      readonly hosts?: readonly string[] | undefined;
    };

export interface ControlOptions {
  /** The boxes that operators see. Give them before their sessions begin. */
  readonly boxes: readonly Breakerbox[];
  /** Default: a socket in the runtime folder of the user, which `breakerbox ctl` finds. */
  readonly listen?: Listen | undefined;
  /** The audit file. Default: `audit.jsonl` beside the socket. */
  readonly audit?: string | undefined;
}

/** A control API that listens. */
export interface Control {
  /** `unix:PATH` or `http://HOST:PORT`. */
  readonly url: string;
  close(): Promise<void>;
}

/** The folder in which `breakerbox ctl` looks for sockets. */
export const runtimeFolder = (env: NodeJS.ProcessEnv = process.env): string =>
  join(env.XDG_RUNTIME_DIR ?? join(tmpdir(), `breakerbox-${userInfo().uid}`), 'breakerbox');

/**
 * Serves the control API of some boxes (A1). Without this call nothing listens. The server does not keep the process alive.
 *
 * @throws Error if it cannot listen, or if the audit file cannot be written.
 *
 * @example
 * ```ts
 * const control = await startControl({ boxes: [box] }); // breakerbox ctl list
 * ```
 */
export const startControl = async ({ boxes, listen = {}, audit: auditFile }: ControlOptions): Promise<Control> => {
  const all = boxes.map(operated);
  const folder = runtimeFolder();
  const socket = 'port' in listen ? undefined : (listen.socket ?? join(folder, `${process.pid}.sock`));
  const place = socket === undefined ? folder : dirname(socket);
  await mkdir(place, { recursive: true, mode: 0o700 });
  const audit = await openAudit(auditFile ?? join(place, 'audit.jsonl'));
  const changes = followChanges(all);
  const app = createApp({
    changes,
    boxes: () => all,
    audit,
    tokens: 'port' in listen ? listen.tokens : undefined,
    hosts: ('port' in listen && listen.hosts) || [],
    counted: () => {},
  });
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, getRequestListener(app.fetch));
  server.maxConnections = 50;
  server.on('connection', (one) => one.unref());
  try {
    if (socket !== undefined) await freed(socket);
    await listening(
      server,
      'port' in listen
        ? { host: listen.host ?? '127.0.0.1', port: listen.port, exclusive: true }
        : { path: socket ?? '' },
    );
    if (socket !== undefined) await chmod(socket, 0o600);
  } catch (error) {
    changes.close();
    await audit.close();
    throw error;
  }
  server.unref();
  const address = server.address();
  return {
    url:
      typeof address === 'object' && address !== null
        ? `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
        : `unix:${socket}`,
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      changes.close();
      await audit.close();
    },
  };
};

const listening = (server: Server, options: Parameters<Server['listen']>[0]): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options as object, () => resolve());
  });

/** Removes the socket of a process that has ended. */
const freed = async (path: string): Promise<void> => {
  const answers = await new Promise<boolean>((resolve) => {
    const probe = connect(path, () => {
      probe.destroy();
      resolve(true);
    });
    probe.on('error', () => resolve(false));
  });
  if (answers) throw new Error(`another process listens on ${path}. Give listen.socket another path.`);
  await unlink(path).catch(() => undefined);
};
