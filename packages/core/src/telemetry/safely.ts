import { diag } from '@opentelemetry/api';

/** Says that something threw which has no say in the outcome of a tool call (E5). */
export const reportThrown = (what: string, error: unknown): void => {
  try {
    diag.error(`Breakerbox: ${what} threw; the tool call goes on as if it hadn't.`, error);
  } catch {
    // The application's own logger threw, and there is nobody left to tell.
  }
};

/** Runs what must not change the outcome of a tool call: its exception goes to OpenTelemetry's `diag` (E5). */
export const safely = <T>(what: string, run: () => T): T | undefined => {
  try {
    return run();
  } catch (error) {
    reportThrown(what, error);
    return undefined;
  }
};
