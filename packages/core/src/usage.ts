import { name as aName, list, show } from './checks.ts';
import { CIRCUIT_MODES } from './circuit/mode.ts';
import { BreakerboxUsageError } from './errors.ts';
import type { ToolSpec } from './tool.ts';

/** Refuses to control a tool by a mode that there isn't, or a tool without a circuit. */
export const checkControl = (name: string, mode: unknown, tool: ToolSpec | undefined): void => {
  if (!(CIRCUIT_MODES as readonly unknown[]).includes(mode)) {
    throw new BreakerboxUsageError(
      `session.control('${name}', ${show(mode)}): there is no such mode, so nothing would say what happens to calls. ` +
        `Give one of ${CIRCUIT_MODES.join(', ')}.`,
    );
  }
  if (tool !== undefined) return;
  // A misspelt name would leave the tool that was meant as it is.
  throw new BreakerboxUsageError(
    `session.control('${name}', …): no tool of that name is declared, so it has no circuit to control. Correct the name ` +
      `(box.tools lists them), or declare it before: box.declare('${name}').`,
  );
};

/** Refuses what is no list of names of tasks. */
export const checkDone = (done: unknown): void => {
  const [first] = list(aName)('done', done);
  if (first === undefined) return;
  throw new BreakerboxUsageError(
    `session.report({ done }): ${first.path} ${first.message} The report says by these names which planned tasks are done.`,
  );
};
