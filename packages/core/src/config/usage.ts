import { CIRCUIT_MODES } from '../circuit/mode.ts';
import { type BreakerboxEvents, EVENT_NAMES } from '../events.ts';
import type { CircuitSpec } from '../tool.ts';
import { show } from './checks.ts';
import { BreakerboxUsageError } from './errors.ts';

/** Rejects a mode that does not exist, and a tool without a circuit. */
export const checkControl = (
  name: unknown,
  mode: unknown,
  tool: CircuitSpec | undefined,
  keepsCircuits: boolean,
): void => {
  if (!(CIRCUIT_MODES as readonly unknown[]).includes(mode)) {
    throw new BreakerboxUsageError(
      `session.control(${show(name)}, ${show(mode)}): there is no such mode. ` +
        `Give one of ${CIRCUIT_MODES.join(', ')}.`,
    );
  }
  if (tool !== undefined && keepsCircuits) return;
  if (tool !== undefined) {
    throw new BreakerboxUsageError(
      `session.control(${show(name)}, …): this box keeps no circuits (scope 'none'), so the mode would reject no call. Set mode in ` +
        `the tool's settings, or give the box another scope.`,
    );
  }
  // With a misspelt name, the tool that was meant would stay as it is.
  throw new BreakerboxUsageError(
    `session.control(${show(name)}, …): no tool of that name is declared, so it has no circuit to control. Correct the name ` +
      `(box.tools lists them), or declare it before: box.declare(${show(name)}).`,
  );
};

/** Rejects an event that does not exist, and a listener that is not a function. */
export const checkListener = (event: unknown, listener: unknown): void => {
  if (!EVENT_NAMES.includes(event as keyof BreakerboxEvents)) {
    throw new BreakerboxUsageError(
      `box.on(${show(event)}, listener): there is no such event. Give one of ` + `${EVENT_NAMES.join(', ')}.`,
    );
  }
  if (typeof listener === 'function') return;
  throw new BreakerboxUsageError(
    `box.on('${event}', ${show(listener)}): the listener is called with each event. Give a function.`,
  );
};
