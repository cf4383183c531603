import type { ProbeWait } from '../circuit/schedule.ts';
import { formatDuration } from '../format.ts';
import type { Degradation } from './map.ts';

/** How names, and words from the configuration, go into a sentence that a model reads. */

/** Characters of a tool's name that are shown. */
const LONGEST_NAME = 80;

/** What is not seen, or moves what is: control and formatting characters, lone surrogates, line separators. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/u;

/** What could end the quotes around a name. */
const QUOTING = /['"`\\‘’“”]/;

/**
 * `'web_search'`. Many tools come from servers that anybody may write, and models make names up: one that holds quotes, line
 * breaks or the like is shown as JSON shows it, so that it can't be taken for our own words, and a long one is cut.
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

/** Words from the configuration as a part of a sentence: on one line, without a full stop of their own. */
export const asClause = (words: string): string =>
  words
    .replace(/[\s\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .replace(/\.$/, '');

/** What is lost by an alternative. */
export const LOSS: Readonly<Record<Degradation, string>> = {
  low: 'little is lost',
  high: 'much is lost',
  unknown: 'how much is lost is not known',
};

/** How far the next probe is away: `in 3 steps or in 60 s`. */
export const describeWait = ({ steps, ms, notBeforeMs }: ProbeWait): string => {
  // A Retry-After may hold up a probe whose own wait is over.
  if ((steps ?? 1) <= 0 || (ms ?? 1) <= 0) return `in ${formatDuration(notBeforeMs)}`;
  const bySteps = steps === undefined ? undefined : `in ${steps} ${steps === 1 ? 'step' : 'steps'}`;
  const byTime = ms === undefined ? undefined : `in ${formatDuration(ms)}`;
  const due = [bySteps, byTime].filter((one) => one !== undefined).join(' or ');
  return notBeforeMs > 0 ? `${due}, and not for ${formatDuration(notBeforeMs)}` : due;
};
