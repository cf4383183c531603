import { constants, fstatSync, type Stats, write } from 'node:fs';
import { type FileHandle, lstat, open, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { checkFolder, ownUid } from './runtime-folder.ts';

/** Where audit lines go. */
export interface AuditTarget {
  /** What is certain of a line before its action takes effect, as a sentence. */
  readonly promise: string;
  /** Whether a line is on the disk before its action takes effect. */
  readonly isSynced: boolean;
  /** Resolves when the promise is kept. */
  append(line: string): Promise<void>;
  /** Lets go of what it holds open. */
  close(): Promise<void>;
}

/** Descriptors that the process has already. A socket, which journald gives, cannot be opened again by its name. */
const OWN: Readonly<Record<string, number>> = {
  '/dev/stdout': 1,
  '/dev/stderr': 2,
  '/dev/fd/1': 1,
  '/dev/fd/2': 2,
  '/proc/self/fd/1': 1,
  '/proc/self/fd/2': 2,
};

/**
 * Opens the target for appending. A file is made with mode 0600 if it is new. Each line opens it again, so that a file that was moved or
 * removed, such as by logrotate, is made again.
 *
 * @throws Error if the target cannot be opened, or if another user could read, replace or change it in a way that its owner does not see.
 */
export const openTarget = async (path: string): Promise<AuditTarget> => {
  const target = await openedTarget(path).catch((error: unknown) => Promise.reject(explained(path, error)));
  const append = (line: string) =>
    target.append(line).catch((error: unknown) => Promise.reject(explained(path, error)));
  return { ...target, append };
};

/** How to fix what the file system refuses, by its code. */
const FIXES: Readonly<Record<string, (path: string) => string>> = {
  ENXIO: () => 'It is a pipe or a socket that no process reads. Start the reader first',
  ENOENT: (path) => `Its folder does not exist. Run: mkdir -p -m 700 ${dirname(path)}`,
  ENOTDIR: () => 'A part of its path is not a folder. Correct the path',
  EISDIR: () => 'It is a folder. Name a file in it',
  EACCES: () => 'The user of this process may not write there. Give that user the right',
  EPERM: () => 'The user of this process may not write there. Give that user the right',
  ENOSPC: () => 'The disk is full. Make room',
  EROFS: () => 'The file system can only be read',
  ELOOP: () => 'A symbolic link is there now. Remove the link',
  EAGAIN: () => 'It is a pipe that is full, because its reader has stopped. Start the reader again',
  EPIPE: () => 'It is a pipe that no process reads. Start the reader again',
};

const explained = (path: string, error: unknown): unknown => {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (!(error instanceof Error) || !/^E[A-Z]+$/.test(code)) return error;
  const fix = FIXES[code]?.(path) ?? error.message;
  return new Error(
    `Audit lines cannot be written to ${path} (${code}). ${fix}, or set audit (BREAKERBOX_CONTROL_AUDIT) to another path.`,
    { cause: error },
  );
};

const openedTarget = async (path: string): Promise<AuditTarget> => {
  const own = OWN[path];
  if (own !== undefined) return ownTarget(path, own);
  const found = await stat(path).catch(() => undefined);
  // A device of the system. In `/dev/shm`, and by `/dev/..`, there are files of all users.
  if (!(found?.isCharacterDevice() || /^\/dev\/fd\/\d+$/.test(path))) await checkPlace(path);
  return found === undefined || found.isFile() ? fileTarget(path) : heldTarget(path, found);
};

const heldTarget = async (path: string, found: Stats): Promise<AuditTarget> => {
  // A pipe without a reader would otherwise hang, and one with a full buffer too.
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK;
  const writeLine = lineWriter();
  const held = heldOpen(() => open(path, flags));
  await held.use(async () => {});
  return unsynced(path, kindOf(found), (line) => held.use(({ fd }) => writeLine(fd, line)), held.close);
};

/** A file is not opened again, because its other writers do not append. */
const ownTarget = async (path: string, own: number): Promise<AuditTarget> => {
  const found = fstatSync(own);
  const held = found.isFile() ? undefined : await heldTarget(path, found).catch(() => undefined);
  if (held !== undefined) return held;
  // With its stream, Node makes a socket, or a pipe of another user, one that does not block. A blocked write keeps the process from ending.
  void (own === 1 ? process.stdout : process.stderr);
  const writeLine = lineWriter();
  return unsynced(path, kindOf(found), (line) => writeLine(own, line));
};

/** Keeps a pipe open: its reader ends when the last writer closes it. Opens it again for a new reader. */
const heldOpen = (opened: () => Promise<FileHandle>) => {
  let handle: FileHandle | undefined;
  const close = async (): Promise<void> => {
    const closing = handle;
    handle = undefined;
    await closing?.close();
  };
  const use = async (run: (opened: FileHandle) => Promise<void>, isNew = handle === undefined): Promise<void> => {
    handle ??= await opened();
    try {
      await run(handle);
    } catch (error) {
      if (isNew || (error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
      await close();
      await use(run);
    }
  };
  return { use, close };
};

const unsynced = (
  path: string,
  kind: string,
  append: AuditTarget['append'],
  close = async (): Promise<void> => {},
): AuditTarget => ({
  promise: `Audit lines go to ${path}, which is ${kind}. Each is written there before its action takes effect, but not synced to a disk: what reads it has to keep it.`,
  isSynced: false,
  append,
  close,
});

const kindOf = (found: Stats): string => {
  if (found.isFIFO()) return 'a pipe';
  if (found.isSocket()) return 'a socket';
  return found.isFile() ? 'a file that this process did not open' : 'a device';
};

const isUnsyncable = ({ code }: NodeJS.ErrnoException): boolean =>
  ['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code ?? '');

/** File systems whose files are settings and views of the system, by the numbers of Linux: `/proc`, `/sys`, cgroups, `/sys/kernel/debug` and `tracing`. */
const NO_DISK: ReadonlySet<number> = new Set([0x9fa0, 0x62656572, 0x27e0eb, 0x63677270, 0x64626720, 0x74726163]);

/** @throws Error if a line there would not be kept, but set something of the system, or write to the memory of a process. */
const checkFileSystem = async (path: string): Promise<void> => {
  const { type } = await statfs(path).catch(() => statfs(dirname(path)));
  if (NO_DISK.has(type))
    throw new Error(
      `${path} is not a file on a disk, but a view of the system. Set audit (BREAKERBOX_CONTROL_AUDIT) to another path.`,
    );
};

const fileTarget = async (path: string): Promise<AuditTarget> => {
  await checkFileSystem(path);
  const opened = () =>
    open(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  const isSynced = await using(opened(), async (handle) => {
    await checkFile(path, handle);
    return handle.datasync().then(
      () => true,
      (error) => {
        if (isUnsyncable(error)) return false;
        throw error;
      },
    );
  });
  const append = async (line: string) => {
    await checkPlace(path);
    await using(opened(), async (handle) => {
      const found = await checkFile(path, handle);
      await handle.appendFile((await isCutOff(handle, found)) ? `\n${line}` : line);
      if (isSynced) await handle.datasync();
    });
  };
  return isSynced
    ? {
        promise: `Audit lines go to ${path}. Each is synced to the disk before its action takes effect.`,
        isSynced,
        append,
        close: async () => {},
      }
    : unsynced(path, 'on a file system that does not sync files', append);
};

const using = async <Made>(opening: Promise<FileHandle>, use: (handle: FileHandle) => Promise<Made>): Promise<Made> => {
  const handle = await opening;
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
};

/** @throws Error if the path is a symbolic link, or if another user could replace the file. */
const checkPlace = async (path: string): Promise<void> => {
  checkFolder(dirname(path), 'audit (BREAKERBOX_CONTROL_AUDIT)');
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSymbolicLink())
    throw new Error(`${path} is a symbolic link. Set audit (BREAKERBOX_CONTROL_AUDIT) to the path of the file itself.`);
};

/** @throws Error if another user can change the file. */
const checkFile = async (path: string, handle: FileHandle): Promise<Stats> => {
  const found = await handle.stat();
  const uid = ownUid();
  if (!found.isFile()) throw new Error(`${path} is no longer a file.`);
  if ((found.mode & 0o002) !== 0) throw new Error(`${path} can be written by every user. Run: chmod o-w ${path}`);
  if (uid !== -1 && found.uid !== uid && found.uid !== 0)
    throw new Error(`${path} belongs to another user. Set audit (BREAKERBOX_CONTROL_AUDIT) to a file of your own.`);
  if (found.nlink > 1)
    throw new Error(
      `${path} has a second name, a hard link, by which it can be changed. Set audit (BREAKERBOX_CONTROL_AUDIT) to a file that has one name.`,
    );
  return found;
};

/** Whether the last line has no end, because the process or the disk failed. */
const isCutOff = async (handle: FileHandle, found: Stats): Promise<boolean> => {
  if (found.size === 0) return false;
  const { buffer } = await handle.read({ buffer: Buffer.alloc(1), position: found.size - 1 });
  return buffer.toString() !== '\n';
};

/** Milliseconds that a pipe may be full. After them, lines are refused at once until it was read: many operators wait one after the other. */
const FULL_MS = 2_000;
const AGAIN_MS = 20;
const writeSome = promisify(write);

/** Writes lines to a descriptor. After one that was cut off, such as by a pipe that stayed full, the next begins a line of its own. */
const lineWriter = () => {
  let isCutOff = false;
  let fullSinceMs: number | undefined;
  return async (fd: number, line: string): Promise<void> => {
    for (let rest = Buffer.from(isCutOff ? `\n${line}` : line); rest.byteLength > 0; ) {
      try {
        const { bytesWritten } = await writeSome(fd, rest);
        rest = rest.subarray(bytesWritten);
        isCutOff = rest.byteLength > 0;
        fullSinceMs = undefined;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
        fullSinceMs ??= performance.now();
        if (performance.now() - fullSinceMs > FULL_MS) throw error;
        await setTimeout(AGAIN_MS);
      }
    }
  };
};
