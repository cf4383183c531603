import type { Degradation, Reason, Route } from '@breakerbox/core';
import type { Rejection } from './acquire.ts';
import { processKey } from './process-wide.ts';

/** The route in place of a call that was not made (R2), for programs. The error's message says it in words. */
export interface UnavailableRoute {
  /** `alternative`: another tool. `manual`: what the fallback says. `stale`: the last good result. `defer`: nothing. */
  readonly kind: Route['kind'];
  /** Name of the alternative. */
  readonly tool: string | undefined;
  /** How much is lost by the alternative. */
  readonly degradation: Degradation | undefined;
  /** What to do by hand, in words. */
  readonly fallback: string | undefined;
}

/** The key by which copies of the package recognize each other's rejections. */
const REJECTION: unique symbol = processKey('tool-unavailable-error') as typeof REJECTION;

/**
 * The tool was not called: its circuit or that of its group is open, a correlated failure lasts, or the session is paused. The message
 * is written for the model: what is unavailable, why, until when, and what to do. An immediate retry gives the same error.
 *
 * Its `stack` has only the name and the message: no fault happened where it is made, and a stack trace would cost more than the rest of
 * a rejection. The message is written when you first read it or `stack`. Until then the error keeps its session in memory, and
 * `structuredClone` copies the words only into `stack`. Read `message` before you keep an error for long, or send it to another thread.
 * `instanceof` also holds for errors of another copy of the package.
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
  /** `skip`: do not use this tool now. `pause`: do not use any tool. */
  readonly decision: 'skip' | 'pause';
  readonly reason: Reason;
  /** Where to go instead. */
  readonly route: UnavailableRoute;

  /** The decision, until the message is written. */
  #permit: Rejection | undefined;

  constructor(permit: Rejection) {
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

  /** What is unavailable, why, until when, and what to do, as it was when the call was rejected. */
  override get message(): string {
    const words = (#permit in this && this.#permit?.message) || ''; // Read on the prototype, or by an engine that writes `stack` at once.
    if (words !== '') this.message = words;
    return words;
  }

  override set message(message: string) {
    const own = { value: message, writable: true, configurable: true };
    // From here on the message is an own property, as in any error, and the session is released. A frozen error stays as it is.
    if (Reflect.defineProperty(this, 'message', own) && #permit in this) this.#permit = undefined;
  }
}

/** Derived classes use the standard `instanceof`. */
function isRejection(this: unknown, value: unknown): boolean {
  if (this !== ToolUnavailableError) return Function.prototype[Symbol.hasInstance].call(this as () => void, value);
  return typeof value === 'object' && value !== null && REJECTION in value;
}

Object.defineProperty(ToolUnavailableError, Symbol.hasInstance, { value: isRejection });
Object.defineProperty(ToolUnavailableError.prototype, REJECTION, { value: true });
// For the first line of `stack`, which some engines write before the instance has its own name.
Object.defineProperty(ToolUnavailableError.prototype, 'name', {
  value: 'ToolUnavailableError',
  configurable: true,
  writable: true, // Where fields are compiled to assignments, the instance sets its own name by one.
});

/** Sets the limit for all errors while one is made. If built-ins are frozen, the errors have their stack. */
const limitStackTraces = (limit: number): void => {
  try {
    Error.stackTraceLimit = limit;
  } catch {}
};

/** The route without results and functions, because errors are logged. */
const describeRoute = (route: Route = { kind: 'defer' }): UnavailableRoute => ({
  kind: route.kind,
  tool: route.kind === 'alternative' ? route.tool : undefined,
  degradation: route.kind === 'alternative' ? route.degradation : undefined,
  fallback: route.kind === 'manual' ? route.fallback : undefined,
});
