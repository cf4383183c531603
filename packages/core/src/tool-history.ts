import type { Breakerbox } from './breakerbox.ts';
import { boxInternals } from './session-internals.ts';

const evidenceOf = (box: Breakerbox) => boxInternals(box, 'the history of a box').context.evidence;

/** For replays: the box goes on with what another box knows of its tools, as if both were one process (O8). */
export const shareHistory = (from: Breakerbox, to: Breakerbox): void => {
  const { succeeded, unexplained } = evidenceOf(from);
  Object.assign(evidenceOf(to), { succeeded, unexplained });
};

/** Whether an error with this digest is one of an unusable tool (O8). */
export const isUnusableWith = (box: Breakerbox, tool: string, unexplained: string): boolean => {
  const known = evidenceOf(box).unexplained.get(tool);
  return known?.isUnusable === true && known.text === unexplained;
};
