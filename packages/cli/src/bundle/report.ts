import type { ConfigIssue } from '@breakerbox/core';
import { printable } from '../plain-table.ts';
import type { BundleOptions, Part } from './options.ts';
import type { WrittenFile } from './write.ts';

/** What `breakerbox bundle --json` prints. */
export type BundleReport = MadeBundle | RefusedBundle;

/** All files are in their places. */
export interface MadeBundle {
  readonly made: true;
  /** The folder, as it was given. */
  readonly out: string;
  /** Those that were there already too. */
  readonly files: readonly WrittenFile[];
  /** What it was made by. A setting is here only where it isn't as the default has it. */
  readonly options: BundleOptions;
  /** What isn't in it and why, and what somebody still has to see to. */
  readonly notes: readonly string[];
}

/** Nothing was written; or an error says that it could not be undone, and where the old files are. */
export interface RefusedBundle {
  readonly made: false;
  /** All that is wrong, each with the flag or the file. */
  readonly errors: readonly ConfigIssue[];
}

/** What the command says of the bundle beside its files. */
export const notesOn = ({ parts, dataSource, grafanaUrl }: BundleOptions, all: boolean): readonly string[] => [
  ...(all && dataSource === undefined
    ? [
        "grafana/alerting isn't in it: rules that Grafana manages name their data source. Add --data-source UID if you want them",
      ]
    : []),
  ...(has(parts, 'rules') && has(parts, 'grafana-alerting')
    ? ['use prometheus/rules or grafana/alerting, never both: everything would wake you twice']
    : []),
  ...(has(parts, 'rules') && grafanaUrl === undefined
    ? ['links from alerts to dashboards have no host yet: add --grafana-url URL, or see README.md']
    : []),
];

const has = (parts: readonly Part[], part: Part): boolean => parts.includes(part);

/** The bundle in words. */
export const renderBundle = ({ out, files, notes }: MadeBundle): string => {
  const fates = (['written', 'overwritten', 'unchanged'] as const)
    .map((fate) => [files.filter((file) => file.fate === fate).length, fate] as const)
    .filter(([count]) => count > 0)
    .map(([count, fate]) => `${count} ${fate}`);
  const folderOf = (path: string): string => (path.includes('/') ? path.slice(0, path.lastIndexOf('/') + 1) : path);
  const folders = [...new Set(files.map(({ path }) => folderOf(path)))];
  const widest = Math.max(...folders.map((folder) => folder.length));
  const lineOf = (folder: string): string => {
    const { length } = files.filter(({ path }) => folderOf(path) === folder);
    return folder.endsWith('/')
      ? `  ${folder.padEnd(widest)}  ${length} ${length === 1 ? 'file' : 'files'}`
      : `  ${folder}`;
  };
  return [
    `${printable(out)}: ${files.length} files (${fates.join(', ')})`,
    '',
    ...folders.map(lineOf),
    '',
    ...notes.map((note) => `note: ${note}`),
    'README.md there says what to do with each.',
    '',
  ].join('\n');
};
