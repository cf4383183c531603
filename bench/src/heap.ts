import { worked } from './cpu.ts';

const SETTLING = 3;

/** Bytes of live objects, after a full garbage collection. */
export const liveHeap = async (): Promise<number> => {
  if (globalThis.gc === undefined)
    throw new Error('Measuring the heap needs the Node flag --expose-gc. Run `pnpm bench`, which sets it.');
  for (let left = SETTLING; left > 0; left -= 1) {
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve)); // Finalizers and weak references.
  }
  return process.memoryUsage().heapUsed;
};

const POINTS = 10;

/** The size of the heap during a series of actions. */
export interface HeapWalk {
  /** Live bytes after each tenth. */
  readonly heaps: readonly number[];
  /** Bytes by which the live heap was larger at the end than after the first tenth. */
  readonly grownBytes: number;
  /** Nanoseconds of work for the actions, without the measurements of the heap. */
  readonly workedNs: number;
}

/** Measures the heap ten times while `count` actions run. The first tenth is the warm-up. */
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
