import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** How a child process ended. */
export interface Ended {
  /** Undefined if a signal ended it. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Time limit in milliseconds. A process that does not end by itself is ended with a signal. */
const LIMIT_MS = 40_000;

/** The variables of this process, without those that would change a child's telemetry. */
export const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(OTEL_|NODE_OPTIONS|VITEST)/.test(name)));

/** Runs a script of this folder, and waits until it ends by itself. An unhandled rejection ends it with code 1. */
export const runChild = async (
  script: string,
  flags: readonly string[] = [],
  variables: Readonly<Record<string, string>> = {},
): Promise<Ended> => {
  const cwd = fileURLToPath(new URL('.', import.meta.url)); // From here Node resolves packages of the workspace.
  try {
    const args = ['--conditions=breakerbox-source', ...flags, script];
    const env = { ...cleanEnvironment(), ...variables };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd, env, timeout: LIMIT_MS });
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as Ended;
    return { code: typeof code === 'number' ? code : undefined, stdout, stderr };
  }
};
