import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Runs a program to its end and gives what it printed on stdout.
 * @throws Error with all that it said, when it fails
 */
export const runCommand = async (
  file: string,
  args: readonly string[],
  cwd: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const env = { ...process.env, ...variables };
  const command = promisify(execFile)(file, args, { cwd, env, maxBuffer: 32 * 1024 * 1024 });
  command.child.stdin?.end();
  try {
    return (await command).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${file} ${args.join(' ')} failed in ${cwd}:\n${stdout}${stderr}`, { cause: error });
  }
};
