import type { Breakerbox } from '../breakerbox.ts';
import { boxListeners } from '../made-boxes.ts';

/**
 * Calls `listener` for each box that is made in this process from now on, until you call the returned function. An error that a
 * listener throws is reported to OpenTelemetry's `diag`.
 *
 * @example
 * ```ts
 * const stop = onNewBox((box) => box.on('circuit.transition', ({ tool, to }) => logger.warn({ tool, to })));
 * ```
 */
export const onNewBox = (listener: (box: Breakerbox) => void): (() => void) => {
  const listeners = boxListeners().add(listener);
  return () => void listeners.delete(listener);
};
