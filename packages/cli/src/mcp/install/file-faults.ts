/** What to do about an error of the file system, by its code. `%` is the folder, if the file is written there, or else the file. */
const FIXES: Readonly<Record<string, string>> = {
  EISDIR: '% is a folder. Give the file with --file, or remove the folder.',
  ELOOP: '% is a symbolic link that leads to itself. Correct the link or remove it.',
  EACCES: 'You have no permission for %. Run this as the user who owns it, or change its permissions.',
  EPERM: 'You have no permission for %. Run this as the user who owns it, or change its permissions.',
  EROFS: '% is on a file system that is read-only. Make it writable.',
  ENOSPC: 'The disk of % is full. Free some space.',
  EDQUOT: 'Your quota on the disk of % is used up. Free some space.',
};

/**
 * Throws an error of Node again, with what failed, where, and how to fix it. Other errors stay as they are.
 * @param folder where the file is written; undefined if it is read
 */
export const faultInFile =
  (shown: string, folder?: string) =>
  (error: unknown): never => {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === undefined || syscall === undefined) throw error;
    const fix = FIXES[code] ?? `The file system says ${code} for %.`;
    const what = folder === undefined ? 'cannot be read' : 'cannot be changed';
    throw new Error(`${shown} ${what}. ${fix.replace('%', () => folder ?? shown)} Then try again.`);
  };
