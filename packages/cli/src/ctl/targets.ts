import { existsSync, readdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { isOwn, runtimeFolder } from '@breakerbox/control';
import { ControlError, type ProcessState, readState, type Target } from '@breakerbox/control/client';

/** A process that answered, or why it did not. */
export type Found =
  | { readonly target: Target; readonly state: ProcessState; readonly error?: undefined }
  | { readonly target: Target; readonly state?: undefined; readonly error: string };

export interface TargetFlags {
  readonly endpoint?: readonly string[];
  readonly token?: string;
}

/** The endpoints of the flags, else of `BREAKERBOX_CONTROL` (with commas), else the sockets of the runtime folder (A7). */
export const targetsOf = ({ endpoint, token }: TargetFlags, env: NodeJS.ProcessEnv): readonly Target[] => {
  const named = endpoint ?? env.BREAKERBOX_CONTROL?.split(',').filter((one) => one.trim() !== '');
  const urls = named?.map((one) => (one.startsWith('/') ? `unix:${one}` : one.trim())) ?? sockets(runtimeFolder(env));
  return urls.map((url) => ({ url, token: token ?? env.BREAKERBOX_CONTROL_TOKEN, user: userInfo().username }));
};

const sockets = (folder: string): readonly string[] =>
  existsSync(folder) && isOwn(folder)
    ? readdirSync(folder)
        .filter(isOfLiving)
        .toSorted()
        .map((name) => `unix:${join(folder, name)}`)
    : [];

/** A process that was killed leaves its socket, `PID.sock`, behind. */
const isOfLiving = (name: string): boolean => {
  const [, pid] = /^(\d+)(?:-\d+)?\.sock$/.exec(name) ?? [];
  if (pid === undefined) return name.endsWith('.sock');
  try {
    return process.kill(Number(pid), 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Asks all of them at once. */
export const look = (targets: readonly Target[]): Promise<readonly Found[]> =>
  Promise.all(
    targets.map(async (target): Promise<Found> => {
      try {
        return { target, state: await readState(target) };
      } catch (error) {
        return { target, error: error instanceof ControlError ? error.message : String(error) };
      }
    }),
  );
