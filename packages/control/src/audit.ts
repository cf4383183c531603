import { safeJson, warnOnce } from '@breakerbox/core/internal';
import { diag } from '@opentelemetry/api';
import { openTarget } from './audit-target.ts';
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

/** Where audit lines go (A6). */
export interface Audit {
  /** What is certain of a line before its action takes effect, as a sentence. */
  readonly promise: string;
  /** Appends a line and waits until the promise is kept. Rejects if that failed: then nothing may be done. */
  write(line: AuditLine): Promise<void>;
  /** Lets go of what it holds open. */
  close(): Promise<void>;
}

/**
 * Opens the audit file, and says what is certain of its lines: to `diag`, and as a warning if they are not synced to a disk.
 *
 * @throws Error if the file cannot be opened or written, or if another user could replace or change it.
 */
export const openAudit = async (file: string): Promise<Audit> => {
  const { promise, isSynced, append, close } = await openTarget(file);
  if (isSynced) diag.info(`@breakerbox/control: ${promise}`);
  else warnOnce('BREAKERBOX_AUDIT_NOT_SYNCED', file, () => promise);
  return { promise, write: (line) => append(`${safeJson(line)}\n`), close };
};
