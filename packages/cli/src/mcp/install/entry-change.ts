import type { Node } from 'jsonc-parser';
import { propertiesOf, propertyOf } from './server-entry.ts';

/** The lines of an entry that change, with - and +. Values of headers and of the environment are left out. */
export const changedLines = (before: string, from: Node, after: string, to: Node): readonly string[] => {
  const old = linesOf(before, from);
  const made = linesOf(after, to);
  const head = old.findIndex((line, index) => line !== made[index]);
  const most = Math.min(old.length, made.length) - head;
  let tail = 0;
  while (tail < most && old.at(-1 - tail) === made.at(-1 - tail)) tail += 1;
  const middle = (lines: readonly string[]) => lines.slice(head, lines.length - tail);
  return [...middle(old).map((line) => `- ${line}`), ...middle(made).map((line) => `+ ${line}`)];
};

/** The lines of an entry with its name, from the start of its first line. */
const linesOf = (source: string, node: Node): readonly string[] => {
  const start = node.parent?.offset ?? node.offset;
  const indent = /[\t ]*$/.exec(source.slice(0, start))?.[0] ?? '';
  let shown = source.slice(start - indent.length, node.offset + node.length);
  for (const { offset, length } of secretsOf(node).toReversed()) {
    const at = offset - start + indent.length;
    shown = `${shown.slice(0, at)}"…"${shown.slice(at + length)}`;
  }
  return shown.split(/\r\n|\n|\r/);
};

const secretsOf = (node: Node): readonly Node[] =>
  ['env', 'headers']
    .flatMap((name) => propertiesOf(propertyOf(node, name)?.value) ?? [])
    .map(({ value }) => value)
    .sort((one, other) => one.offset - other.offset);
