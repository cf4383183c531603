/*
 * Runs programs one after the other in this process, each in its folder, and at the end writes a line of JSON for each: its path, and
 * what it printed. Starting Node for each of them would take most of the time. What a program prints later, while others run, is still
 * its own: output goes to the program in whose context it is written.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { writeSync } from 'node:fs';

interface Job {
  readonly path: string;
  readonly cwd: string;
}

interface Printed {
  stdout: string;
  stderr: string;
}

const jobs: readonly Job[] = JSON.parse(process.argv[2] ?? '[]');
const running = new AsyncLocalStorage<Printed>();
const printed = new Map<string, Printed>();

for (const name of ['stdout', 'stderr'] as const) {
  const write = process[name].write.bind(process[name]);
  process[name].write = (text: string | Uint8Array) => {
    const own = running.getStore();
    if (!own) return write(text);
    own[name] += typeof text === 'string' ? text : Buffer.from(text).toString();
    return true;
  };
}
process.once('exit', () => {
  for (const [path, output] of printed) writeSync(1, `${JSON.stringify([path, output])}\n`);
});

for (const { path, cwd } of jobs) {
  const own: Printed = { stdout: '', stderr: '' };
  printed.set(path, own);
  process.chdir(cwd);
  await running
    .run(own, () => import(path))
    .catch((error: unknown) => {
      own.stderr += error instanceof Error ? error.stack : String(error);
    });
}
