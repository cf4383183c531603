import { type Check, number, orLeaveOut } from '../../checks.ts';

/**
 * C3: so many failures in a row. K1: one fewer where a check had called the tool degraded, but never none.
 *
 * @param failures in a row, this one included
 * @param threshold `Infinity` where failures in a row alone open nothing
 */
export const consecutiveReached = (failures: number, threshold: number, degraded: boolean): boolean =>
  failures >= Math.max(1, degraded ? threshold - 1 : threshold);

const aThreshold = number(
  1,
  orLeaveOut('the circuit opens after so many failures in a row, and with 0 nothing could pass.'),
  { whole: true },
);

/** `false`, where failures in a row alone are to open nothing. */
export const checkFailureThreshold: Check = (path, value) => (value === false ? [] : aThreshold(path, value));
