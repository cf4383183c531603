import { worked } from './cpu.ts';

const SETTLING = 3;

/** Bytes of live objects: what is left when everything that nobody holds has been collected. */
export const liveHeap = async (): Promise<number> => {
  if (globalThis.gc === undefined)
    throw new Error('The heap can only be measured with --expose-gc. `pnpm bench` starts its processes with it.');
  for (let left = SETTLING; left > 0; left -= 1) {
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve)); // Finalizers and weak references.
  }
  return process.memoryUsage().heapUsed;
};

const POINTS = 10;

/** How a heap stood while things came and went. */
export interface HeapWalk {
  /** Live bytes after each tenth. */
  readonly heaps: readonly number[];
  /** Live bytes that were more at the end than after the first tenth. */
  readonly grownBytes: number;
  /** Nanoseconds of work that the things took, without the looks at the heap. */
  readonly workedNs: number;
}

/** Looks at the heap ten times while `count` things are done. The first tenth is warming up. */
export const walkHeap = async (count: number, doOne: (index: number) => unknown): Promise<HeapWalk> => {
  const heaps: number[] = [];
  let workedNs = 0;
  for (let point = 0; point < POINTS; point += 1) {
    const from = Math.floor((count * point) / POINTS);
    const to = Math.floor((count * (point + 1)) / POINTS);
    const begun = worked();
    for (let index = from; index < to; index += 1) await doOne(index);
    workedNs += worked() - begun;
    heaps.push(await liveHeap());
  }
  return { heaps, grownBytes: (heaps.at(-1) ?? 0) - (heaps[0] ?? 0), workedNs };
};
