import { type Alternative, BreakerboxConfigError, type Capability, type ConfigIssue } from '@breakerbox/core';
import Table from 'cli-table3';
import { NO_EDGES } from '../table-edges.ts';

const HEAD = ['tool', 'provides', 'alternatives', 'fallback', 'depends on'] as const;

/** Columns get no narrower than that; a longer word makes them wider. */
const NARROWEST = 10;
const GAP = 2;

/** A rule between rows, for a row may have several lines; no other edge. */
const CHARS = { ...NO_EDGES, mid: '─' };

/** The map as a table, in `columns` columns where its words are short enough. */
export const renderMap = (file: string, tools: Readonly<Record<string, Capability>>, columns: number): string => {
  const rows = Object.entries(tools).map(rowOf);
  const count = `${rows.length} ${rows.length === 1 ? 'tool' : 'tools'}`;
  return `${printable(file)}: ${count}\n${rows.length === 0 ? '' : `\n${table([HEAD, ...rows], columns)}\n`}`;
};

/** What would work, and should be looked at all the same; nothing where there is nothing. */
export const renderWarnings = (warnings: readonly ConfigIssue[]): string => {
  if (warnings.length === 0) return '';
  const lines = warnings.map(onOneLine).map(({ path, message }) => `  ${path}: ${message}`);
  return `\n${warnings.length} ${warnings.length === 1 ? 'warning' : 'warnings'}\n${lines.join('\n')}\n`;
};

/** All that is wrong, in the words of the error itself. */
export const renderFaults = (file: string, issues: readonly ConfigIssue[]): string =>
  `${new BreakerboxConfigError(issues.map(onOneLine), `capability file '${printable(file)}'`).message}\n`;

const onOneLine = ({ path, message }: ConfigIssue): ConfigIssue => ({
  path: printable(path).replaceAll('\n', '\\n'),
  message: printable(message).replaceAll('\n', '\\n'),
});

const rowOf = ([tool, { provides, alternatives = [], fallback, dependsOn = [] }]: [string, Capability]) =>
  [
    tool,
    provides ?? '-',
    alternatives.map(describe).join('\n') || '-',
    fallback ?? '-',
    dependsOn.join(', ') || '-',
  ].map(printable);

const describe = ({ tool, degradation = 'unknown', note }: Alternative): string =>
  `${tool} (${degradation})${note === undefined ? '' : `: ${note}`}`;

/** Whoever wrote the file has no say over the terminal: what moves its cursor or colours it is shown by its number. */
const printable = (text: string): string =>
  text.replace(/[^\P{C}\n]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);

const table = (rows: readonly (readonly string[])[], columns: number): string => {
  const widths = fit(rows, columns - GAP * HEAD.length);
  const made = new Table({ chars: CHARS, style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP } });
  made.push(...rows.map((row) => row.map((cell, index) => wrap(cell, widths[index] ?? NARROWEST))));
  return made
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
};

/** As wide as each column's longest line, and then the widest made narrower until all fit. */
const fit = (rows: readonly (readonly string[])[], columns: number): readonly number[] => {
  const widths = HEAD.map((_, index) =>
    Math.max(NARROWEST, ...rows.flatMap((row) => (row[index] ?? '').split('\n').map((line) => line.length))),
  );
  for (let excess = widths.reduce((sum, width) => sum + width, -columns); excess > 0; excess -= 1) {
    const widest = widths.indexOf(Math.max(...widths));
    const width = widths[widest] ?? NARROWEST;
    if (width <= NARROWEST) break;
    widths[widest] = width - 1;
  }
  return widths;
};

const wrap = (text: string, width: number): string =>
  text
    .split('\n')
    .flatMap((line) => wrapLine(line, width))
    .join('\n');

const wrapLine = (line: string, width: number): readonly string[] => {
  const lines: string[] = [];
  let last = '';
  for (const word of line.split(' ')) {
    if (last !== '' && last.length + 1 + word.length > width) {
      lines.push(last);
      last = word;
    } else last = last === '' ? word : `${last} ${word}`;
  }
  return [...lines, last];
};
