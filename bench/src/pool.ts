import { fork } from 'node:child_process';
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
const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(OTEL|NODE)_/.test(name)));

/** Runs a job in a process of its own. */
const runJob = ({ one, sdk }: Job, pace: 'full' | 'quick'): Promise<Findings> =>
  new Promise((resolve, reject) => {
    const child = fork(CHILD, [one.id, sdk, pace], {
      execArgv: [...V8, '--conditions=breakerbox-source', '--disable-warning=DEP0152'],
      env: environment(),
    });
    let findings: Findings | undefined;
    child.on('message', (message) => {
      findings = message as Findings;
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (findings !== undefined && code === 0) resolve(findings);
      else reject(new Error(`The case '${one.id}' under '${sdk}' ended with ${signal ?? code}; see above.`));
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
      found[next.index] = await runJob(next.job, pace);
      done(next.job);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return found;
};
