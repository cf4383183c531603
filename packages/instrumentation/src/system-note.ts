import type { Session } from '@breakerbox/core';

/** A system prompt in the AI SDK's form. */
export type Instructions = string | SystemMessage | SystemMessage[];

interface SystemMessage {
  role: 'system';
  content: string;
}

/** The notes of each session, the latest last, because the SDK passes the instructions of one step to the next. */
const notesOf = new WeakMap<Session, Set<string>>();
/** Most notes kept for each session. Runs that share a session may have different latest notes. */
const REMEMBERED = 50;

/** A note in the form that every adapter gives the model: between tags, so that the model can tell it from your own words. */
export const noteBlock = (note: string): string => (note === '' ? '' : `<breakerbox>\n${note}\n</breakerbox>`);

/** A system prompt followed by a note. Messages may be marked for a prompt cache, so existing ones stay unchanged. */
export const withNote = (instructions: Instructions | undefined, note: string): Instructions => {
  if (note === '') return instructions ?? [];
  const block = noteBlock(note);
  const messages = typeof instructions === 'object' ? [instructions].flat() : [];
  if (messages.length > 0) return [...messages, { role: 'system', content: block }];
  return typeof instructions === 'string' && instructions !== '' ? `${instructions}\n\n${block}` : block;
};

/** A system prompt without the note of {@link withNote}. `noted`: whether there was one. */
export const withoutNote = (
  instructions: Instructions | undefined,
  session: Session,
): { readonly instructions: Instructions | undefined; readonly noted: boolean } => {
  const blocks = [...(notesOf.get(session) ?? [])].filter(Boolean).map(noteBlock);
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
 * The session's note. If only time has passed, or a run has used more of the same limits, the words stay the same: a system prompt that changes with each step would never be in
 * a prompt cache. A wait that has grown, because of another session's probe, changes the words.
 */
export const steadyNote = (session: Session): string => {
  const now = session.note();
  const notes = notesOf.get(session) ?? new Set();
  const last = [...notes].at(-1);
  if (last !== undefined && untimed(last) === untimed(now) && !hasGrown(last, now)) return last;
  notesOf.set(session, notes);
  notes.delete(now);
  notes.add(now);
  for (const oldest of notes) {
    if (notes.size <= REMEMBERED) break;
    notes.delete(oldest);
  }
  return now;
};

const WAITS = /(It may work again) [^.]*/g;
/** D2: what a run has used of its limits grows with each call. The limits change only if they are extended. */
const USED = /(?<=This run has used ).*?(?=\. Finish )/g;
const AMOUNTS = /[\d.,]+(?: (?:s|min|h)\b)?(?: \d+ min)?(?= of )/g;
const untimed = (note: string): string => note.replace(WAITS, '$1').replace(USED, (used) => used.replace(AMOUNTS, ''));

const UNITS: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600 };
const waitsIn = (note: string): number[] =>
  (note.match(WAITS) ?? []).flatMap((wait) =>
    [...wait.matchAll(/(\d+) (\w+)/g)].map(([, count, unit = '']) => Number(count) * (UNITS[unit] ?? 1)),
  );
const hasGrown = (before: string, now: string): boolean => {
  const waits = waitsIn(before);
  return waitsIn(now).some((wait, place) => wait > (waits[place] ?? 0));
};
