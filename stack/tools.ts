/** Runs the Prometheus tools with which the tests of `alerts/` and `stack/` check files. */
import { type ExecFileException, execFile } from 'node:child_process';
import { findProgram } from '../packages/demo/src/child.ts';

/** The slowest check takes a sixth of this, on two cores that other tests use too. */
const LIMIT_MS = 55_000;

/** The result of a tool. */
export interface ToolResult {
  /** Exit code; 0 is success. */
  readonly code: number;
  /** Standard output, then standard error, because promtool reports on either. */
  readonly output: string;
}

/** The message for a missing program. */
export function missingTool(name: string): string {
  return `${name} is not on PATH, but this test needs it. 'npm test' installs it (Debian packages prometheus and prometheus-alertmanager). On other systems, install Prometheus and Alertmanager from https://prometheus.io/download.`;
}

const endedBy = (name: string, { killed, signal }: ExecFileException): string =>
  killed ? `${name} took more than ${LIMIT_MS / 1000} s, and was killed.` : `${name} was killed by ${signal}.`;

/**
 * Runs a command-line tool to its end. A non-zero exit is a result, not an error.
 *
 * @throws Error if the tool is not on PATH or was killed, so that a check that cannot run fails.
 */
export function runTool(name: string, args: readonly string[], cwd?: string): Promise<ToolResult> {
  return new Promise((resolve, reject) => {
    execFile(name, [...args], { cwd, timeout: LIMIT_MS }, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      const output = `${stdout}${stderr}`;
      if (typeof code === 'number') return resolve({ code, output });
      const why = error?.signal ? endedBy(name, error) : `${name} could not be run: ${error?.message}`;
      reject(new Error(code === 'ENOENT' ? missingTool(name) : `${why}\n${output}`, { cause: error }));
    });
  });
}

/** Names of Alertmanager's program: Debian's and upstream's. */
export const ALERTMANAGER = ['prometheus-alertmanager', 'alertmanager'] as const;

/**
 * The path of the first of these programs that is on PATH.
 *
 * @param path folders to search, in the format of PATH. Default: the environment's PATH.
 * @throws Error if none is found, with instructions to install it.
 * @example requireProgram(ALERTMANAGER) // '/usr/bin/prometheus-alertmanager'
 */
export function requireProgram(names: readonly string[], path?: string): string {
  const program = findProgram(names, path);
  if (program === undefined) throw new Error(missingTool(names.join(' or ')));
  return program;
}
