import { existsSync, lstatSync, mkdirSync, realpathSync, type Stats } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/**
 * The folder for sockets, in which `breakerbox ctl` looks: `breakerbox` in `XDG_RUNTIME_DIR`, else in a folder of the user among the
 * temporary files.
 */
export const runtimeFolder = (env: NodeJS.ProcessEnv = process.env): string =>
  join(env.XDG_RUNTIME_DIR || join(tmpdir(), `breakerbox-${userInfo().uid}`), 'breakerbox');

/** Whether only this user can put files there: in a folder of another user, a socket may be anyone's. */
export const isOwn = (folder: string): boolean => {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  const { uid } = userInfo();
  return found?.isDirectory() === true && (uid === -1 || (found.uid === uid && (found.mode & 0o022) === 0)); // -1: Windows.
};

/** Others may add files to a folder with this bit, but neither remove nor replace those of another user. */
const STICKY = 0o1000;

/** Who owns what the kernel cannot name, such as the root folder in a container with users of its own. */
const UNNAMED_UID = 65_534;

/** The folders that lead to a path, and the path itself, the root first. */
const leadingTo = (path: string): readonly string[] =>
  dirname(path) === path ? [path] : [...leadingTo(dirname(path)), path];

/**
 * Checks that no other user can replace a file in a folder, or the folder itself.
 *
 * @throws Error if the folder, or one above it, belongs to another user than this one and root, or if every user can write to it.
 */
export const checkFolder = (folder: string, option: string): void => {
  const { uid } = userInfo();
  if (uid === -1 || !existsSync(folder)) return;
  // A symbolic link on the way is as good as what it leads to, unless another user made it.
  const all = new Set([...leadingTo(resolve(folder)), ...leadingTo(realpathSync(folder))]);
  for (const one of all)
    checkOne(one, lstatSync(one), uid, one === resolve(folder) || one === realpathSync(folder), option);
};

const checkOne = (folder: string, found: Stats, uid: number, isLast: boolean, option: string): void => {
  const isForeign = found.uid !== uid && found.uid !== 0 && (isLast || found.uid !== UNNAMED_UID);
  const isOpen = found.isDirectory() && (found.mode & 0o002) !== 0 && (found.mode & STICKY) === 0;
  if (!isForeign && !isOpen) return;
  throw new Error(
    `${folder} ${isForeign ? 'belongs to another user' : 'can be written by every user'}, who could replace the files in it. Set ${option} to a path in a folder that only you can write to${isLast ? `, such as ${join(folder, 'breakerbox')}` : ''}${isForeign ? '' : `, or run chmod o-w ${folder}`}.`,
  );
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
