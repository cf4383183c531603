import type { ChildState, SessionState } from './schema.ts';

/** Whether an id is that of the session, or of a sub-agent in its tree that has not ended (D1). */
export const isInTree = ({ id, children = [] }: SessionState, wanted: string): boolean =>
  id === wanted || childrenNamed({ id, children }, wanted).length > 0;

interface Tree<Child> {
  readonly id: string;
  readonly children?: readonly Child[] | undefined;
}

type Named = Pick<ChildState, 'id' | 'parent' | 'path' | 'ended'>;

/**
 * Its sub-agents that live and have this name. A path such as `run-7/planner/researcher` names one. So may its id, or its id after that of
 * the session or of the one above it, such as `run-7/researcher`.
 */
export const childrenNamed = <Child extends Named>(
  { id, children = [] }: Tree<Child>,
  wanted: string,
): readonly Child[] => {
  const living = children.filter(({ ended }) => !ended);
  const exact = living.filter(({ path }) => path === wanted);
  if (exact.length > 0) return exact;
  return living.filter((child) => [child.id, `${id}/${child.id}`, `${child.parent}/${child.id}`].includes(wanted));
};

/** The exact names of the session, or of its sub-agents, that have this name: of those whose limit pauses them, if there are any. */
export const pathsNamed = <Limit>(
  tree: Tree<Named & { readonly limits: readonly Limit[] }>,
  wanted: string,
  isOver: (limit: Limit) => boolean = () => false,
): readonly string[] => {
  if (tree.id === wanted) return [wanted];
  const named = childrenNamed(tree, wanted);
  const over = named.filter(({ limits }) => limits.some(isOver));
  return (over.length > 0 ? over : named).map(({ path }) => path);
};

/** Of several trees, those in which a session or a sub-agent has exactly this name; else all. */
export const exactFirst = <One>(
  all: readonly One[],
  treeOf: (one: One) => Tree<Named>,
  wanted: string,
): readonly One[] => {
  const exact = all.filter((one) => {
    const { id, children = [] } = treeOf(one);
    return id === wanted || children.some(({ path, ended }) => !ended && path === wanted);
  });
  return exact.length > 0 ? exact : all;
};
