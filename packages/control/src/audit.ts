import type { Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { ActionRequest } from './schema.ts';

/** Who acts, and from where. */
export interface Actor {
  /** The name of the token, or the name that a user of the socket claims. */
  readonly who: string;
  /** `token`, or `socket`, where the name is only claimed. */
  readonly by: 'token' | 'socket';
  /** The address of the client, or `socket`. */
  readonly from: string;
}

/** A line of the audit file. `asked` is written before the action takes effect, `ended` after it. */
export type AuditLine =
  | ({
      readonly phase: 'asked';
      readonly id: string;
      readonly at: string;
      readonly request: ActionRequest;
      readonly before: unknown;
    } & Actor)
  | {
      readonly phase: 'ended';
      readonly id: string;
      readonly at: string;
      readonly result: string;
      readonly after: unknown;
    };

/** The audit file (A6). */
export interface Audit {
  /** Appends a line and waits until it is on the disk. Rejects if that failed: then nothing may be done. */
  write(line: AuditLine): Promise<void>;
}

/** Whether the last line has no end, because the process or the disk failed. */
const isCutOff = async (handle: FileHandle, found: Stats): Promise<boolean> => {
  if (!found.isFile() || found.size === 0) return false;
  const { buffer } = await handle.read({ buffer: Buffer.alloc(1), position: found.size - 1 });
  return buffer.toString() !== '\n';
};

/**
 * Opens the file for appending, with mode 0600 if it is new. Each line opens it again, so that a file that was moved or removed, such as
 * by logrotate, is made again.
 *
 * @throws Error if the file cannot be opened or written, or if every user can write it.
 */
export const openAudit = async (file: string): Promise<Audit> => {
  const append = async (line: string): Promise<void> => {
    const handle = await open(file, 'a+', 0o600);
    try {
      const found = await handle.stat();
      if (found.isFile() && (found.mode & 0o002) !== 0)
        throw new Error(`${file} can be written by every user. Run: chmod o-w ${file}`);
      if (line === '') return;
      await handle.appendFile((await isCutOff(handle, found)) ? `\n${line}` : line);
      await handle.datasync();
    } finally {
      await handle.close();
    }
  };
  await append('');
  return { write: (line) => append(`${JSON.stringify(line)}\n`) };
};
