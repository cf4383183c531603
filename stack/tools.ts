/** Running the Prometheus tools that the tests of `alerts/` and `stack/` check files with. */
import { type ExecFileException, execFile } from 'node:child_process';
import { findProgram } from '../packages/cli/src/demo/child.ts';

/** The slowest check takes a sixth of it, on two cores that others share. */
const LIMIT_MS = 55_000;

/** How a tool ended. */
export interface ToolResult {
  /** Exit code; 0 is success. */
  readonly code: number;
  /** Standard output, then standard error: promtool complains on either. */
  readonly output: string;
}

/** What to say when a binary is missing. */
export function missingTool(name: string): string {
  return `${name} is not on PATH, and this test checks files with it. 'npm test' brings it (Debian packages prometheus and prometheus-alertmanager); elsewhere, install Prometheus and Alertmanager from https://prometheus.io/download.`;
}

const endedBy = (name: string, { killed, signal }: ExecFileException): string =>
  killed ? `${name} took more than ${LIMIT_MS / 1000} s, and was ended.` : `${name} was ended by ${signal}.`;

/**
 * Runs a command-line tool to its end. A non-zero exit is a result, not an error.
 *
 * @throws when the tool isn't on PATH, or was ended before it could say anything: a check that can't run must fail, not pass.
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

/** Alertmanager's names: Debian's, and upstream's. */
export const ALERTMANAGER = ['prometheus-alertmanager', 'alertmanager'] as const;

/**
 * The path of the first of these programs that PATH has.
 *
 * @param path Folders to look in, as in the environment's PATH, which is the default.
 * @throws when there is none, with how to get it.
 * @example requireProgram(ALERTMANAGER) // '/usr/bin/prometheus-alertmanager'
 */
export function requireProgram(names: readonly string[], path?: string): string {
  const program = findProgram(names, path);
  if (program === undefined) throw new Error(missingTool(names.join(' or ')));
  return program;
}
