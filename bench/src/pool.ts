import { fork } from 'node:child_process';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Case, Findings, Sdk } from './contest.ts';

/** One case under one SDK. */
export interface Job {
  readonly one: Case;
  readonly sdk: Sdk;
}

/** V8 drops compiled code that has not run for a while. That is megabytes, and this measures the heap. */
const V8 = ['--expose-gc', '--no-flush-bytecode'];

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url));

/** Without variables that send telemetry elsewhere, or that change how it is made. */
export const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(OTEL|NODE)_/.test(name)));

/**
 * Runs a file of the benchmark in a process of its own, and returns what the process sends.
 *
 * @throws Error if the process ends before it has sent something, or with an exit code other than 0.
 */
export const reportOf = (file: string, args: readonly string[]): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const child = fork(file, args, {
      execArgv: [...V8, '--conditions=breakerbox-source', '--disable-warning=DEP0152'],
      env: environment(),
    });
    let report: unknown;
    child.on('message', (message) => {
      report = message;
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (report !== undefined && code === 0) resolve(report);
      else reject(new Error(`${basename(file)} ${args.join(' ')} ended with ${signal ?? code}; see above.`));
    });
  });

/** Joins the rounds of several processes. The facts are those of the last process. */
export const joined = (all: readonly Findings[]): Findings => {
  const contestants = all[0]?.contestants ?? [];
  return {
    contestants,
    samples: Object.fromEntries(contestants.map(({ id }) => [id, all.flatMap(({ samples }) => samples[id] ?? [])])),
    facts: all.at(-1)?.facts ?? {},
  };
};

/** Runs jobs, at most so many at once, and returns their findings in the order of the jobs. */
export const runAll = async (
  jobs: readonly Job[],
  pace: 'full' | 'quick',
  atOnce: number,
  done: (job: Job) => void,
): Promise<readonly Findings[]> => {
  const found: Findings[] = [];
  const waiting = jobs.map((job, index) => ({ job, index }));
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { one, sdk } = next.job;
      found[next.index] = (await reportOf(CHILD, [one.id, sdk, pace])) as Findings;
      done(next.job);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return found;
};
