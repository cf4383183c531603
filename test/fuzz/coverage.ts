import { Session } from 'node:inspector/promises';

/** Tells which code ran. */
export interface Coverage {
  /** The ranges of the packages' sources that ran since the last call. One that ran 2, 4, 8 … up to 128 times is another one each time. */
  ran(): Promise<ReadonlySet<string>>;
  stop(): void;
}

const OURS = /\/packages\/\w+\/src\//;

/** V8's own block coverage. */
export const watchCoverage = async (): Promise<Coverage> => {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const ran = async (): Promise<ReadonlySet<string>> => {
    const seen = new Set<string>();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    for (const { url, functions } of result) {
      if (!OURS.test(url)) continue;
      for (const { ranges } of functions) {
        for (const { startOffset, endOffset, count } of ranges) {
          if (count > 0) seen.add(`${url}:${startOffset}:${endOffset}:${Math.min(7, Math.floor(Math.log2(count)))}`);
        }
      }
    }
    return seen;
  };
  return { ran, stop: () => session.disconnect() };
};
