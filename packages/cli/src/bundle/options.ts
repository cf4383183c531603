import type { Level, OperatorMetadata, RuleSettings } from '@breakerbox/alerts';
import type { ConfigIssue } from '@breakerbox/core';
import { nearestFirst } from '@breakerbox/core/internal';
import type { DataSource } from '@breakerbox/dashboards';
import { printable } from '../plain-table.ts';
import { parseSelector } from './selector.ts';

/** The parts of a bundle. */
export const PARTS = ['dashboards', 'rules', 'grafana-alerting', 'kubernetes', 'runbooks'] as const;
export type Part = (typeof PARTS)[number];

/** The flags of the command, as they were typed. */
export interface BundleFlags {
  readonly selector?: string;
  readonly dataSource?: string;
  readonly logs?: string;
  readonly folder: string;
  readonly grafanaUrl?: string;
  readonly consoleUrl?: string;
  readonly runbookUrl?: string;
  readonly only?: string;
}

/** The checked options of a bundle. */
export interface BundleOptions {
  /** PromQL matchers, without braces. Undefined: all jobs. */
  readonly selector: string | undefined;
  /** Undefined: Grafana's default. */
  readonly dataSource: DataSource | undefined;
  /** A Loki with the agents' logs. Undefined: dashboards have no panel of logs. */
  readonly logs?: DataSource | undefined;
  /** Title of the folder in Grafana. */
  readonly folder: string;
  /** Without a slash at the end. Undefined: Prometheus' external label `grafana_url` has it. */
  readonly grafanaUrl: string | undefined;
  /** Without a slash at the end. Undefined: Prometheus' external label `console_url` has it, and dashboards have no link to a console. */
  readonly consoleUrl: string | undefined;
  /** Without a slash at the end. Undefined: the repository's URL. */
  readonly runbookUrl: string | undefined;
  /** Namespace and labels of the `PrometheusRule`. */
  readonly ruleObject: OperatorMetadata;
  /** Labels of the targets that tell installations apart. Undefined: none. */
  readonly levels?: readonly Level[] | undefined;
  /** Only settings that differ from the default. */
  readonly settings: Partial<RuleSettings>;
  readonly parts: readonly Part[];
}

/** The default folder in Grafana. */
export const DEFAULT_FOLDER = 'Breakerbox';

/** The default parts. Rules managed by Grafana need a data source, and objects for Kubernetes repeat the dashboards. */
export const defaultParts = (withDataSource: boolean): readonly Part[] =>
  PARTS.filter((part) => part !== 'kubernetes' && (part !== 'grafana-alerting' || withDataSource));

type Report = (path: string, message: string) => undefined;

/** Reads the flags, except for settings and the metadata of the `PrometheusRule`. Reports all faults at once. */
export const readFlags = (
  flags: BundleFlags,
): {
  readonly options: Omit<BundleOptions, 'settings' | 'levels' | 'ruleObject'>;
  readonly issues: readonly ConfigIssue[];
} => {
  const issues: ConfigIssue[] = [];
  const report: Report = (path, message) => {
    issues.push({ path, message });
    return undefined;
  };
  const dataSource = dataSourceOf('--data-source', flags.dataSource, report);
  const logs = dataSourceOf('--logs', flags.logs, report);
  const options = {
    selector: selectorOf(flags.selector, report),
    dataSource,
    ...(logs !== undefined && { logs }),
    folder: folderOf(flags.folder, report),
    grafanaUrl: urlOf('--grafana-url', flags.grafanaUrl, report),
    consoleUrl: urlOf('--console-url', flags.consoleUrl, report),
    runbookUrl: urlOf('--runbook-url', flags.runbookUrl, report),
    parts: partsOf(flags.only, flags.dataSource !== undefined, report),
  };
  return { options, issues };
};

/** What is wrong with the output folder, before the disk is read. */
export const outIssues = (written: string | undefined): readonly ConfigIssue[] => {
  if (written === undefined) return [{ path: '--out', message: 'is missing. Name the folder to write to' }];
  if (written.trim() === '') {
    return [{ path: '--out', message: 'is empty. Name the folder to write to; . is the current folder' }];
  }
  if (!written.startsWith('-')) return [];
  return [
    {
      path: '--out',
      message: `is ${JSON.stringify(written)}, which looks like a flag. Name a folder; for a folder with this name, write ./${written}`,
    },
  ];
};

const selectorOf = (written: string | undefined, report: Report): string | undefined => {
  if (written === undefined) return undefined;
  const parsed = parseSelector(written);
  return 'selector' in parsed ? parsed.selector : report(parsed.issue.path, parsed.issue.message);
};

const dataSourceOf = (flag: string, written: string | undefined, report: Report): DataSource | undefined => {
  if (written === undefined) return undefined;
  const [, uid = '', name] = /^([^:]*)(?::(.*))?$/s.exec(written) ?? [];
  if (!/^[\w-]{1,40}$/.test(uid)) {
    return report(
      flag,
      `${JSON.stringify(uid)} is not a valid data source uid. A uid has 1 to 40 letters, digits, - and _. Copy it from the address of the data source's page in Grafana. A name may follow after a colon, as in prometheus-eu:Prometheus`,
    );
  }
  if (name !== undefined && !isTitle(name)) {
    return report(
      flag,
      'has no valid name after the colon. Leave out the colon, or write a name without control characters',
    );
  }
  return name === undefined ? { uid } : { uid, name };
};

const isTitle = (text: string): boolean => text.trim() !== '' && !/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(text);

const folderOf = (written: string, report: Report): string => {
  if (!isTitle(written))
    report('--folder', 'is empty or has control characters. Write the title of a folder in Grafana');
  if (written.trim().toLowerCase() === 'general') {
    report('--folder', 'is General, which Grafana reserves for items without a folder. Choose another title');
  }
  if (/[/\\$]/.test(written)) {
    report(
      '--folder',
      `${JSON.stringify(written)} has a slash, a backslash or a $. Grafana's provisioning reads them as nested folders or variables. Choose another title`,
    );
  }
  return written.trim();
};

const urlOf = (flag: string, written: string | undefined, report: Report): string | undefined => {
  if (written === undefined) return undefined;
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    return report(
      flag,
      `${JSON.stringify(written)} is not a URL. Write one such as https://${flag.slice(2, -4)}.example.com`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    return report(flag, 'has a user or a password, which every notification would show. Remove them');
  }
  if (url.search !== '' || url.hash !== '' || /[?#$]/.test(written)) {
    return report(flag, `${JSON.stringify(written)} has a ?, # or $, but paths are appended to it. Remove that part`);
  }
  return url.href.replace(/\/+$/, '');
};

const partsOf = (only: string | undefined, withDataSource: boolean, report: Report): readonly Part[] => {
  if (only === undefined) return defaultParts(withDataSource);
  const names = only.split(',').map((name) => name.trim());
  for (const name of names.filter((one) => !isPart(one))) {
    report(
      '--only',
      `there is no part ${JSON.stringify(printable(name))}. The parts are ${nearestFirst(name, PARTS).join(', ')}`,
    );
  }
  if (names.includes('grafana-alerting') && !withDataSource) {
    report('--data-source', 'is missing. Rules managed by Grafana need a data source. Give the uid of your Prometheus');
  }
  return PARTS.filter((part) => names.includes(part));
};

const isPart = (name: string): name is Part => PARTS.some((part) => part === name);
