import type { Degradation, Permit, Reason, Route } from '@breakerbox/core';

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

/**
 * The tool was not called: its circuit is open, or the session is paused. The message is written for the model: what is
 * out, why, until when, and what to do. Retrying at once gives the same again.
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
  override readonly name = 'ToolUnavailableError';
  readonly code = 'BREAKERBOX_TOOL_UNAVAILABLE';
  readonly tool: string;
  /** `skip`: not this tool now. `pause`: no tool at all. */
  readonly decision: 'skip' | 'pause';
  readonly reason: Reason;
  /** Where to go instead. */
  readonly route: UnavailableRoute;

  constructor(permit: Refusal) {
    super(permit.message);
    this.tool = permit.tool;
    this.decision = permit.decision;
    this.reason = permit.reason;
    this.route = describeRoute(permit.route);
  }
}

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
export const isRefused = (permit: Permit): permit is Refusal =>
  permit.decision === 'skip' || permit.decision === 'pause';
