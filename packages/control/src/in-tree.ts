import type { ChildState, SessionState } from './schema.ts';

/** Whether an id is that of the session, or of a sub-agent in its tree that has not ended (D1). */
export const isInTree = ({ id, children = [] }: SessionState, wanted: string): boolean =>
  id === wanted || childrenNamed({ id, children }, wanted).length > 0;

/** Its sub-agents that live and have this name: their id, or after the id of the session or of the one above them, such as `run-7/researcher`. */
export const childrenNamed = <Child extends Pick<ChildState, 'id' | 'parent' | 'ended'>>(
  { id, children = [] }: { readonly id: string; readonly children?: readonly Child[] | undefined },
  wanted: string,
): readonly Child[] =>
  children.filter(
    (child) => !child.ended && [child.id, `${id}/${child.id}`, `${child.parent}/${child.id}`].includes(wanted),
  );
