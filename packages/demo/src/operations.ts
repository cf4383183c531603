import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startControl } from '@breakerbox/control';
import { perform, readState, type SessionState, type Target } from '@breakerbox/control/client';
import { startConsole } from '@breakerbox/control/console';
import type { Breakerbox } from '@breakerbox/core';

/** The operator's side of the demo: a control API, and the console over it. */
export interface Operations {
  /** The link of the console, or why it cannot be had. */
  readonly console: string;
  /** The endpoint of the control API, for `breakerbox ctl --endpoint`. */
  readonly endpoint: string;
  /** The session of an agent as the control API shows it; undefined if it has ended. */
  session(agent: string, id: string): Promise<SessionState | undefined>;
  /** Gives a paused session a full budget again, or confirms that its correlated failure is over. */
  act(agent: string, session: SessionState): Promise<void>;
  close(): Promise<void>;
}

/** Where the operator's side is. */
export interface OperationsAddress {
  /** The socket that a console elsewhere uses; then none is started here. Undefined: the one where `breakerbox ctl` looks. */
  readonly socket: string | undefined;
  /** For the audit file. Undefined: one of its own, which `close` removes. */
  readonly folder: string | undefined;
  /** The port of the console. */
  readonly port: number;
}

/** Starts both. */
export const startOperations = async (
  boxes: readonly Breakerbox[],
  { socket, folder, port }: OperationsAddress,
): Promise<Operations> => {
  const own = folder ?? (await mkdtemp(join(tmpdir(), 'breakerbox-demo-')));
  const control = await startControl({
    boxes,
    listen: socket === undefined ? {} : { socket },
    audit: join(own, 'audit.jsonl'),
  });
  const target: Target = { url: control.url, user: 'the operator of the demo' };
  const page =
    socket === undefined
      ? await startConsole({ targets: [{ url: control.url, user: 'you' }], port }).catch((error: Error) => error)
      : new Error(`BREAKERBOX_CONTROL_LISTEN is set. Run: breakerbox console --endpoint ${control.url}`);
  return {
    console: page instanceof Error ? `none: ${page.message}` : page.url,
    endpoint: control.url,
    session: async (agent, id) => {
      const { boxes } = await readState(target);
      return boxes.find((box) => box.agent === agent)?.sessions.find((one) => one.id === id);
    },
    act: async (agent, { id, event, budget }) => {
      await perform(
        target,
        event === undefined
          ? { action: 'resume', agent, session: id, cycle: budget.cycle }
          : { action: 'confirm', agent, session: id, event: event.id },
      );
    },
    close: async () => {
      if (!(page instanceof Error)) await page.close();
      await control.close();
      if (folder === undefined) await rm(own, { recursive: true, force: true });
    },
  };
};
