import type { Degradation, Permit, Reason, Route } from '@breakerbox/core';
import { sharedKey } from './shared.ts';

/** Where to go in place of a call that was not made (R2), for programs; the error's message says it in words. */
export interface UnavailableRoute {
  /** `alternative`: another tool. `manual`: what the fallback says. `stale`: the last good result. `defer`: nothing. */
  readonly kind: Route['kind'];
  /** Of an alternative: its name. */
  readonly tool: string | undefined;
  /** Of an alternative: how much is lost by it. */
  readonly degradation: Degradation | undefined;
  /** What to do by hand, in words. */
  readonly fallback: string | undefined;
}

/** By which copies of the package know each other's refusals. */
const REFUSAL: unique symbol = sharedKey('tool-unavailable-error', 1) as typeof REFUSAL;

/**
 * The tool was not called: its circuit or that of its group is open, a correlated failure lasts, or the session is paused. The message
 * is written for the model: what is unavailable, why, until when, and what to do. Retrying at once gives the same again.
 *
 * Its `stack` is name and message alone: nothing went wrong where it is made, and walking the stack would cost more than all the
 * rest of a refusal. The message is put into words when it, or `stack`, is first read; until then the error holds on to its
 * session, and what `structuredClone` makes of it has the words in its `stack` alone. Read `message` before you keep an error for
 * long, or send it to another thread. `instanceof` holds for those of another copy of the package too.
 *
 * @example
 * ```ts
 * try {
 *   return await search({ query });
 * } catch (error) {
 *   if (error instanceof ToolUnavailableError) return error.message; // let the model read it
 *   throw error;
 * }
 * ```
 */
export class ToolUnavailableError extends Error {
  override readonly name: 'ToolUnavailableError';
  readonly code: 'BREAKERBOX_TOOL_UNAVAILABLE';
  readonly tool: string;
  /** `skip`: not this tool now. `pause`: no tool at all. */
  readonly decision: 'skip' | 'pause';
  readonly reason: Reason;
  /** Where to go instead. */
  readonly route: UnavailableRoute;

  /** The decision, until it has been put into words. */
  #permit: Refusal | undefined;

  constructor(permit: Refusal) {
    const limit = Error.stackTraceLimit;
    limitStackTraces(0);
    try {
      super();
    } finally {
      limitStackTraces(limit);
    }
    this.#permit = permit;
    this.name = 'ToolUnavailableError';
    this.code = 'BREAKERBOX_TOOL_UNAVAILABLE';
    this.tool = permit.tool;
    this.decision = permit.decision;
    this.reason = permit.reason;
    this.route = describeRoute(permit.route);
  }

  /** What is out, why, until when, and what to do, as it was when the call was refused. */
  override get message(): string {
    const words = (#permit in this && this.#permit?.message) || ''; // Asked of the prototype, or where an engine writes `stack` at once.
    if (words !== '') this.message = words;
    return words;
  }

  override set message(message: string) {
    const own = { value: message, writable: true, configurable: true };
    // From here on it is like any error's, copied wherever those are, and the session is let go. One that is frozen stays as it is.
    if (Reflect.defineProperty(this, 'message', own) && #permit in this) this.#permit = undefined;
  }
}

/** Classes that somebody derives from it answer for themselves. */
function isRefusal(this: unknown, value: unknown): boolean {
  if (this !== ToolUnavailableError) return Function.prototype[Symbol.hasInstance].call(this as () => void, value);
  return typeof value === 'object' && value !== null && REFUSAL in value;
}

Object.defineProperty(ToolUnavailableError, Symbol.hasInstance, { value: isRefusal });
Object.defineProperty(ToolUnavailableError.prototype, REFUSAL, { value: true });
// For the first line of `stack`, which some engines write before the own name is there.
Object.defineProperty(ToolUnavailableError.prototype, 'name', {
  value: 'ToolUnavailableError',
  configurable: true,
  writable: true, // Where fields are compiled to assignments, the instance gets its own by one.
});

/** For all errors there are, for as long as one is made. Where built-ins are frozen they have their stack. */
const limitStackTraces = (limit: number): void => {
  try {
    Error.stackTraceLimit = limit;
  } catch {}
};

/** Without results and functions: errors are logged. */
const describeRoute = (route: Route = { kind: 'defer' }): UnavailableRoute => ({
  kind: route.kind,
  tool: route.kind === 'alternative' ? route.tool : undefined,
  degradation: route.kind === 'alternative' ? route.degradation : undefined,
  fallback: route.kind === 'manual' ? route.fallback : undefined,
});

/** A permit that says no. */
export type Refusal = Permit & { readonly decision: 'skip' | 'pause' };

/** Whether the tool must not be run. */
export const isRefused = (permit: Permit): permit is Refusal => {
  const { decision } = permit;
  return decision === 'skip' || decision === 'pause';
};
