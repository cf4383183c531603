import type { HookCallbackMatcher, HookEvent } from '@anthropic-ai/claude-agent-sdk';
import { BreakerboxUsageError } from '@breakerbox/core';
import { aValue } from '../options.ts';

/** The type of `options.hooks` of `query`. */
export type Hooks = Partial<Record<HookEvent, HookCallbackMatcher[]>>;

/**
 * Joins several objects of hooks into one. The matchers of each event follow each other unchanged. Claude Code runs all hooks of an
 * event concurrently. If one of them denies a call, the call is denied.
 *
 * @throws BreakerboxUsageError for a value that is not an object of hooks. `undefined` is left out.
 *
 * @example
 * ```ts
 * const hooks = mergeHooks(ownHooks, breakerHooks(session));
 * for await (const message of query({ prompt, options: { hooks } })) show(message);
 * ```
 */
export function mergeHooks(...hooks: readonly (Hooks | undefined)[]): Hooks {
  const merged: Hooks = {};
  for (const [index, one] of hooks.entries()) {
    for (const [event, matchers] of Object.entries(asHooks(one, index)) as [HookEvent, HookCallbackMatcher[]?][]) {
      if (matchers !== undefined) merged[event] = [...(merged[event] ?? []), ...matchers];
    }
  }
  return merged;
}

const asHooks = (hooks: Hooks | undefined, index: number): Hooks => {
  if (hooks === undefined) return {};
  const events: unknown = typeof hooks === 'object' && hooks !== null && !Array.isArray(hooks) && Object.values(hooks);
  if (Array.isArray(events) && events.every((one) => one === undefined || Array.isArray(one))) return hooks;
  throw new BreakerboxUsageError(
    `mergeHooks(): argument ${index + 1} is ${aValue(hooks)} instead of an object with an array of matchers per event. ` +
      'Pass your options.hooks of query() and the result of breakerHooks().',
  );
};
