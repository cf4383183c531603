import {
  alertmanagerParts,
  grafanaAlerting,
  operatorRules,
  RUNBOOK_URL,
  ruleFiles,
  runbooks,
} from '@breakerbox/alerts';
import { dashboards } from '@breakerbox/dashboards';
import { kubernetesFiles } from './kubernetes.ts';
import type { BundleOptions, Part } from './options.ts';
import { dashboardProvider } from './provisioning.ts';
import type { BundleFile } from './put.ts';
import { bundleReadme } from './readme.ts';

/** Every file of the bundle. It reads only files of the packages, and writes nothing. */
export const bundleFiles = (options: BundleOptions): readonly BundleFile[] => {
  const runbookUrl = options.runbookUrl ?? RUNBOOK_URL;
  const { groupBy } = alertmanagerParts(given({ levels: options.levels }));
  return [
    { path: 'README.md', text: bundleReadme({ options, groupBy, runbookUrl }) },
    ...options.parts.flatMap((part) => PARTS[part](options)),
  ].map(marked);
};

/** Repositories have their own files of this name. The title shows that a file belongs to a bundle. */
const marked = (file: BundleFile): BundleFile =>
  /(?:^|\/)README\.md$/.test(file.path) ? { ...file, mark: file.text.slice(0, file.text.indexOf('\n') + 1) } : file;

const below = (folder: string, files: readonly { readonly name: string; readonly text: string }[]): BundleFile[] =>
  files.map(({ name, text }) => ({ path: `${folder}/${name}`, text }));

const PARTS: Readonly<Record<Part, (options: BundleOptions) => readonly BundleFile[]>> = {
  dashboards: (options) => [
    ...ownDashboards(options).map(({ uid, text }) => ({ path: `dashboards/${uid}.json`, text })),
    { path: 'grafana/provisioning/dashboards/breakerbox.yml', text: dashboardProvider(options.folder) },
  ],
  rules: (options) => {
    const { inhibitRules, receivers, templates } = alertmanagerParts(given({ levels: options.levels }));
    return [
      ...below('prometheus/rules', ruleFiles(ruleOptions(options))),
      ...below('prometheus/operator', [operatorRules({ ...ruleOptions(options), ...options.ruleObject })]),
      ...below('alertmanager', [inhibitRules, receivers, ...templates]),
    ];
  },
  'grafana-alerting': (options) => {
    const { dataSource, folder } = options;
    if (dataSource === undefined) return [];
    return below('grafana/alerting', [
      grafanaAlerting({ ...ruleOptions(options), dataSourceUid: dataSource.uid, folder }),
    ]);
  },
  kubernetes: (options) =>
    kubernetesFiles(
      { folder: options.folder, ...options.ruleObject },
      ownDashboards(options),
      alertmanagerParts(given({ levels: options.levels })),
      options.parts,
    ),
  runbooks: () => below('runbooks', runbooks()),
};

const ownDashboards = ({ selector, dataSource, logs, consoleUrl, runbookUrl, settings, levels }: BundleOptions) =>
  dashboards({ settings, ...given({ selector, dataSource, logs, consoleUrl, runbookUrl, levels }) });

const ruleOptions = ({ selector, settings, levels, grafanaUrl, consoleUrl, runbookUrl }: BundleOptions) => ({
  settings,
  ...given({ selector, grafanaUrl, consoleUrl, runbookUrl, levels }),
});

type Given<Values> = { readonly [Key in keyof Values]?: Exclude<Values[Key], undefined> };

/** Leaves out undefined values. */
const given = <Values extends object>(values: Values): Given<Values> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<Values>;
