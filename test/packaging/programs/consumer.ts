import { createBreakerbox, type ErrorCategory, type Permit, type Session } from '@breakerbox/core';
import { guard, ToolUnavailableError } from '@breakerbox/instrumentation';
import { startTelemetry, type TelemetryHandle } from '@breakerbox/telemetry';

export const telemetry: TelemetryHandle = startTelemetry({ prometheus: false });
const session: Session = createBreakerbox({ agent: 'typed', tools: { search: { profile: 'fast' } } }).session();
export const permit: Permit = session.acquire('search');
const category: ErrorCategory = 'network';
permit.settle({ outcome: 'failure', category });
export const search = guard(session, 'search', async (input: { query: string }) => input.query.length);
export const found: Promise<number> = search({ query: 'what' });
export const known = (error: unknown): string | undefined =>
  error instanceof ToolUnavailableError ? error.tool : undefined;

// @ts-expect-error The types are there: an unknown profile is an error.
createBreakerbox({ agent: 'typed', tools: { search: { profile: 'quick' } } });
// @ts-expect-error And so is an input that doesn't fit.
search({ question: 'what' });
