import type { RuleSettings } from '@breakerbox/alerts';
import type { ConfigIssue } from '@breakerbox/core';
import { nearestFirst } from '@breakerbox/core/internal';
import type { DataSource } from '@breakerbox/dashboards';
import { printable } from '../plain-table.ts';
import { parseSelector } from './selector.ts';

/** What a bundle is made of. */
export const PARTS = ['dashboards', 'rules', 'grafana-alerting', 'runbooks'] as const;
export type Part = (typeof PARTS)[number];

/** The flags that a bundle is made by, as they were typed. */
export interface BundleFlags {
  readonly selector?: string;
  readonly dataSource?: string;
  readonly folder: string;
  readonly grafanaUrl?: string;
  readonly runbookUrl?: string;
  readonly only?: string;
}

/** What a bundle is made by. */
export interface BundleOptions {
  /** PromQL matchers, without braces. Undefined: all jobs. */
  readonly selector: string | undefined;
  /** Undefined: whatever Grafana has as its default. */
  readonly dataSource: DataSource | undefined;
  /** Title of Grafana's folder. */
  readonly folder: string;
  /** Without a slash at the end. Undefined: Prometheus' external label `grafana_url` says it. */
  readonly grafanaUrl: string | undefined;
  /** Without a slash at the end. Undefined: the repository's own. */
  readonly runbookUrl: string | undefined;
  /** Those that aren't as the default has them. */
  readonly settings: Partial<RuleSettings>;
  readonly parts: readonly Part[];
}

/** Grafana's folder, unless another is chosen. */
export const DEFAULT_FOLDER = 'Breakerbox';

/** What a bundle has unless some parts are chosen. Rules that Grafana manages can't do without a data source. */
export const defaultParts = (withDataSource: boolean): readonly Part[] =>
  PARTS.filter((part) => part !== 'grafana-alerting' || withDataSource);

type Report = (path: string, message: string) => undefined;

/** Reads the flags, but for the settings, which have files of their own. All that is wrong is found at once. */
export const readFlags = (
  flags: BundleFlags,
): { readonly options: Omit<BundleOptions, 'settings'>; readonly issues: readonly ConfigIssue[] } => {
  const issues: ConfigIssue[] = [];
  const report: Report = (path, message) => {
    issues.push({ path, message });
    return undefined;
  };
  const dataSource = dataSourceOf(flags.dataSource, report);
  const options = {
    selector: selectorOf(flags.selector, report),
    dataSource,
    folder: folderOf(flags.folder, report),
    grafanaUrl: urlOf('--grafana-url', flags.grafanaUrl, report),
    runbookUrl: urlOf('--runbook-url', flags.runbookUrl, report),
    parts: partsOf(flags.only, flags.dataSource !== undefined, report),
  };
  return { options, issues };
};

/** What is wrong with the folder to write into, before anything is looked at. */
export const outIssues = (written: string | undefined): readonly ConfigIssue[] => {
  if (written === undefined) return [{ path: '--out', message: 'is missing. Name the folder to write into' }];
  if (written.trim() === '') {
    return [{ path: '--out', message: 'is empty. Name the folder to write into; . is the one that you are in' }];
  }
  if (!written.startsWith('-')) return [];
  return [
    {
      path: '--out',
      message: `is ${JSON.stringify(written)}, a flag. Name a folder; one of this name is ./${written}`,
    },
  ];
};

const selectorOf = (written: string | undefined, report: Report): string | undefined => {
  if (written === undefined) return undefined;
  const parsed = parseSelector(written);
  return 'selector' in parsed ? parsed.selector : report(parsed.issue.path, parsed.issue.message);
};

const dataSourceOf = (written: string | undefined, report: Report): DataSource | undefined => {
  if (written === undefined) return undefined;
  const [, uid = '', name] = /^([^:]*)(?::(.*))?$/s.exec(written) ?? [];
  if (!/^[\w-]{1,40}$/.test(uid)) {
    return report(
      '--data-source',
      `${JSON.stringify(uid)} can't be the uid of a data source, which has 1 to 40 letters, digits, - and _. Grafana shows it in the address of the data source's page; a name follows after a colon, as in prometheus-eu:Prometheus`,
    );
  }
  if (name !== undefined && !isTitle(name)) {
    return report(
      '--data-source',
      'has an empty name after the colon, or one with control characters. Leave out the colon',
    );
  }
  return name === undefined ? { uid } : { uid, name };
};

const isTitle = (text: string): boolean => text.trim() !== '' && !/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(text);

const folderOf = (written: string, report: Report): string => {
  if (!isTitle(written))
    report('--folder', 'is empty or has control characters. Write the title of a folder in Grafana');
  if (written.trim().toLowerCase() === 'general') {
    report('--folder', 'is General, which Grafana keeps for what is in no folder. Choose another title');
  }
  if (/[/\\$]/.test(written)) {
    report(
      '--folder',
      `${JSON.stringify(written)} has a slash, a backslash or a $, which Grafana's provisioning gives a meaning: folders inside folders, variables. Choose another title`,
    );
  }
  return written.trim();
};

const urlOf = (flag: string, written: string | undefined, report: Report): string | undefined => {
  if (written === undefined) return undefined;
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    return report(flag, `${JSON.stringify(written)} is no address. Write one such as https://grafana.example.com`);
  }
  if (url.username !== '' || url.password !== '') {
    return report(flag, 'has a user or a password in it, which every notification would show. Leave them out');
  }
  if (url.search !== '' || url.hash !== '' || /[?#$]/.test(written)) {
    return report(
      flag,
      `${JSON.stringify(written)} has a ?, # or $ in it, and paths are put after it. Leave that part out`,
    );
  }
  return url.href.replace(/\/+$/, '');
};

const partsOf = (only: string | undefined, withDataSource: boolean, report: Report): readonly Part[] => {
  if (only === undefined) return defaultParts(withDataSource);
  const names = only.split(',').map((name) => name.trim());
  for (const name of names.filter((one) => !isPart(one))) {
    report(
      '--only',
      `there is no part ${JSON.stringify(printable(name))}. There are ${nearestFirst(name, PARTS).join(', ')}`,
    );
  }
  if (names.includes('grafana-alerting') && !withDataSource) {
    report(
      '--data-source',
      'is missing. Rules that Grafana manages name their data source: give the uid of your Prometheus',
    );
  }
  return PARTS.filter((part) => names.includes(part));
};

const isPart = (name: string): name is Part => PARTS.some((part) => part === name);
