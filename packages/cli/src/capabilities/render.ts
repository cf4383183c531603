import { type Alternative, BreakerboxConfigError, type Capability, type ConfigIssue } from '@breakerbox/core';
import { plainTable, printable } from '../plain-table.ts';

const HEAD = ['tool', 'provides', 'alternatives', 'fallback', 'depends on'] as const;

/** The map as a table, in `columns` columns if its words are short enough. */
export const renderMap = (file: string, tools: Readonly<Record<string, Capability>>, columns: number): string => {
  const rows = Object.entries(tools).map(rowOf);
  const count = `${rows.length} ${rows.length === 1 ? 'tool' : 'tools'}`;
  return `${printable(file)}: ${count}\n${rows.length === 0 ? '' : `\n${plainTable([HEAD, ...rows], columns)}\n`}`;
};

/** The warnings: faults with which the map still works. Empty if the map has no warnings. */
export const renderWarnings = (warnings: readonly ConfigIssue[]): string => {
  if (warnings.length === 0) return '';
  const lines = warnings.map(onOneLine).map(({ path, message }) => `  ${path}: ${message}`);
  return `\n${warnings.length} ${warnings.length === 1 ? 'warning' : 'warnings'}\n${lines.join('\n')}\n`;
};

/** All faults, in the words of the error itself. */
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
