const NS_PER_US = 1e3;
const BLINK_MS = 0.02;
const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/**
 * Nanoseconds of processor time of this process, garbage collection included. It is not wall-clock time, because other processes
 * would count too, and because no code in a race waits. Linux adds up a thread's time when the thread stops or at a tick of some
 * milliseconds, so the thread is stopped for a moment first.
 */
export const worked = (): number => {
  Atomics.wait(never, 0, 0, BLINK_MS);
  const { user, system } = process.cpuUsage();
  return (user + system) * NS_PER_US;
};
