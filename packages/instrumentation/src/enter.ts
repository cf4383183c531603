import { reportThrown } from '@breakerbox/core/internal';
import { type Context, context } from '@opentelemetry/api';

/**
 * Runs a part of a tool in a context. A context manager that throws is reported, and costs the context at most: the part
 * runs once whatever it does, and its result or error is its own (E5).
 */
export const enter = <Value>(contextOf: () => Context, part: () => Value): Value => {
  const outcomes: (() => Value)[] = [];
  const run = (): void => {
    if (outcomes.length > 0) return; // A context manager that calls twice, or later.
    try {
      const value = part();
      outcomes.push(() => value);
    } catch (error) {
      outcomes.push(() => {
        throw error;
      });
    }
  };
  try {
    context.with(contextOf(), run);
  } catch (error) {
    reportThrown("OpenTelemetry's context manager", error);
  }
  if (outcomes.length === 0) run();
  return (outcomes[0] as () => Value)();
};
