import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { titlesIn } from './reference/test-titles.ts';

/** How many rules each chapter has. A rule that is added here needs a row, and the row a test. */
const CHAPTERS = {
  E: 7,
  O: 10,
  C: 18,
  P: 4,
  B: 7,
  D: 7,
  S: 5,
  K: 4,
  R: 5,
  W: 2,
  F: 2,
  Q: 2,
  A: 10,
  M: 10,
  G: 11,
  T: 10,
  L: 9,
} as const;

/** Rules of the design that are not built yet. */
const NOT_YET: readonly string[] = [];

const RULES = Object.entries(CHAPTERS)
  .flatMap(([letter, count]) => Array.from({ length: count }, (_, index) => `${letter}${index + 1}`))
  .filter((rule) => !NOT_YET.includes(rule));

const ROOT = new URL('../', import.meta.url);
const readText = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');

const TEST_FILES = ['packages/*/src/**/*.test.ts', '{bench,dashboards,alerts,stack,test,docs}/**/*.test.ts'];
const testFiles = globSync(TEST_FILES, { cwd: fileURLToPath(ROOT), exclude: (path) => path.includes('node_modules') });
const titles = new Map(testFiles.map((file) => [file.replaceAll('\\', '/'), titlesIn(readText(file))]));

/** The rules with their words and the test files that show them. */
const rows = readText('docs/behaviour.md')
  .split('\n')
  .flatMap((line) => {
    const [, rule, words = '', shown = ''] = line.match(/^\| ([A-Z]\d+) \| (.*?) \| (.*) \|$/) ?? [];
    if (rule === undefined) return [];
    const files = shown.split('<br>').map((one) => one.match(/^\[.+\]\(\.\.\/(.+)\)$/)?.[1] ?? one);
    return [{ rule, words, files }];
  });

describe('the rules of behaviour.md', () => {
  test('each has one row, in order, with words and at least one test file', () => {
    expect(rows.map(({ rule }) => rule)).toEqual(RULES);
    for (const { rule, words, files } of rows) {
      expect(words.length, rule).toBeGreaterThan(20);
      expect(files.length, rule).toBeGreaterThan(0);
      expect(new Set(files).size, rule).toBe(files.length);
    }
  });

  test('each file that is named has a test that cites the rule', () => {
    const cites = (file: string, rule: string) => titles.get(file)?.some((title) => rulesOf(title).includes(rule));
    const named = rows.flatMap(({ rule, files }) => files.map((file) => ({ rule, file })));
    expect(named.filter(({ rule, file }) => cites(file, rule) !== true)).toEqual([]);
  });

  test('no test cites a rule that does not exist', () => {
    const cited = [...titles].flatMap(([file, all]) =>
      all.flatMap((title) => rulesOf(title).map((rule) => ({ file, rule }))),
    );
    expect(cited.length).toBeGreaterThan(500);
    expect(cited.filter(({ rule }) => !RULES.includes(rule))).toEqual([]);
  });

  test('no test is skipped, left for later, or run alone', () => {
    const switched = /\b(?:test|it|describe)\.(?:skip|todo|only|fails)\b/;
    expect(testFiles.filter((file) => switched.test(readText(file)))).toEqual([]);
  });
});

/** `C11, C3: …` cites both. */
function rulesOf(title: string): readonly string[] {
  return title.match(/^[A-Z]\d+(?:, [A-Z]\d+)*(?=: )/)?.[0].split(', ') ?? [];
}
