import { name as aName, list, object, show } from './checks.ts';
import { CIRCUIT_MODES } from './circuit/mode.ts';
import { BreakerboxUsageError } from './errors.ts';
import { type BreakerboxEvents, EVENT_NAMES } from './events.ts';
import type { CircuitSpec } from './tool.ts';

/** Refuses to control a tool by a mode that there isn't, or a tool without a circuit. */
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
  // A misspelt name would leave the tool that was meant as it is.
  throw new BreakerboxUsageError(
    `session.control(${show(name)}, …): no tool of that name is declared, so it has no circuit to control. Correct the name ` +
      `(box.tools lists them), or declare it before: box.declare(${show(name)}).`,
  );
};

/** Refuses options of a report that there aren't, and what is no list of names of tasks. */
export const checkReportOptions = (options: unknown): void => {
  const [first] = object({ done: list(aName, "['summary']") }, "{ done: ['summary'] }")('options', options);
  if (first === undefined) return;
  throw new BreakerboxUsageError(
    `session.report({ done }): ${first.path} ${first.message} The report says by the names in done which planned tasks are done.`,
  );
};

/** Refuses to listen for what never happens, or with what is no function. */
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
