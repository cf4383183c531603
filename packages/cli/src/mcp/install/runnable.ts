import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';
import { foldersOf, type Launcher, type Running } from './launcher.ts';

/** Milliseconds that npm may take to say whether it has the package. */
const NPM_MS = 10_000;

/**
 * Why a launcher cannot start breakerbox, and what to do. Undefined if it can, or if that cannot be seen: without a network, npm does not
 * know what it has.
 */
export const faultOfLauncher = async (launcher: Launcher, running: Running): Promise<string | undefined> => {
  const { version, main, path } = running;
  if (launcher === 'breakerbox' && !isOnPath('breakerbox', path))
    return "no folder of PATH has a command 'breakerbox'. Install breakerbox globally, or leave --launcher out.";
  if (launcher !== 'npx' || IN_NPX.test(main)) return undefined;
  if ((await running.npmHas(`breakerbox@${version}`)) !== false) return undefined;
  return `npm does not have breakerbox@${version}, or is not installed. Leave --launcher out, or give --launcher breakerbox or --launcher node.`;
};

/** The folder in which npx has put the command that runs. */
const IN_NPX = /[\\/]_npx[\\/]/;

const isOnPath = (command: string, path: string): boolean =>
  foldersOf(path).some((folder) => ['', '.cmd', '.exe'].some((end) => isProgram(join(folder, `${command}${end}`))));

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

/** On Windows npm is a script, which cannot be started in this way. */
const isMissing = ({ code }: { readonly code?: unknown }): boolean => code === 'ENOENT' && process.platform !== 'win32';

/** Asks npm whether its registry has a version of a package. Undefined if that cannot be found out. */
export const npmHas = (name: string): Promise<boolean | undefined> =>
  new Promise((resolve) => {
    const args = ['view', name, 'version', '--json', '--fetch-retries=0', '--logs-max=0'];
    execFile('npm', args, { timeout: NPM_MS }, (error, stdout) => {
      if (error === null) resolve(stdout.trim() !== '');
      else resolve(/"code":\s*"E(?:404|TARGET)"/.test(stdout) || isMissing(error) ? false : undefined);
    });
  });
