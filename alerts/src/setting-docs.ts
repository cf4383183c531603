import { readFileSync } from 'node:fs';
import { DEFAULT_SETTINGS, type RuleSettings } from './settings.ts';

/** A setting, for documentation. */
export interface SettingDoc {
  readonly name: keyof RuleSettings;
  readonly default: string | number;
  /** `duration`: in Prometheus' notation, `2m30s`. `share`: from 0 to 1. */
  readonly unit: 'duration' | 'share' | 'seconds' | 'times' | 'number';
  /** The alert it belongs to, its meaning, and the reason for its value. */
  readonly meaning: string;
}

/** The package ships its sources, at the same place relative to src/ and dist/. */
const SOURCE = new URL('../src/settings.ts', import.meta.url);

const DOCUMENTED = /\/\*\*(?<comment>(?:[^*]|\*(?!\/))*)\*\/\s*readonly (?<name>\w+): (?:string|number);/g;

/** A comment as plain text: without asterisks and code marks, links by name. */
const textOf = (comment: string): string =>
  comment
    .replaceAll(/^\s*\*/gm, ' ')
    .replaceAll(/\{@link (\w+)\}/g, '$1')
    .replaceAll('`', '')
    .replaceAll(/\s+/g, ' ')
    .trim();

const unitOf = (value: string | number, meaning: string): SettingDoc['unit'] => {
  if (typeof value === 'string') return 'duration';
  if (meaning.includes('(0 to 1)') || /\bthe same share\b/.test(meaning)) return 'share';
  if (/: seconds\b/.test(meaning)) return 'seconds';
  return /\bhow many times\b/.test(meaning) ? 'times' : 'number';
};

/**
 * All settings with their meanings, which are the comments in settings.ts, so that each threshold is explained in one place.
 * @example settingDocs()[0] // { name: 'gap', default: '2m30s', unit: 'duration', meaning: 'The longest gap that is bridged …' }
 */
export const settingDocs = (): readonly SettingDoc[] => {
  const comments = new Map(
    [...readFileSync(SOURCE, 'utf8').matchAll(DOCUMENTED)].map(({ groups = {} }) => [
      groups.name ?? '',
      textOf(groups.comment ?? ''),
    ]),
  );
  return Object.entries(DEFAULT_SETTINGS).map(([name, value]: [string, string | number]) => {
    const meaning = comments.get(name) ?? '';
    return { name: name as keyof RuleSettings, default: value, unit: unitOf(value, meaning), meaning };
  });
};
