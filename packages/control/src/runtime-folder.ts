import { existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { warnOnce } from '@breakerbox/core/internal';

/** -1 on Windows. Without `userInfo`, which throws in a container whose user has a number and no name. */
export const ownUid = (): number => process.geteuid?.() ?? -1;

/**
 * The folder for sockets, in which `breakerbox ctl` looks: `breakerbox` in `XDG_RUNTIME_DIR`, else in a folder of the user among the
 * temporary files.
 */
export const runtimeFolder = (env: NodeJS.ProcessEnv = process.env): string =>
  join(env.XDG_RUNTIME_DIR || join(tmpdir(), `breakerbox-${ownUid()}`), 'breakerbox');

/** Whether only this user can put files there: in a folder of another user, a socket may be anyone's. */
export const isOwn = (folder: string): boolean => {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  const uid = ownUid();
  return found?.isDirectory() === true && (uid === -1 || (found.uid === uid && (found.mode & 0o022) === 0));
};

/** Others may add files to a folder with this bit, but neither remove nor replace those of another user. */
const STICKY = 0o1000;

/** The folders that lead to a path, and the path itself, the root first. */
const leadingTo = (path: string): readonly string[] =>
  dirname(path) === path ? [path] : [...leadingTo(dirname(path)), path];

/**
 * Checks that no other user can replace a file in a folder. Warns if another user could replace the folder itself: in a container with one
 * user that does not matter.
 *
 * @throws Error if the folder belongs to another user than this one and root, or if every user can write to it.
 */
export const checkFolder = (folder: string, option: string): void => {
  if (ownUid() === -1 || !existsSync(folder)) return;
  const own = [resolve(folder), realpathSync(folder)];
  const fix = `Set ${option} to a path in a folder that only you can write to`;
  // A symbolic link on the way is as good as what it leads to, unless another user made it.
  for (const one of new Set(own.flatMap(leadingTo))) {
    const fault = faultOf(one);
    if (fault === undefined) continue;
    if (own.includes(one))
      throw new Error(
        `${one} ${fault.what}, who could replace the files in it. ${fix}, such as ${join(one, 'breakerbox')}${fault.or}.`,
      );
    warnOnce(
      'BREAKERBOX_OPEN_FOLDER',
      one,
      () => `${one} ${fault.what}, who could replace ${folder}. ${fix}, and to all folders above it${fault.or}.`,
    );
  }
};

const faultOf = (path: string): { readonly what: string; readonly or: string } | undefined => {
  const found = lstatSync(path);
  if (found.uid !== ownUid() && found.uid !== 0) return { what: 'belongs to another user', or: '' };
  if (!found.isDirectory() || (found.mode & 0o002) === 0 || (found.mode & STICKY) !== 0) return undefined;
  return { what: 'can be written by every user', or: `, or run chmod o-w ${path}` };
};

/**
 * Makes the runtime folder.
 *
 * @throws Error if it, or the folder around it, is another user's, or if others can write there.
 */
export const makeRuntimeFolder = (folder = runtimeFolder()): string => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const wrong = [dirname(folder), folder].find((one) => !isOwn(one));
  if (wrong === undefined) return folder;
  throw new Error(
    `${wrong} must be a folder that you own and that only you can write to. Otherwise another user could pose as this agent. Run chmod go-w ${wrong}, or remove it, or set listen.socket (BREAKERBOX_CONTROL_LISTEN).`,
  );
};
