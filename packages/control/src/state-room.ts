import { safeJson } from '@breakerbox/core/internal';
import type { BoxState, SessionState } from './schema.ts';
import { atOnce, type Parts } from './turns.ts';

/** Bytes of all boxes in an answer. Readers refuse answers of more than 6 MB. */
const MOST_BYTES = 4 * 1024 * 1024;

const bytesOf = (value: unknown): number => Buffer.byteLength(safeJson(value));

/**
 * The boxes as JSON of at most so many bytes. Each may use its share of what the ones before it have left. Sessions beyond it are counted as
 * left out, and tools and modes beyond it are not listed.
 */
export function* roomedBoxes(boxes: readonly BoxState[], room: number): Parts<BoxState[]> {
  const roomed: BoxState[] = [];
  let left = room;
  for (const [index, box] of boxes.entries()) {
    const share = left / (boxes.length - index);
    const { sessions, ...whole } = box;
    const head = bytesOf(whole) > share ? { ...whole, tools: [], modes: [], uncounted: undefined } : whole;
    const headBytes = bytesOf(head);
    const { listed, used } = yield* roomedSessions(sessions, share - headBytes);
    left -= headBytes + used;
    roomed.push({ ...head, sessions: listed, sessionsLeftOut: box.sessionsLeftOut + sessions.length - listed.length });
  }
  return roomed;
}

function* roomedSessions(
  sessions: readonly SessionState[],
  room: number,
): Parts<{ readonly listed: SessionState[]; readonly used: number }> {
  const listed: SessionState[] = [];
  let used = 0;
  for (const session of sessions) {
    const bytes = bytesOf(session);
    if (used + bytes > room) break;
    used += bytes;
    listed.push(session);
    yield;
  }
  return { listed, used };
}

/** The boxes as the control API writes them. */
export const boxesText = (boxes: readonly BoxState[]): string => {
  const text = safeJson(boxes);
  return Buffer.byteLength(text) <= MOST_BYTES ? text : safeJson(atOnce(roomedBoxes(boxes, MOST_BYTES)));
};
