import type { Session } from '@breakerbox/core';

/** A system prompt, as the AI SDK takes it. */
export type Instructions = string | SystemMessage | SystemMessage[];

interface SystemMessage {
  role: 'system';
  content: string;
}

/** What was said of each session, the last at the end: the SDK hands on in the next step what was said in this one. */
const said = new WeakMap<Session, Set<string>>();
/** Runs that share a session may each have said something else last. */
const REMEMBERED = 50;

/** A note as every adapter gives it to the model: between tags, so that the model can tell it from your own words. */
export const noteBlock = (note: string): string => (note === '' ? '' : `<breakerbox>\n${note}\n</breakerbox>`);

/** A system prompt with a note behind it. Messages may be marked for a prompt cache: theirs stay as they are. */
export const withNote = (instructions: Instructions | undefined, note: string): Instructions => {
  if (note === '') return instructions ?? [];
  const block = noteBlock(note);
  const messages = typeof instructions === 'object' ? [instructions].flat() : [];
  if (messages.length > 0) return [...messages, { role: 'system', content: block }];
  return typeof instructions === 'string' && instructions !== '' ? `${instructions}\n\n${block}` : block;
};

/** The same without what {@link withNote} has put there, and nothing else. `noted`: there was one. */
export const withoutNote = (
  instructions: Instructions | undefined,
  session: Session,
): { readonly instructions: Instructions | undefined; readonly noted: boolean } => {
  const blocks = [...(said.get(session) ?? [])].filter(Boolean).map(noteBlock);
  if (typeof instructions === 'string') {
    const block = blocks.find((one) => instructions === one || instructions.endsWith(`\n\n${one}`));
    if (block === undefined) return { instructions, noted: false };
    return { instructions: instructions.slice(0, -block.length - 2) || undefined, noted: true };
  }
  const messages = instructions === undefined ? [] : [instructions].flat();
  const own = messages.filter(({ content }) => !blocks.includes(content));
  const noted = own.length < messages.length;
  return { instructions: noted ? own : instructions, noted };
};

/**
 * The session's note, in the words of last time where only time has passed: a system prompt that changes with each step would
 * never be in a prompt cache. A wait that has grown, by a probe of another session, is said anew.
 */
export const steadyNote = (session: Session): string => {
  const now = session.note();
  const notes = said.get(session) ?? new Set();
  const last = [...notes].at(-1);
  if (last !== undefined && untimed(last) === untimed(now) && !hasGrown(last, now)) return last;
  said.set(session, notes);
  notes.delete(now);
  notes.add(now);
  for (const oldest of notes) {
    if (notes.size <= REMEMBERED) break;
    notes.delete(oldest);
  }
  return now;
};

const WAITS = /(it may be tried again) [^;.]*/g;
const untimed = (note: string): string => note.replace(WAITS, '$1');

const UNITS: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600 };
const waitsIn = (note: string): number[] =>
  (note.match(WAITS) ?? []).flatMap((wait) =>
    [...wait.matchAll(/(\d+) (\w+)/g)].map(([, count, unit = '']) => Number(count) * (UNITS[unit] ?? 1)),
  );
const hasGrown = (before: string, now: string): boolean => {
  const waits = waitsIn(before);
  return waitsIn(now).some((wait, place) => wait > (waits[place] ?? 0));
};
