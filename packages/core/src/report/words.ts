import { formatDuration } from '../format.ts';
import { cut, visible } from './width.ts';

/** How reports write names, counts and times. */

const LONGEST_NAME = 40;

/** A name for people. A name of blanks alone would look like a gap. */
export const shown = (name: string): string => (name.trim() === '' ? `'${name}'` : visible(name));

/** A name within a sentence: one line, and short enough that the sentence stays readable. */
export const named = (name: string): string => cut(shown(name), LONGEST_NAME);

/** `a`, `a and b`, `a, b and c`; with more than `most`, `a, b and 4 more`. */
export const listed = (items: readonly string[], most = 4): string => {
  const shown = items.length > most ? [...items.slice(0, most - 1), `${items.length - most + 1} more`] : items;
  const last = shown.at(-1) ?? '';
  return shown.length < 2 ? last : `${shown.slice(0, -1).join(', ')} and ${last}`;
};

/** `1 failure`, `3 failures`, `12,000 tokens`. */
export const counted = (count: number, noun: string): string => `${figure(count)} ${noun}${count === 1 ? '' : 's'}`;

/** `12400` as `12,400`. */
export const figure = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',');

const MOMENT_MS = 1_000;

/** `2 min ago`: the same time as {@link lasted} says. */
export const ago = (ms: number): string => (ms < MOMENT_MS ? 'just now' : `${formatDuration(ms)} ago`);

/** `2 min`: how long something has lasted so far. */
export const lasted = (ms: number): string => (ms < MOMENT_MS ? 'under 1 s' : formatDuration(ms));

/** `2026-11-20 21:14:03 UTC`. */
export const utc = (unixMs: number): string => `${stamp(unixMs, 0)} UTC`;

/** `21:14:03`. */
export const utcTime = (unixMs: number): string => stamp(unixMs, 11);

/** There is no date beyond the year 275760; a report must not fail because of it. */
const stamp = (unixMs: number, from: number): string => {
  const date = new Date(unixMs);
  return Number.isNaN(date.getTime()) ? 'unknown time' : date.toISOString().replace('T', ' ').slice(from, 19);
};
