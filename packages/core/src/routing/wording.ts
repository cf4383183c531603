import type { ProbeWait } from '../circuit/schedule.ts';
import type { Degradation } from './capability.ts';

/** How names, and words from the configuration, go into a sentence that a model reads. */

/** Characters of a tool's name that are shown. */
const LONGEST_NAME = 80;

/** Characters that are invisible or move others. The last two are symbols that are drawn blank. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/u;

/** Characters that could end the quotes around a name. */
const QUOTING = /['"`\\‘’“”]/;

/**
 * A quoted name: `'web_search'`. Many tools come from servers that anyone may write, and models make names up. A name with quotes,
 * line breaks or the like is shown as JSON shows it, so that it can't be taken for our own words. A long name is cut.
 */
export const quoteTool = (tool: string): string => {
  if (tool.length <= LONGEST_NAME && !UNSEEN.test(tool) && !QUOTING.test(tool)) return `'${tool}'`;
  let shown = '';
  for (const character of tool) {
    const escaped = escapeCharacter(character);
    if (shown.length + escaped.length > LONGEST_NAME) return `"${shown}…"`;
    shown += escaped;
  }
  return `"${shown}"`;
};

const escapeCharacter = (character: string): string => {
  if (character === '"' || character === '\\') return `\\${character}`;
  if (!UNSEEN.test(character) && !/[“”]/.test(character)) return character;
  return Array.from({ length: character.length }, (_, unit) => unicodeEscape(character.charCodeAt(unit))).join('');
};

const unicodeEscape = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;

/** Characters of a text from the configuration that are shown (R3). */
const LONGEST_CLAUSE = 200;

/** Words from the configuration as a part of a sentence: on one line, at most 200 characters, without a full stop of their own. */
export const asClause = (words: string): string => {
  // Cut before the search, so that the model's text and the work stay small.
  const line = words
    .slice(0, 4 * LONGEST_CLAUSE)
    .replace(/[\s\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  const characters = Array.from(line);
  return characters.length <= LONGEST_CLAUSE && words.length <= 4 * LONGEST_CLAUSE
    ? line.replace(/\.$/, '')
    : `${characters
        .slice(0, LONGEST_CLAUSE - 1)
        .join('')
        .trimEnd()}…`;
};

/** What is lost by an alternative. */
export const LOSS: Readonly<Record<Degradation, string>> = {
  low: 'little is lost',
  high: 'much is lost',
  unknown: 'it is unknown how much is lost',
};

/**
 * When the tool may work again, for a model: `in about 3 of your turns`, or `in about 60 s` where steps are not its turns. After a
 * Retry-After it is a time, because no probe is due before it. A turn takes a second at least, so that a shorter one is over by then.
 */
export const describeWait = ({ steps, ms, notBeforeMs }: ProbeWait, takesTurns: boolean): string => {
  const turns = takesTurns && steps !== undefined && steps > 0 ? steps : undefined;
  if (turns !== undefined && notBeforeMs <= turns * 1_000) {
    return turns === 1 ? 'in about 1 turn' : `in about ${turns} of your turns`;
  }
  // A Retry-After beside steps is the longer of the two here.
  const left = turns !== undefined || (steps ?? 1) <= 0 ? notBeforeMs : Math.max(ms ?? 0, notBeforeMs);
  return left > 0 ? `in about ${formatDuration(left)}` : 'later in this run';
};

/** `4 s`, `2 min`, `2 h 5 min`: milliseconds as a person says them, rounded up to the second. */
export const formatDuration = (ms: number): string => {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};
