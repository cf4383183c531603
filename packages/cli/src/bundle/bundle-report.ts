import type { ConfigIssue } from '@breakerbox/core';
import { printable } from '../plain-table.ts';
import type { BundleOptions, Part } from './options.ts';
import type { WrittenFile } from './write.ts';

/** What `breakerbox bundle --json` prints. */
export type BundleReport = MadeBundle | RejectedBundle;

/** All files are written. */
export interface MadeBundle {
  readonly made: true;
  /** The folder, as given. */
  readonly out: string;
  /** Includes files that did not change. */
  readonly files: readonly WrittenFile[];
  /** The options of the bundle. Only settings that differ from the default are listed. */
  readonly options: BundleOptions;
  /** Parts that are left out and why, and steps that are left to the user. */
  readonly notes: readonly string[];
}

/** No file was written; or an error says which files could not be restored, and where the originals are. */
export interface RejectedBundle {
  readonly made: false;
  /** All faults, each with the flag or the file. */
  readonly errors: readonly ConfigIssue[];
}

/** Notes on the bundle beside its files. */
export const notesOn = ({ parts, dataSource, grafanaUrl }: BundleOptions, all: boolean): readonly string[] => [
  ...(all && dataSource === undefined
    ? [
        'grafana/alerting is left out, because rules managed by Grafana need a data source. Add --data-source UID if you want them',
      ]
    : []),
  ...(has(parts, 'rules')
    ? [
        `use only one form of the alerts: prometheus/rules, or prometheus/operator with the Prometheus operator${has(parts, 'grafana-alerting') ? ', or grafana/alerting' : ''}. With two of them you get every alert twice`,
      ]
    : []),
  ...(has(parts, 'rules') && grafanaUrl === undefined
    ? [
        'links from alerts to dashboards have no host, so they do not open from a message. Add --grafana-url URL, or set the external label grafana_url as README.md says',
      ]
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
    'README.md there says what to do with each file.',
    '',
  ].join('\n');
};
