/** Running the Prometheus tools that the tests of `alerts/` and `stack/` check files with. */
import { execFile } from 'node:child_process';
import { findProgram } from '../packages/cli/src/demo/child.ts';

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

/**
 * Runs a command-line tool to its end. A non-zero exit is a result, not an error.
 *
 * @throws when the tool isn't on PATH: a check that can't run must fail, not pass.
 */
export function runTool(name: string, args: readonly string[], cwd?: string): Promise<ToolResult> {
  return new Promise((resolve, reject) => {
    execFile(name, [...args], { cwd, timeout: 25_000 }, (error, stdout, stderr) => {
      if (error?.code === 'ENOENT') return reject(new Error(missingTool(name), { cause: error }));
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, output: `${stdout}${stderr}` });
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
