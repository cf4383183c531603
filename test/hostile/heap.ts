import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// A flag of V8 that can be set at any time. New contexts then have the collector.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes in use after garbage collection. The argument stays in use until then. */
export const heapOf = (...kept: readonly object[]): number => {
  collect();
  collect();
  const { heapUsed } = process.memoryUsage();
  return kept.length < 0 ? 0 : heapUsed;
};
