import type { LimitView } from './limit-view.ts';
import type { CountedKind } from './limits.ts';
import type { Run } from './run.ts';

/** What a run has used: number of calls, steps and tokens, and money (D3). */
export type UsedView = Readonly<Record<CountedKind, number>>;

/** A sub-agent in a tree of runs, as it is now (D1). */
export interface ChildView {
  /** The id of its session. */
  readonly id: string;
  readonly name: string | undefined;
  /** The id of the session above it. */
  readonly parent: string;
  /** Its exact name: the ids of all above it, the root first, and its own, such as `run-7/planner/researcher`. */
  readonly path: string;
  /** Levels beneath the root, from 1. */
  readonly depth: number;
  readonly ended: boolean;
  /** What it and its own sub-agents have used. */
  readonly used: UsedView;
  /** Its own limits. */
  readonly limits: readonly LimitView[];
}

/** The sub-agents of a tree. */
export interface TreeView {
  /** Each after the one above it. */
  readonly children: readonly ChildView[];
  /** How many there are besides. */
  readonly leftOut: number;
}

interface Node {
  readonly run: Run;
  readonly depth: number;
  readonly parent: string;
  readonly path: string;
}

/** The sub-agents of a run: those that live, those of its snapshot that were not taken again (C11), and the latest that have ended. */
export const subAgentsOf = ({ children, kept, past }: Run): readonly Run[] => [...children, ...kept, ...past];

function* nodesOf(above: Run, before = above.id, depth = 1): Generator<Node> {
  for (const run of subAgentsOf(above)) {
    const path = `${before}/${run.id}`;
    yield { run, depth, parent: above.id, path };
    yield* nodesOf(run, path, depth + 1);
  }
}

/** The sub-agents beneath a run: at most so many. Those that are `wanted` come first, then those that live. */
export const viewTree = (root: Run, ms: number, most: number, wanted: string, isObserved: boolean): TreeView => {
  const all = [...nodesOf(root)];
  const named = new Set(livingNamed(root, wanted));
  const last = ({ run }: Node): number => Number(run.ended) + (named.has(run) ? 0 : 2);
  const shown = new Set(all.toSorted((a, b) => last(a) - last(b)).slice(0, most));
  return {
    children: all
      .filter((node) => shown.has(node))
      .map(({ run, depth, parent, path }) => ({
        id: run.id,
        name: run.name,
        parent,
        path,
        depth,
        ended: run.ended,
        used: { ...run.used },
        limits: run.ownView(ms, run, isObserved),
      })),
    leftOut: all.length - shown.size,
  };
};

/** The exact name of a run that lives: `run-7/planner/researcher`; of a root, its id. */
export const pathOf = ({ id, parent }: Run): string => (parent === undefined ? id : `${pathOf(parent)}/${id}`);

/**
 * The sub-agents of a tree that live and have this name: their path, their id, or their id after that of the root or of the session above
 * them, such as `run-7/researcher`.
 */
export const livingNamed = (root: Run, name: string, above = root): readonly Run[] =>
  above.children.flatMap((run) => {
    const isNamed = [run.id, `${root.id}/${run.id}`, `${above.id}/${run.id}`, pathOf(run)].includes(name);
    return [...(isNamed ? [run] : []), ...livingNamed(root, name, run)];
  });
