import type { Capability } from './capability.ts';
import {
  type Dependencies,
  dependenciesOf,
  dependents,
  longestChains,
  sharedDependency,
  withDependents,
} from './chains.ts';

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
