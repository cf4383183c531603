import { walk } from './graph.ts';
import type { Capability } from './map.ts';

/** What each tool stands on, by tool. A name that has no entry is no tool but a resource. */
export type Dependencies = ReadonlyMap<string, readonly string[]>;

/** Every tool has an entry, one that stands on nothing too. */
export const dependenciesOf = (tools: Readonly<Record<string, Capability>>): Dependencies =>
  new Map(Object.entries(tools).map(([tool, { dependsOn = [] }]) => [tool, dependsOn]));

/** P4: for each tool, how many tools lie on the longest path of `dependsOn` through it, itself included. Resources are no link. */
export const longestChains = (dependencies: Dependencies): ReadonlyMap<string, number> => {
  const above = depths(dependents(dependencies));
  return new Map([...depths(dependencies)].map(([tool, below]) => [tool, below + (above.get(tool) ?? 1) - 1]));
};

/** How many tools lie on the longest path from each, itself included. */
const depths = (next: Dependencies): ReadonlyMap<string, number> => {
  const found = new Map<string, number>();
  for (const name of walk(next.keys(), (one) => next.get(one)).order) {
    const ahead = next.get(name)?.map((one) => found.get(one) ?? 0);
    if (ahead !== undefined) found.set(name, 1 + Math.max(0, ...ahead));
  }
  return found;
};

/** The same arrows the other way round: which tools stand on each. */
export const dependents = (dependencies: Dependencies): Dependencies => {
  const found = new Map<string, string[]>([...dependencies.keys()].map((tool) => [tool, []]));
  for (const [tool, basis] of dependencies) for (const one of basis) found.get(one)?.push(tool);
  return found;
};

/**
 * S4: a name that all these tools reach by `dependsOn`, themselves included: the nearest to them all, counted in hops; among
 * equals, the one that is nearest to the first tool. Undefined where they share nothing.
 */
export const sharedDependency = (tools: readonly string[], dependencies: Dependencies): string | undefined => {
  const [first, ...others] = tools.map((tool) => hopsFrom(tool, dependencies));
  const totals = [...(first ?? [])]
    .filter(([name]) => others.every((hops) => hops.has(name)))
    .map(([name, own]) => [name, others.reduce((sum, hops) => sum + (hops.get(name) ?? 0), own)] as const);
  return totals.toSorted(([, one], [, other]) => one - other)[0]?.[0]; // Stable: nearest to the first tool first.
};

/** How many hops away each name is that this one reaches, nearest first; a cycle is walked once. */
const hopsFrom = (tool: string, dependencies: Dependencies): ReadonlyMap<string, number> => {
  const hops = new Map([[tool, 0]]);
  for (const [name, count] of hops) {
    for (const one of dependencies.get(name) ?? []) if (!hops.has(one)) hops.set(one, count + 1); // Grows as it is walked.
  }
  return hops;
};

/** S2: these tools, and every tool that depends on one of them, directly or by others. `above`: see {@link dependents}. */
export const withDependents = (tools: Iterable<string>, above: Dependencies): ReadonlySet<string> => {
  const found = new Set(tools);
  for (const tool of found) for (const one of above.get(tool) ?? []) found.add(one); // Grows as it is walked.
  return found;
};
