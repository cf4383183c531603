import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, test } from 'vitest';
import { CORE_ENTRIES } from './core-entries.ts';
import { HOSTILE } from './hostile-objects.ts';

/** An endless loop takes longer than any busy machine. */
const LIMIT_MS = 10_000;

/** A worker, because a loop that never ends would hang the test as well. */
let worker: Worker | undefined;

const ready = async (): Promise<Worker> => {
  if (worker !== undefined) return worker;
  const made = new Worker(new URL('watchdog.worker.ts', import.meta.url), {
    execArgv: ['--conditions=breakerbox-source'],
    env: { ...process.env, BREAKERBOX_WARNINGS: 'off' },
  });
  await once(made, 'message');
  worker = made;
  return made;
};

afterAll(() => worker?.terminate());

/** Whether the entry answers in time. */
const answers = async (entry: string, object: string): Promise<boolean> => {
  const at = await ready();
  at.postMessage({ entry, object });
  try {
    await once(at, 'message', { signal: AbortSignal.timeout(LIMIT_MS) });
    return true;
  } catch {
    worker = undefined;
    await at.terminate();
    return false;
  }
};

test.each(Object.keys(CORE_ENTRIES))(
  'E5: %s answers, whatever endless or lazy object it gets',
  async (entry) => {
    const hanging: string[] = [];
    for (const object of Object.keys(HOSTILE)) if (!(await answers(entry, object))) hanging.push(object);
    expect(hanging).toEqual([]);
  },
  600_000,
);
