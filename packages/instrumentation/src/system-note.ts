import type { Session } from '@breakerbox/core';

/** A system prompt, as the AI SDK takes it. */
export type Instructions = string | SystemMessage | SystemMessage[];

interface SystemMessage {
  role: 'system';
  content: string;
}

/** By these it is found again in the next step, where the SDK hands on what was said in this one. */
const [OPEN, CLOSE] = ['<breakerbox>', '</breakerbox>'];
const NOTE = new RegExp(`\\n*${OPEN}\\n[^]*?\\n${CLOSE}`, 'g');

/** A system prompt with a note behind it. Messages may be marked for a prompt cache: theirs stay as they are. */
export const withNote = (instructions: Instructions | undefined, note: string): Instructions => {
  if (note === '') return instructions ?? [];
  const block = `${OPEN}\n${note}\n${CLOSE}`;
  const messages = typeof instructions === 'object' ? [instructions].flat() : [];
  if (messages.length > 0) return [...messages, { role: 'system', content: block }];
  return typeof instructions === 'string' && instructions !== '' ? `${instructions}\n\n${block}` : block;
};

/** The same without. `noted`: there was one. */
export const withoutNote = (
  instructions: Instructions | undefined,
): { readonly instructions: Instructions | undefined; readonly noted: boolean } => {
  if (instructions === undefined) return { instructions, noted: false };
  if (typeof instructions === 'string') {
    const own = instructions.replace(NOTE, '');
    return { instructions: own === '' && instructions !== '' ? undefined : own, noted: own !== instructions };
  }
  const messages = [instructions].flat();
  const own = messages.filter(({ content }) => content.replace(NOTE, '') !== '' || content === '');
  const noted = own.length < messages.length;
  return { instructions: noted ? own : instructions, noted };
};

/** What was last said of each session. */
const said = new WeakMap<Session, string>();

/**
 * The session's note, in the words of last time where only the time to wait has changed: a system prompt that changes with each
 * step would never be in a prompt cache.
 */
export const steadyNote = (session: Session): string => {
  const now = session.note();
  const last = said.get(session);
  if (last !== undefined && untimed(last) === untimed(now)) return last;
  said.set(session, now);
  return now;
};

const untimed = (note: string): string => note.replace(/(it may be tried again) [^;.]*/g, '$1');
