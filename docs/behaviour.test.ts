import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

/** How many rules each chapter has. A rule that is added here needs a row, and the row a test. */
const CHAPTERS = { E: 6, O: 5, C: 12, P: 4, B: 5, S: 5, K: 4, R: 4, W: 2, F: 2, Q: 2 } as const;

const RULES = Object.entries(CHAPTERS).flatMap(([letter, count]) =>
  Array.from({ length: count }, (_, index) => `${letter}${index + 1}`),
);

const ROOT = new URL('../', import.meta.url);
const readText = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');

/** `test('…')`, `it('…')` and `test.each(…)('…')`; what is skipped by any other modifier isn't there. */
const TITLED = /\b(?:test|it)(?:\.each\((?:[^()]|\([^()]*\))*\))?\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/gs;

const titlesIn = (text: string): readonly string[] =>
  [...text.matchAll(TITLED)].map(([, , title = '']) => title.replaceAll(/\\(.)/g, '$1'));

const TEST_FILES = ['packages/*/src/**/*.test.ts', '{dashboards,alerts,stack,test,docs}/**/*.test.ts'];
const testFiles = globSync(TEST_FILES, { cwd: fileURLToPath(ROOT), exclude: (path) => path.includes('node_modules') });
const titles = new Map(testFiles.map((file) => [file.replaceAll('\\', '/'), titlesIn(readText(file))]));

interface Row {
  readonly rule: string;
  readonly words: string;
  readonly tests: readonly { readonly title: string; readonly file: string }[];
}

const rows: readonly Row[] = readText('docs/behaviour.md')
  .split('\n')
  .flatMap((line) => {
    const [, rule, words = '', shown = ''] = line.match(/^\| ([A-Z]\d+) \| (.*?) \| (.*) \|$/) ?? [];
    if (rule === undefined) return [];
    const links = shown.split('<br>').map((one) => one.match(/^\[(.+)\]\(\.\.\/(.+)\)$/) ?? [one]);
    return [{ rule, words, tests: links.map(([, title = '', file = '']) => ({ title, file })) }];
  });

describe('the rules of behaviour.md', () => {
  test('each has one row, in order, with words and at least one test', () => {
    expect(rows.map(({ rule }) => rule)).toEqual(RULES);
    for (const { rule, words, tests } of rows) {
      expect(words.length, rule).toBeGreaterThan(20);
      expect(tests.length, rule).toBeGreaterThan(0);
      expect(new Set(tests.map(({ title, file }) => `${file} ${title}`)).size, rule).toBe(tests.length);
    }
  });

  test('each test that is named is there', () => {
    const named = rows.flatMap(({ rule, tests }) => tests.map((one) => ({ rule, ...one })));
    const missing = named.filter(({ file, title }) => !titles.get(file)?.includes(title));
    expect(missing).toEqual([]);
  });

  test('each rule has a test that cites it by its number', () => {
    const cites = (rule: string) => (title: string) => rulesOf(title).includes(rule);
    const uncited = rows.filter(({ rule, tests }) => !tests.some(({ title }) => cites(rule)(title)));
    expect(uncited.map(({ rule }) => rule)).toEqual([]);
  });

  test('no test cites a rule that there is not', () => {
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
