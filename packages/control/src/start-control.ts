import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Breakerbox } from '@breakerbox/core';
import { onNewBox } from '@breakerbox/core/control';
import { createAdmission, createShares } from '@breakerbox/listen';
import { getRequestListener } from '@hono/node-server';
import { diag } from '@opentelemetry/api';
import { createAgentModes } from './agent-modes.ts';
import { createApp } from './app.ts';
import { type Audit, openAudit } from './audit.ts';
import { createChanges } from './changes.ts';
import { openServer, PLACES, STREAMS } from './control-server.ts';
import { checkListen, isTcp, type Listen } from './listen-address.ts';
import { operatedBoxes } from './operated-boxes.ts';
import type { OperatedFleet } from './operated-fleet.ts';
import { checkFolder, makeRuntimeFolder, runtimeFolder } from './runtime-folder.ts';
import { answers } from './socket-file.ts';
import { tokenReader } from './token-reader.ts';

export type { Listen } from './listen-address.ts';
export type { OperatedFleet } from './operated-fleet.ts';

export interface ControlOptions {
  /**
   * The boxes that operators see. Default: every box that is made after this call. Sessions that began before are shown from their
   * next use.
   */
  readonly boxes?: readonly Breakerbox[] | undefined;
  /** The fleet of the boxes, from `@breakerbox/fleet`: operators then see its shared circuits, and how many processes have carried out an action. */
  readonly fleet?: OperatedFleet | undefined;
  /** Default: a Unix socket that `breakerbox ctl` finds, for your user alone. */
  readonly listen?: Listen | undefined;
  /**
   * The audit file, which is appended to (A6). Default: `audit.jsonl` beside the socket. `/dev/stdout`, a pipe or a device works too, but
   * its lines are not synced to a disk, and a warning says so.
   */
  readonly audit?: string | undefined;
}

/** A control API that listens. */
export interface Control {
  /** `unix:PATH` or `http://HOST:PORT`, for `breakerbox ctl --endpoint`. */
  readonly url: string;
  /** Where audit lines go, and what is certain of a line before its action takes effect, as a sentence. */
  readonly auditPromise: string;
  /** Stops listening. Forced modes stay until they expire. */
  close(): Promise<void>;
}

let sockets = 0;

/** Another control API of the same process has a number of its own. Worker threads count for themselves, so those are asked. */
const defaultSocket = async (): Promise<string> => {
  sockets += 1;
  const path = join(runtimeFolder(), sockets === 1 ? `${process.pid}.sock` : `${process.pid}-${sockets}.sock`);
  return (await answers(path)) ? defaultSocket() : path;
};

/**
 * Serves the control API of some boxes (A1). Without this call nothing listens. The server does not keep the process alive.
 *
 * @throws Error if an option is wrong, if it cannot listen, if the address is beyond this machine and not protected, or if the audit file cannot be written.
 *
 * @example
 * ```ts
 * const control = await startControl({ boxes: [box] }); // then: breakerbox ctl list
 * ```
 */
export const startControl = async ({
  boxes,
  fleet,
  listen = {},
  audit: auditFile,
}: ControlOptions = {}): Promise<Control> => {
  checkListen(listen);
  const given = isTcp(listen) ? undefined : listen.socket;
  const socket = given ?? (await defaultSocket());
  const changes = createChanges();
  const modes = createAgentModes();
  const all = operatedBoxes(changes, modes);
  for (const box of boxes ?? []) all.add(box);
  const stop = boxes === undefined ? onNewBox(all.add) : () => {};
  const forget = (): void => {
    stop();
    all.close();
  };
  let audit: Audit | undefined;
  try {
    if (given !== undefined) {
      await mkdir(dirname(given), { recursive: true, mode: 0o700 });
      checkFolder(dirname(given), 'listen.socket (BREAKERBOX_CONTROL_LISTEN)');
    }
    if (given === undefined && (!isTcp(listen) || auditFile === undefined)) makeRuntimeFolder();
    audit = await openAudit(auditFile ?? join(dirname(socket), 'audit.jsonl'));
    const admission = createAdmission(PLACES);
    const app = createApp({
      admission,
      streams: createShares(STREAMS.each, STREAMS.all),
      changes,
      modes,
      audit,
      boxes: all,
      fleet,
      tokens: isTcp(listen)
        ? tokenReader(listen.tokens, (message) => diag.error(`@breakerbox/control: ${message}`))
        : undefined,
      hosts: (isTcp(listen) && listen.hosts) || [],
    });
    const server = await openServer(getRequestListener(app.fetch), admission, listen, socket);
    return {
      url: server.url,
      auditPromise: audit.promise,
      close: async () => {
        await server.close();
        await audit?.close();
        forget();
      },
    };
  } catch (error) {
    await audit?.close();
    forget();
    throw error;
  }
};
