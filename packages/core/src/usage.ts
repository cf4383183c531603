import { name as aName, list, object, show } from './checks.ts';
import { CIRCUIT_MODES } from './circuit/mode.ts';
import { BreakerboxUsageError } from './errors.ts';
import { type BreakerboxEvents, EVENT_NAMES } from './events.ts';
import type { CircuitSpec } from './tool.ts';

/** Rejects a mode that does not exist, and a tool without a circuit. */
export const checkControl = (
  name: unknown,
  mode: unknown,
  tool: CircuitSpec | undefined,
  keepsCircuits: boolean,
): void => {
  if (!(CIRCUIT_MODES as readonly unknown[]).includes(mode)) {
    throw new BreakerboxUsageError(
      `session.control(${show(name)}, ${show(mode)}): there is no such mode, so nothing would say what happens to calls. ` +
        `Give one of ${CIRCUIT_MODES.join(', ')}.`,
    );
  }
  if (tool !== undefined && keepsCircuits) return;
  if (tool !== undefined) {
    throw new BreakerboxUsageError(
      `session.control(${show(name)}, …): this box keeps no circuits (scope 'none'), so the mode would hold nothing up. Set mode ` +
        `in the tool's settings, or give the box another scope.`,
    );
  }
  // With a misspelt name, the tool that was meant would stay as it is.
  throw new BreakerboxUsageError(
    `session.control(${show(name)}, …): no tool of that name is declared, so it has no circuit to control. Correct the name ` +
      `(box.tools lists them), or declare it before: box.declare(${show(name)}).`,
  );
};

/** Rejects report options that do not exist, and a `done` that is not a list of task names. */
export const checkReportOptions = (options: unknown): void => {
  const [first] = object({ done: list(aName, "['summary']") }, "{ done: ['summary'] }")('options', options);
  if (first === undefined) return;
  throw new BreakerboxUsageError(
    `session.report({ done }): ${first.path} ${first.message} The report says by the names in done which planned tasks are done.`,
  );
};

/** Rejects an event that does not exist, and a listener that is not a function. */
export const checkListener = (event: unknown, listener: unknown): void => {
  if (!EVENT_NAMES.includes(event as keyof BreakerboxEvents)) {
    throw new BreakerboxUsageError(
      `box.on(${show(event)}, listener): there is no such event, so the listener would never be called. Give one of ` +
        `${EVENT_NAMES.join(', ')}.`,
    );
  }
  if (typeof listener === 'function') return;
  throw new BreakerboxUsageError(
    `box.on('${event}', ${show(listener)}): the listener is called with each event. Give a function.`,
  );
};
