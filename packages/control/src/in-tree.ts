import type { SessionState } from './schema.ts';

/** Whether an id is that of the session, or of a sub-agent in its tree that has not ended (D1). */
export const isInTree = ({ id, children = [] }: SessionState, wanted: string): boolean =>
  id === wanted || children.some((child) => child.id === wanted && !child.ended);
