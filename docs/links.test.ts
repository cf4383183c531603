import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { slug } from './reference/page.ts';
import { documents, ROOT } from './snippets/fences.ts';

/** Without blocks of code, in which brackets are no links. */
const proseOf = (path: string): string =>
  readFileSync(join(ROOT, path), 'utf8').replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');

/** As GitHub gives them: the second of a kind has a number. */
const anchorsOf = (path: string): ReadonlySet<string> => {
  const seen = new Map<string, number>();
  const anchors = [...proseOf(path).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => {
    const anchor = slug(title.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1'));
    const before = seen.get(anchor) ?? 0;
    seen.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  });
  return new Set(anchors);
};

const links = documents().flatMap((file) =>
  [...proseOf(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => ({ file, link })),
);
const own = links.filter(({ link }) => !/^[a-z]+:/.test(link));

describe('every link within the repository leads somewhere', () => {
  test.each(documents())('%s', (file) => {
    const dead = own.filter((one) => one.file === file && leadsNowhere(one));
    expect(dead.map(({ link }) => link)).toEqual([]);
  });

  test('there are links', () => {
    expect(own.length).toBeGreaterThan(200);
  });
});

test('every path in CONTRIBUTING.md exists', () => {
  const written = [
    ...proseOf('CONTRIBUTING.md').matchAll(/`((?:alerts|dashboards|docs|examples|packages|scripts|test)\/[\w./-]+)`/g),
  ];
  const paths = written.map(([, path = '']) => path).filter((path) => !/[A-Z]{4}/.test(path));
  expect(paths.length).toBeGreaterThan(20);
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

function leadsNowhere({ file, link }: { readonly file: string; readonly link: string }): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? file : normalize(join(dirname(file), path));
  const full = join(ROOT, target);
  if (!existsSync(full)) return true;
  if (anchor === undefined) return false;
  const readme = statSync(full).isDirectory() ? join(target, 'README.md') : target;
  return !existsSync(join(ROOT, readme)) || !anchorsOf(readme).has(anchor);
}

test('the index of the documentation has every page', () => {
  const index = readFileSync(join(ROOT, 'docs/README.md'), 'utf8');
  const pages = documents().filter((path) => path.startsWith('docs/') && path !== 'docs/README.md');
  expect(pages.filter((path) => !index.includes(`(${path.replace('docs/', '')})`))).toEqual([]);
});
