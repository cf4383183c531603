import type { Capability } from './capability.ts';
import { walk } from './graph.ts';

/** What each tool depends on, by tool. A name without an entry is not a tool but a resource. */
export type Dependencies = ReadonlyMap<string, readonly string[]>;

/** Every tool has an entry, even if it depends on nothing. */
export const dependenciesOf = (tools: Readonly<Record<string, Capability>>): Dependencies =>
  new Map(Object.entries(tools).map(([tool, { dependsOn = [] }]) => [tool, dependsOn]));

/**
 * P4: for each tool, the number of tools on the longest path of `dependsOn` through it, itself included. Resources do not count.
 */
export const longestChains = (dependencies: Dependencies): ReadonlyMap<string, number> => {
  const above = depths(dependents(dependencies));
  return new Map([...depths(dependencies)].map(([tool, below]) => [tool, below + (above.get(tool) ?? 1) - 1]));
};

/** The number of tools on the longest path from each tool, itself included. */
const depths = (next: Dependencies): ReadonlyMap<string, number> => {
  const found = new Map<string, number>();
  for (const name of walk(next.keys(), (one) => next.get(one)).order) {
    const ahead = next.get(name)?.map((one) => found.get(one) ?? 0);
    if (ahead !== undefined) found.set(name, 1 + Math.max(0, ...ahead));
  }
  return found;
};

/** The same dependencies in reverse: which tools depend on each. */
export const dependents = (dependencies: Dependencies): Dependencies => {
  const found = new Map<string, string[]>([...dependencies.keys()].map((tool) => [tool, []]));
  for (const [tool, basis] of dependencies) for (const one of basis) found.get(one)?.push(tool);
  return found;
};

/**
 * S4: a name that all these tools reach by `dependsOn`, themselves included. The name with the fewest hops in total wins; among
 * equals, the one that is nearest to the first tool. Undefined if they share nothing.
 */
export const sharedDependency = (tools: readonly string[], dependencies: Dependencies): string | undefined => {
  const [first, ...others] = tools.map((tool) => hopsFrom(tool, dependencies));
  const totals = [...(first ?? [])]
    .filter(([name]) => others.every((hops) => hops.has(name)))
    .map(([name, own]) => [name, others.reduce((sum, hops) => sum + (hops.get(name) ?? 0), own)] as const);
  return totals.toSorted(([, one], [, other]) => one - other)[0]?.[0]; // Stable: nearest to the first tool first.
};

/** The number of hops to each name that this one reaches, nearest first. A cycle is walked once. */
const hopsFrom = (tool: string, dependencies: Dependencies): ReadonlyMap<string, number> => {
  const hops = new Map([[tool, 0]]);
  for (const [name, count] of hops) {
    for (const one of dependencies.get(name) ?? []) if (!hops.has(one)) hops.set(one, count + 1); // Grows during the walk.
  }
  return hops;
};

/** S2: these tools, and every tool that depends on one of them, directly or indirectly. `above`: see {@link dependents}. */
export const withDependents = (tools: Iterable<string>, above: Dependencies): ReadonlySet<string> => {
  const found = new Set(tools);
  for (const tool of found) for (const one of above.get(tool) ?? []) found.add(one); // Grows during the walk.
  return found;
};

/** The dependencies of a box's tools, computed when next needed. */
export interface KeptChains {
  /** A tool was declared: it may be a link of any chain. */
  forget(): void;
  /** Tools in the longest chain that goes through a tool (P4). */
  length(tool: string): number;
  /** S4. */
  shared(tools: readonly string[]): string | undefined;
  /** S2: the tools, and all that depend on them. */
  withDependents(tools: Iterable<string>): ReadonlySet<string>;
}

export const keptChains = (capabilities: () => Readonly<Record<string, Capability>>): KeptChains => {
  let dependencies: Dependencies | undefined;
  let above: Dependencies | undefined;
  let lengths: ReadonlyMap<string, number> | undefined;
  const current = (): Dependencies => {
    dependencies ??= dependenciesOf(capabilities());
    return dependencies;
  };
  return {
    forget: () => {
      dependencies = undefined;
      above = undefined;
      lengths = undefined;
    },
    length: (tool) => {
      lengths ??= longestChains(current());
      return lengths.get(tool) ?? 1;
    },
    shared: (tools) => sharedDependency(tools, current()),
    withDependents: (tools) => {
      above ??= dependents(current());
      return withDependents(tools, above);
    },
  };
};
