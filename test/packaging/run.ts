import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** What is to be seen of a program that has run to its end. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, in a shell in which nothing is set but `PATH` and what is given. */
export const run = async (
  file: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> => {
  const child = spawn(file, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    // npm tells of a new version of itself once a day.
    env: { PATH: process.env.PATH ?? '', HOME: cwd, NO_COLOR: '1', npm_config_update_notifier: 'false', ...env },
  });
  const code = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, stdout, stderr };
};

/** What a program that ends well printed, as JSON. */
export const runJson = async <T>(...given: Parameters<typeof run>): Promise<T> => {
  const { code, stdout, stderr } = await run(...given);
  if (code !== 0 || stderr !== '') throw new Error(`It ended with ${code}, and said:\n${stderr}${stdout}`);
  return JSON.parse(stdout) as T;
};
