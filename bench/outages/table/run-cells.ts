import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Figures } from '../play.ts';
import type { Cell } from './cells.ts';

export interface PlayedCell extends Cell {
  readonly figures: readonly Figures[];
}

const WORKER = new URL('worker.ts', import.meta.url);

/** Plays all cells, on as many cores as there are. `clone`: the folder of tau²-bench whose tasks are played instead of ours. */
export const runCells = async (
  cells: readonly Cell[],
  { clone, onCell = () => {} }: { readonly clone?: string | undefined; onCell?(cell: Cell): void } = {},
): Promise<readonly PlayedCell[]> => {
  const played: PlayedCell[] = [];
  let next = 0;
  const work = (worker: Worker): Promise<void> =>
    new Promise((resolve, reject) => {
      let current: number | undefined;
      worker.on('error', reject);
      worker.on('message', (figures: readonly Figures[] | 'ready') => {
        const cell = current === undefined ? undefined : cells[current];
        if (current !== undefined && cell !== undefined && figures !== 'ready') {
          played[current] = { ...cell, figures };
          onCell(cell);
        }
        current = next;
        next += 1;
        const following = cells[current];
        if (following === undefined) resolve();
        else worker.postMessage(following);
      });
    });
  const env = { ...process.env, BREAKERBOX_WARNINGS: 'off' };
  const workers = Array.from(
    { length: availableParallelism() },
    () => new Worker(WORKER, { workerData: { clone }, env }),
  );
  try {
    await Promise.all(workers.map(work));
    return played;
  } finally {
    for (const worker of workers) await worker.terminate();
  }
};
