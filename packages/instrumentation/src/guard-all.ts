import { BreakerboxUsageError } from '@breakerbox/core';
import { isPlain } from '@breakerbox/core/internal';
import type { SessionSource } from './acquire.ts';
import { groupsBy, type ToolGroup, toolGroup } from './groups.ts';
import { throwIfGuarded } from './guard-mark.ts';
import { type GuardedCall, type GuardedFunction, type GuardOptions, guardFunction } from './guarded-tool.ts';
import { JUDGING } from './judging.ts';
import { aValue, checkOptions, functionGiven, milliseconds } from './options.ts';

/** A function that `guardAll` accepts as a tool. */
export type ToolFunction = (input: never, call: GuardedCall) => unknown;

/** The guarded functions of a record. */
export type GuardedFunctions<Tools extends Readonly<Record<string, ToolFunction>>> = {
  readonly [Name in keyof Tools]: GuardedFunction<
    Parameters<Tools[Name]> extends [] ? undefined : Parameters<Tools[Name]>[0],
    Awaited<ReturnType<Tools[Name]>>
  >;
};

/** Options of {@link guardAll}. They apply to every function of the record. The functions are each other's alternatives. */
export type GuardAllOptions = Omit<GuardOptions, 'alternatives' | 'group'> & {
  /**
   * The group of the tools (C13): a name for all of them, or a function that gives the group of each by the tool's name. Default:
   * none.
   */
  readonly group?: ToolGroup;
};

/**
 * Applies `guard` to a record of functions, by their names. A function whose alternative has `adapt` and is in the record calls that
 * one in its place. `this` in the functions is the given record, so a sibling called through `this` is not guarded.
 *
 * @throws BreakerboxConfigError for options or names that can't work.
 * @throws BreakerboxUsageError when `session` is not a session, `tools` is not a record of functions, or one is guarded for that
 * session already.
 *
 * @example
 * ```ts
 * const { search, fetchPage } = guardAll(session, {
 *   search: ({ query }: { query: string }, { signal }) => fetch(`${api}?q=${query}`, { signal }), // A Response is judged by its status.
 *   fetchPage: (url: string, { signal }) => fetch(url, { signal }),
 * });
 * ```
 */
export function guardAll<Tools extends Readonly<Record<string, ToolFunction>>>(
  session: SessionSource,
  tools: Tools,
  options: GuardAllOptions = {},
): GuardedFunctions<Tools> {
  if (!isRecord(tools)) {
    throw new BreakerboxUsageError(
      `guardAll(): got ${aValue(tools)} instead of tools, so there is nothing to guard. Pass an object with one function for each tool name.`,
    );
  }
  checkOptions('guardAll()', options, CHECKS);
  const { group, ...rest } = options;
  const groupOf = groupsBy(group, 'guardAll()');
  const guarded: Record<string, GuardedFunction<never, unknown>> = Object.create(null); // `__proto__` is a name too.
  // Each function looks in the record at its call, so a later entry can be the alternative of an earlier one.
  const all = { ...rest, alternatives: guarded };
  for (const [name, run] of Object.entries(tools)) {
    throwIfGuarded(`guardAll(), tool '${name}'`, run, session);
    const own = groupOf(name);
    const bound = typeof run === 'function' ? run.bind(tools) : run;
    guarded[name] = guardFunction(session, name, bound, own === undefined ? all : { ...all, group: own });
  }
  return Object.fromEntries(Object.entries(guarded)) as GuardedFunctions<Tools>;
}

const CHECKS = {
  timeoutMs: milliseconds,
  tokens: functionGiven,
  freshness: functionGiven,
  group: toolGroup,
  ...JUDGING,
};

/** Whether the record has own keys. A map, or an instance whose class has the functions, would give an empty record. */
const isRecord = (tools: unknown): boolean =>
  isPlain(tools) ||
  (typeof tools === 'object' && tools !== null && !Array.isArray(tools) && Object.keys(tools).length > 0);
