import type { Permit } from '@breakerbox/core';
import { reportThrown } from '@breakerbox/core/internal';
import { context } from '@opentelemetry/api';

/**
 * Runs a part of a tool in its permit's context, or a run in its session's. If a context manager throws, the error is reported and at
 * most the context is lost: the part still runs exactly once, and its result or error is its own (E5).
 */
export const enter = <Value>(permit: Pick<Permit, 'context'>, part: () => Value): Value =>
  isEntered(permit) ? part() : enterBy(permit, part);

/** Without a span the permit's context is the active one, as in almost every call without tracing. Asking for both costs 60 ns. */
const isEntered = (permit: Pick<Permit, 'context'>): boolean =>
  ('span' in permit && permit.span === undefined) || isActive(permit);

const isActive = (permit: Pick<Permit, 'context'>): boolean => {
  try {
    return context.active() === permit.context;
  } catch {
    return false; // The context manager throws. `enterBy` reports it.
  }
};

const enterBy = <Value>(permit: Pick<Permit, 'context'>, part: () => Value): Value => {
  let begun = false;
  let end: { readonly value: Value } | { readonly error: unknown } | undefined;
  const run = (): void => {
    if (begun) return; // The context manager calls twice, or later.
    begun = true;
    try {
      end = { value: part() };
    } catch (error) {
      end = { error };
    }
  };
  try {
    context.with(permit.context, run);
  } catch (error) {
    reportThrown("OpenTelemetry's context manager", error);
  }
  run();
  if (end !== undefined && 'value' in end) return end.value;
  throw (end as unknown as { readonly error: unknown }).error;
};
