import type { Permit, Reason } from '@breakerbox/core';

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

  constructor(permit: Refusal) {
    super(permit.message);
    this.tool = permit.tool;
    this.decision = permit.decision;
    this.reason = permit.reason;
  }
}

/** A permit that says no. */
export type Refusal = Permit & { readonly decision: 'skip' | 'pause' };

/** Whether the tool must not be run. */
export const isRefused = (permit: Permit): permit is Refusal =>
  permit.decision === 'skip' || permit.decision === 'pause';
