const NS_PER_US = 1e3;
const BLINK_MS = 0.02;
const nobody = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/**
 * Nanoseconds that this process has worked, collecting garbage included. Not the time on the wall: what other processes take of the
 * machine is nobody's cost here, and nothing in a race waits for anything. Linux counts a thread's time up when it stops or when a
 * tick of some milliseconds comes, so it is stopped for a moment first.
 */
export const worked = (): number => {
  Atomics.wait(nobody, 0, 0, BLINK_MS);
  const { user, system } = process.cpuUsage();
  return (user + system) * NS_PER_US;
};
