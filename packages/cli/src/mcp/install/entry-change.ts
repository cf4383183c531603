import type { Node } from 'jsonc-parser';
import { propertiesOf, propertyOf, treeOf } from './server-entry.ts';

/**
 * The lines of an entry that change, with - and +. Left out are values of headers and of the environment, and the
 * passwords and queries of addresses.
 * @param head what is before the entry on its first line: white space and its name
 */
export const changedLines = (head: string, before: string, after: string): readonly string[] => {
  const old = shownLines(head, before);
  const made = shownLines(head, after);
  const first = old.findIndex((line, index) => line !== made[index]);
  const most = Math.min(old.length, made.length) - first;
  let tail = 0;
  while (tail < most && old.at(-1 - tail) === made.at(-1 - tail)) tail += 1;
  const middle = (lines: readonly string[]) => lines.slice(first, lines.length - tail);
  return [...middle(old).map((line) => `- ${line}`), ...middle(made).map((line) => `+ ${line}`)];
};

const shownLines = (head: string, entry: string): readonly string[] => {
  let shown = entry;
  for (const { offset, length, text } of secretsIn(entry)) {
    shown = `${shown.slice(0, offset)}${text}${shown.slice(offset + length)}`;
  }
  return `${head}${shown}`.split(/\r\n|\n|\r/);
};

/** The last one first, so that the places of the others stay. */
const secretsIn = (entry: string) => {
  const { tree } = treeOf(entry);
  const members = ['env', 'headers'].flatMap((name) => propertiesOf(propertyOf(tree, name)?.value) ?? []);
  const args = propertyOf(tree, 'args')?.value.children ?? [];
  const isHeader = ({ value }: Node, index: number): boolean =>
    args[index - 1]?.value === '--header' || /^--header=/.test(`${value}`);
  const headers = args.filter(isHeader);
  const url = propertyOf(tree, 'url')?.value;
  const addresses = [...args.filter((arg, index) => !isHeader(arg, index)), ...(url ? [url] : [])].filter(({ value }) =>
    /https?:\/\//i.test(`${value}`),
  );
  return [
    ...[...members.map(({ value }) => value), ...headers].map((node) => ({ ...placeOf(node), text: '"…"' })),
    ...addresses.map((node) => ({ ...placeOf(node), text: shownAddress(entry, node) })),
  ].sort((one, other) => other.offset - one.offset);
};

const placeOf = ({ offset, length }: Node) => ({ offset, length });

/** The literal of an address without its secrets. One that is written with escapes is left out. */
const shownAddress = (entry: string, { offset, length }: Node): string => {
  const literal = entry.slice(offset, offset + length);
  if (literal.includes('\\')) return '"…"';
  const query = literal.search(/[?#]/);
  const shown = query < 0 ? literal : `${literal.slice(0, query)}?…"`;
  return shown.replace(/\/\/[^/?#"]*@/, '//…@');
};
