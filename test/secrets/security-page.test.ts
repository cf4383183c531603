/** SECURITY.md claims nothing that no test shows. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { hasTest, type Titles, titlesIn } from '../../docs/reference/test-titles.ts';

const ROOT = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');
const page = read('SECURITY.md');

interface Citation {
  readonly title: string;
  readonly file: string;
}

/** Links to test files: the text is the test's title, of a table's case with the case's own text. */
const citations: readonly Citation[] = [...page.matchAll(/\[([^\]]+)\]\(([^)]+\.test\.ts)\)/g)].map(
  ([, title = '', file = '']) => ({ title, file }),
);

/** Rows of the tables but their heads. */
const rows = page.split('\n').filter((line) => /^\|(?! (?:what is|who) )/.test(line) && !/^\|-/.test(line));

/** Of the file; a table of cases may stand in one beside it. */
const titlesOf = (file: string): Titles => {
  const source = read(file);
  const beside = [...source.matchAll(/ from '\.\/([\w.-]+\.ts)'/g)].map(([, name = '']) =>
    file.replace(/[^/]+$/, name),
  );
  const texts = beside.flatMap((one) => [...titlesIn(read(one)).texts]);
  const own = titlesIn(source);
  return { ...own, texts: new Set([...own.texts, ...texts]) };
};

/** Whether a test of that title runs in the file. */
const isTest = ({ title, file }: Citation): boolean =>
  existsSync(new URL(file, ROOT)) && hasTest(titlesOf(file), title);

describe('SECURITY.md', () => {
  test('names tests that exist', () => {
    expect(citations.length).toBeGreaterThan(25);
    expect(citations.filter((one) => !isTest(one))).toEqual([]);
  });

  test('has a test in each row', () => {
    expect(rows.length).toBeGreaterThan(20);
    expect(rows.filter((row) => !row.includes('.test.ts)'))).toEqual([]);
  });

  test('links to nothing that is not there', () => {
    const links = [...page.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path = '']) => path);
    expect(links.filter((path) => !existsSync(new URL(path, ROOT)))).toEqual([]);
  });

  test('fits on two pages', () => {
    expect(page.split('\n').length).toBeLessThan(100);
  });
});
