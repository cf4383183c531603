import { realpathSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';

/** How a client starts `breakerbox mcp`. */
export const LAUNCHERS = ['npx', 'breakerbox', 'node'] as const;
export type Launcher = (typeof LAUNCHERS)[number];

/** The running `breakerbox` command. */
export interface Running {
  readonly version: string;
  /** The script of the command. */
  readonly main: string;
  readonly execPath: string;
  readonly execArgv: readonly string[];
  readonly path: string;
  readonly platform: NodeJS.Platform;
  /** Whether npm's registry has a version of a package, such as `breakerbox@1.0.0`. Undefined if that cannot be found out. */
  npmHas(name: string): Promise<boolean | undefined>;
}

/**
 * The words that start `breakerbox mcp`.
 *
 * - `npx` works without an installation. It asks the registry at every start unless it is given an exact version.
 * - `breakerbox` needs an installation on the client's PATH, and starts faster.
 * - `node` names Node and the script by their full paths, for a client that has another PATH.
 */
export const launcherWords = (launcher: Launcher, running: Running): readonly string[] => {
  const { version, platform, execPath, execArgv, main } = running;
  if (launcher === 'node') return [execPath, ...execArgv, main, 'mcp'];
  const words = launcher === 'npx' ? ['npx', '-y', `breakerbox@${version}`, 'mcp'] : ['breakerbox', 'mcp'];
  // There, npm's commands are scripts of cmd, which a client may not find by itself.
  return platform === 'win32' ? ['cmd', '/c', ...words] : words;
};

/** Whether the command runs in a clone of its repository, perhaps before npm has it. */
export const isInClone = ({ main }: Pick<Running, 'main'>): boolean => IN_CLONE.test(main);

const IN_CLONE = /[\\/]packages[\\/]cli[\\/](?:src|dist)[\\/]main\.[jt]s$/;

/** A folder that npx or a project has put on PATH is not on that of the client. */
export const foldersOf = (path: string): readonly string[] =>
  path.split(delimiter).filter((folder) => folder !== '' && basename(folder) !== '.bin');

/** `node` in a clone. Else `breakerbox` if the running command is the one on PATH, and not in a folder that npx or a project has put there. */
export const defaultLauncher = ({ path, main, platform }: Running): Launcher => {
  if (isInClone({ main })) return 'node';
  if (platform === 'win32') return 'npx'; // PATH leads to a script of cmd there, which does not tell what it runs.
  for (const folder of foldersOf(path)) {
    try {
      return realpathSync(join(folder, 'breakerbox')) === realpathSync(main) ? 'breakerbox' : 'npx';
    } catch {
      // Not in this folder.
    }
  }
  return 'npx';
};

const PACKAGE = /^breakerbox(?:@.*)?$/;
const MAIN = /[\\/](?:breakerbox[\\/]dist[\\/]main\.js|packages[\\/]cli[\\/](?:src|dist)[\\/]main\.[jt]s)$/;
const RUNS_PACKAGES = ['npx', 'bunx', 'pnpx'];

const program = (word = ''): string =>
  (word.split(/[\\/]/).at(-1) ?? '').replace(/\.(?:cmd|exe|ps1|bat)$/i, '').toLowerCase();

/**
 * How many words of a command line start `breakerbox mcp`. Undefined if they do not. It knows more ways than `launcherWords` writes,
 * because people write entries by hand too.
 */
export const countLauncherWords = (words: readonly string[]): number | undefined => {
  let at = program(words[0]) === 'cmd' && words[1]?.toLowerCase() === '/c' ? 2 : 0;
  const name = program(words[at]);
  at += 1;
  if (name === 'pnpm' && words[at] === 'dlx') at += 1;
  if (name !== 'breakerbox') {
    const isScript = ![...RUNS_PACKAGES, 'pnpm'].includes(name);
    const pattern = isScript ? MAIN : PACKAGE;
    while (words[at]?.startsWith('-')) at += 1;
    if (!pattern.test(words[at] ?? '')) return undefined;
    while (pattern.test(words[at] ?? '')) at += 1; // npx -p breakerbox breakerbox
  }
  return words[at] === 'mcp' && !['install', 'uninstall'].includes(words[at + 1] ?? '') ? at + 1 : undefined;
};

/**
 * Which launcher has written the words that start `breakerbox mcp`, perhaps for another version or another Node. Undefined if a person
 * has written them in another way.
 */
export const writtenLauncher = (words: readonly string[]): Launcher | undefined => {
  const plain = program(words[0]) === 'cmd' ? words.slice(2) : words;
  const [first = '', flag, name = ''] = plain;
  if (first === 'breakerbox') return 'breakerbox';
  if (first === 'npx' && flag === '-y' && /^breakerbox@\d+\.\d+\.\d/.test(name) && plain.length === 4) return 'npx';
  return MAIN.test(plain.at(-2) ?? '') ? 'node' : undefined;
};
