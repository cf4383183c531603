import type { ToolCall } from './caller.ts';
import { type Guarded, markOf } from './guarded.ts';
import { type OptionCheck, show } from './options.ts';
import type { Answer, DirectCall } from './otherwise.ts';

/** Properties of a function that `guard` made, maybe in another copy of the package. */
export interface Guard extends Guarded {
  readonly tool: string;
  /**
   * Calls the tool in place of another. Undefined if it may not be called, so the alternative was not used.
   * @param leftMs Milliseconds that it has at most, even if its own timeout is longer. Undefined: no limit of the caller's.
   */
  standIn(input: unknown, call: ToolCall, leftMs: number | undefined): Promise<Answer | undefined>;
}

/** How to call the function given for a tool; undefined if there is no such function. */
export const directCallOf = (
  alternatives: Readonly<Record<string, object>>,
  tool: string,
  call: ToolCall,
  leftMs: () => number | undefined,
): DirectCall | undefined => {
  const found = Object.hasOwn(alternatives, tool) ? guardOf(alternatives[tool]) : undefined;
  return found && ((input) => found.standIn(input, call, leftMs()));
};

/** The check of an option with functions that `guard` made, by the names of their tools. */
export const guardsByTool: OptionCheck = (value) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return `is ${show(value)}. Set an object of functions that guard() made, by the names of their tools, or leave it out.`;
  }
  for (const [name, one] of Object.entries(value)) {
    const found = guardOf(one);
    if (found === undefined) {
      return `has under '${name}' no function that guard() made, so that its calls would have no decision. Give guard(session, '${name}', …).`;
    }
    if (found.tool !== name) {
      return `has under '${name}' the function of tool '${found.tool}'. Put it under '${found.tool}', or give that of '${name}'.`;
    }
  }
  return undefined;
};

const guardOf = (value: unknown): Guard | undefined => {
  const found = typeof value === 'function' ? (markOf(value) as Partial<Guard> | undefined) : undefined;
  return found?.standIn && (found as Guard);
};
