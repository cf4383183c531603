/** SECURITY.md: each claim has a test. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { titlesIn } from '../../docs/reference/test-titles.ts';

const ROOT = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');
const page = read('SECURITY.md');

interface Citation {
  readonly file: string;
  /** Undefined: the file has no rule for the claim. */
  readonly rule?: string;
}

/** `Q2, E5: [secrets.test.ts](test/secrets/secrets.test.ts)`: the rules that the file's tests cite. */
const citations: readonly Citation[] = [
  ...page.matchAll(/((?:[A-Z]\d+, )*[A-Z]\d+: )?\[[^\]]+\]\(([^)]+\.test\.ts)\)/g),
].flatMap(([, rules, file = '']) =>
  rules === undefined
    ? [{ file }]
    : rules
        .slice(0, -2)
        .split(', ')
        .map((rule) => ({ file, rule })),
);

/** Rows of the tables, without their heads. */
const rows = page.split('\n').filter((line) => /^\|(?! (?:data|attacker) )/.test(line) && !/^\|-/.test(line));

/** The rules before the colon of a title: `E5, Q2: credentials …`. */
const rulesOf = (title: string): readonly string[] =>
  /^((?:[A-Z]\d+, )*[A-Z]\d+): /.exec(title)?.[1]?.split(', ') ?? [];

const isShown = ({ file, rule }: Citation): boolean => {
  if (!existsSync(new URL(file, ROOT))) return false;
  const titles = titlesIn(read(file));
  return rule === undefined ? titles.length > 0 : titles.some((title) => rulesOf(title).includes(rule));
};

describe('SECURITY.md', () => {
  test('names test files that exist, and rules that their tests cite', () => {
    expect(citations.length).toBeGreaterThan(25);
    expect(citations.filter((one) => !isShown(one))).toEqual([]);
  });

  test('has a test in each row', () => {
    expect(rows.length).toBeGreaterThan(20);
    expect(rows.filter((row) => !row.includes('.test.ts)'))).toEqual([]);
  });

  test('has no broken links', () => {
    const links = [...page.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path = '']) => path);
    expect(links.filter((path) => !existsSync(new URL(path, ROOT)))).toEqual([]);
  });

  test('fits on three pages', () => {
    expect(page.split('\n').length).toBeLessThan(120);
  });
});
