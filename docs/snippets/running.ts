import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { COMPILE_CACHE } from '../../test/compile-cache.ts';
import { type Fence, ROOT } from './fences.ts';
import { asShown, type Program } from './programs.ts';

/** How a program ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a snippet ended. */
export interface EndedSnippet extends Ended {
  /** False where the program left before its last line. */
  readonly reachedEnd: boolean;
}

/** A port of its own in the place of 9464, where an agent of the reader's may be listening. */
const ENVIRONMENT = { PATH: process.env.PATH, OTEL_EXPORTER_PROMETHEUS_PORT: '0', ...COMPILE_CACHE };
const TIMEOUT_MS = 30_000;
/** For all that share a process. */
const ALL_TIMEOUT_MS = 55_000;

/** Runs a program to its own end; one that doesn't end is stopped, and has no exit code. */
export const runProgram = (
  path: string,
  cwd: string,
  given: readonly string[] = [],
  timeout = TIMEOUT_MS,
): Promise<Ended> =>
  new Promise((resolve) => {
    const all = ['--conditions=breakerbox-source', path, ...given];
    execFile(process.execPath, all, { cwd, env: ENVIRONMENT, timeout }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
      resolve({ code, stdout, stderr });
    });
  });

/** Whether it may share a process: it starts nothing for the whole of it, and doesn't end it. */
const sharesProcess = ({ code }: Fence): boolean =>
  !/startTelemetry|createFleet|NodeSDK|diag\.|process\.exit|setInterval|breakerbox\/(?:instrumentation|telemetry)\/\w/.test(
    code,
  );

/** Runs those that may share a process in one, the others each in its own. `cwdOf` gives the folder that a program runs in. */
export const runAll = async (
  programs: readonly Program[],
  cwdOf: (program: Program) => Promise<string>,
): Promise<(program: Program) => Promise<EndedSnippet>> => {
  const together = programs.filter(({ fence }) => sharesProcess(fence));
  const jobs = await Promise.all(together.map(async (one) => ({ path: one.path, cwd: await cwdOf(one) })));
  const { code, stdout, stderr } = await runProgram(
    join(ROOT, 'docs/snippets/run-many.ts'),
    ROOT,
    [JSON.stringify(jobs)],
    ALL_TIMEOUT_MS,
  );
  const printed = new Map(
    stdout
      .split('\n')
      .filter(Boolean)
      .map((line): [string, Omit<Ended, 'code'>] => JSON.parse(line)),
  );
  const end = async (program: Program): Promise<Ended> => {
    if (!together.includes(program)) return runProgram(program.path, await cwdOf(program));
    const own = printed.get(program.path);
    // What all of them come to is theirs as well: an error that none of them caught, or a process that didn't end.
    return own ? { code, stdout: own.stdout, stderr: own.stderr + stderr } : { code, stdout, stderr };
  };
  return async (program) => {
    const ended = await end(program);
    return { ...ended, ...asShown(program, ended.stdout) };
  };
};
