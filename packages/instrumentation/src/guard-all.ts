import { BreakerboxUsageError } from '@breakerbox/core';
import { isPlain } from '@breakerbox/core/internal';
import { aValue } from './caller.ts';
import { groupsBy, type ToolGroup, toolGroup } from './groups.ts';
import type { GuardedCall, GuardedFunction, GuardOptions } from './guard.ts';
import { refuseGuarded } from './guarded.ts';
import { guardTool } from './guarded-tool.ts';
import { JUDGING } from './judging.ts';
import { checkOptions, milliseconds, reader } from './options.ts';
import type { SessionSource } from './session-source.ts';

/** What `guardAll` takes for a tool. */
export type ToolFunction = (input: never, call: GuardedCall) => unknown;

/** The functions of a record, as `guard` gives them. */
export type GuardedFunctions<Tools extends Readonly<Record<string, ToolFunction>>> = {
  readonly [Name in keyof Tools]: GuardedFunction<
    Parameters<Tools[Name]> extends [] ? undefined : Parameters<Tools[Name]>[0],
    Awaited<ReturnType<Tools[Name]>>
  >;
};

/** How they behave; the same for each. They are each other's alternatives. */
export type GuardAllOptions = Omit<GuardOptions, 'alternatives' | 'group'> & {
  /**
   * The group of the tools (C13): a name for all of them, or a function that gives the group of each by the tool's name. Default:
   * none.
   */
  readonly group?: ToolGroup;
};

/**
 * `guard` for a record of functions, by their names. Those whose alternatives have `adapt` and stand in the record are called
 * in place. `this` in them is the record that was given: a sibling that one calls by it is the plain function.
 *
 * @throws BreakerboxConfigError for options or names that can't work.
 * @throws BreakerboxUsageError when `session` is no session, `tools` no record of functions, or one guarded for that session
 * already.
 *
 * @example
 * ```ts
 * const { search, fetchPage } = guardAll(session, {
 *   search: async ({ query }: { query: string }, { signal }) => (await fetch(`${api}?q=${query}`, { signal })).json(),
 *   fetchPage: async (url: string, { signal }) => (await fetch(url, { signal })).text(),
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
      `guardAll(): got ${aValue(tools)} in place of tools, so there is nothing to guard. Give an object of functions by the names of their tools.`,
    );
  }
  checkOptions('guardAll()', options, CHECKS);
  const { group, ...rest } = options;
  const groupOf = groupsBy(group, 'guardAll()');
  const guarded: Record<string, GuardedFunction<never, unknown>> = Object.create(null); // `__proto__` is a name too.
  // Each looks in the record when it is called: one that comes later stands in for one that comes earlier.
  const all = { ...rest, alternatives: guarded };
  for (const [name, run] of Object.entries(tools)) {
    refuseGuarded(`guardAll(), tool '${name}'`, run, session);
    const own = groupOf(name);
    const bound = typeof run === 'function' ? run.bind(tools) : run;
    guarded[name] = guardTool(session, name, bound, own === undefined ? all : { ...all, group: own });
  }
  return Object.fromEntries(Object.entries(guarded)) as GuardedFunctions<Tools>;
}

const CHECKS = { timeoutMs: milliseconds, tokens: reader, freshness: reader, group: toolGroup, ...JUDGING };

/** Of a map, or an instance whose class has the functions, an empty record would come. */
const isRecord = (tools: unknown): boolean =>
  isPlain(tools) ||
  (typeof tools === 'object' && tools !== null && !Array.isArray(tools) && Object.keys(tools).length > 0);
