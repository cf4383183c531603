import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// A flag of V8's that can be set at any time: the collector is there in new contexts from now on.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes that are in use once the garbage is gone; what is given is in use until then. */
export const heapOf = (...kept: readonly object[]): number => {
  collect();
  collect();
  const { heapUsed } = process.memoryUsage();
  return kept.length < 0 ? 0 : heapUsed;
};
