import { DEFAULT_SETTINGS, RECEIVERS } from '@breakerbox/alerts';
import { type BundleOptions, DEFAULT_FOLDER, defaultParts, type Part } from './options.ts';
import { DASHBOARD_PATH } from './provisioning.ts';

/** What the README has to know of the bundle beside its options. */
export interface BundleFacts {
  readonly options: BundleOptions;
  /** What Alertmanager should group by. */
  readonly groupBy: readonly string[];
  /** Where `runbook_url` leads, without a slash at the end. */
  readonly runbookUrl: string;
}

/** The README of a bundle: what to do with each file, for the options that it was made with. */
export const bundleReadme = (facts: BundleFacts): string =>
  `${[
    intro(facts),
    ...SECTIONS.filter(({ part }) => facts.options.parts.includes(part)).map(({ text }) => text(facts)),
    ...thresholds(facts.options),
    again(facts.options),
  ].join('\n\n')}\n`;

const SECTIONS: readonly { readonly part: Part; text(facts: BundleFacts): string }[] = [
  { part: 'dashboards', text: (facts) => dashboardsSection(facts) },
  { part: 'rules', text: (facts) => rulesSection(facts) },
  { part: 'grafana-alerting', text: (facts) => grafanaSection(facts) },
  { part: 'runbooks', text: (facts) => runbooksSection(facts) },
];

const intro = ({ options }: BundleFacts): string =>
  [
    '# Breakerbox in your Grafana and Prometheus',
    '',
    `Made for ${options.selector === undefined ? 'every job that reports Breakerbox metrics' : `\`${options.selector}\``}. All of it is plain files; change the options and make them anew instead of editing them.`,
    ...(has(options, 'rules') && has(options, 'grafana-alerting')
      ? [
          '',
          '**Two ways to alert are here; take one.** `prometheus/` where your Prometheus evaluates rules, `grafana/alerting/` where Grafana does. With both, everything wakes you twice.',
        ]
      : []),
  ].join('\n');

const has = ({ parts }: BundleOptions, part: Part): boolean => parts.includes(part);

const dashboardsSection = ({ options: { dataSource, folder } }: BundleFacts): string =>
  `## Dashboards: \`dashboards/\`

In Grafana (11 to 13), *Dashboards → New → Import* each file${dataSource === undefined ? ', and choose your Prometheus under **Data source** on top' : ''}. Or have them provisioned:

\`\`\`sh
mkdir -p ${DASHBOARD_PATH}
cp dashboards/*.json ${DASHBOARD_PATH}/
cp grafana/provisioning/dashboards/breakerbox.yml /etc/grafana/provisioning/dashboards/
\`\`\`

Restart Grafana, and they are in the folder *${folder}*.${
    dataSource === undefined
      ? ''
      : ` They open with the data source \`${dataSource.name ?? dataSource.uid}\` (uid \`${dataSource.uid}\`).`
  }
Set **Scrape interval** in the settings of the data source to how often samples come: to \`OTEL_METRIC_EXPORT_INTERVAL\` (60 s by
default) if agents push. Grafana assumes 15 s, and at 60 s its rates would be empty.`;

const rulesSection = ({ options: { grafanaUrl }, groupBy }: BundleFacts): string =>
  `## Rules and alerts: \`prometheus/rules/\`

Prometheus 2.42 or later, 3.x included. Both files, for the alerts need the recorded series:

\`\`\`sh
promtool check rules prometheus/rules/*.yml
mkdir -p /etc/prometheus/rules
cp prometheus/rules/*.yml /etc/prometheus/rules/
\`\`\`

and in \`prometheus.yml\`, then reload:

\`\`\`yaml
rule_files:
  - /etc/prometheus/rules/breakerbox.*.yml
\`\`\`

${
  grafanaUrl === undefined
    ? `Links to dashboards need the host of your Grafana. Make the bundle with \`--grafana-url\`, or set it in \`prometheus.yml\`:

\`\`\`yaml
global:
  external_labels:
    grafana_url: https://grafana.example.com
\`\`\``
    : `Links to dashboards lead to ${grafanaUrl}.`
}

With a Collector in between, set \`honor_labels: true\` on the job that scrapes it, or \`job\` will be the Collector's.

${alertmanager(groupBy)}`;

const alertmanager = (groupBy: readonly string[]): string => `### Alertmanager: \`alertmanager/\`

\`\`\`sh
mkdir -p /etc/alertmanager/templates
cp alertmanager/*.tmpl /etc/alertmanager/templates/
\`\`\`

In \`alertmanager.yml\`, beside what is there:

\`\`\`yaml
route:
  routes:
    - receiver: ${RECEIVERS.slack}
      matchers:
        - alertname=~"Breakerbox.+"
      group_by: [${groupBy.join(', ')}]
templates:
  - /etc/alertmanager/templates/*.tmpl
\`\`\`

From \`receivers.yml\` put \`${RECEIVERS.slack}\`, or \`${RECEIVERS.mail}\` for mails, under \`receivers\`, and fill in the addresses.
From \`inhibit_rules.yml\` put all rules under \`inhibit_rules\`: they mute what follows from an outage while the outage itself is told.
Then \`amtool check-config alertmanager.yml\`, and reload.`;

const grafanaSection = ({ options }: BundleFacts): string =>
  `## Alerts that Grafana evaluates: \`grafana/alerting/\`

For those whose Prometheus evaluates no rules. They ask the data source with the uid \`${options.dataSource?.uid ?? ''}\`.

\`\`\`sh
cp grafana/alerting/breakerbox-alerting.yml /etc/grafana/provisioning/alerting/
\`\`\`

Restart Grafana; the rules are in the folder *${options.folder}*, under *Alerting → Alert rules*. Notification policies choose receivers by the
label \`severity\`: \`critical\` (a run stands still) or \`warning\` (an agent works with less). Grafana mutes nothing by itself while an
outage of several tools fires; ${
    has(options, 'rules')
      ? 'an Alertmanager with `alertmanager/inhibit_rules.yml` does'
      : 'an Alertmanager does, with the inhibition that the part `rules` has'
  }.${
    has(options, 'dashboards')
      ? ''
      : '\nThe alerts link to dashboards, which are not here: they are the part `dashboards`.'
  }`;

const runbooksSection = ({ runbookUrl }: BundleFacts): string =>
  `## Runbooks: \`runbooks/\`

One for each alert: what it means, where to look first, what to do. \`runbook_url\` of the alerts leads to
${runbookUrl}/. If your team reads elsewhere, put these files there, and make the bundle with \`--runbook-url\`. The numbers in
them are the defaults.`;

const thresholds = ({ settings }: BundleOptions): readonly string[] => {
  const changed = Object.entries(settings);
  if (changed.length === 0) return [];
  const defaults: Readonly<Record<string, unknown>> = { ...DEFAULT_SETTINGS };
  const rows = changed.map(([name, value]) => `| \`${name}\` | ${value} | ${String(defaults[name])} |`);
  return [['## Thresholds of your own', '', '| setting | here | default |', '| --- | --- | --- |', ...rows].join('\n')];
};

const again = (options: BundleOptions): string =>
  `## Making it anew

\`\`\`sh
${commandLine(options)}
\`\`\`

\`breakerbox bundle --list-settings\` shows every threshold; \`--force\` overwrites the files that are here.`;

const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** The command that makes the same bundle. */
const commandLine = ({
  selector,
  dataSource,
  folder,
  grafanaUrl,
  runbookUrl,
  settings,
  parts,
}: BundleOptions): string => {
  const name = dataSource?.name === undefined ? '' : `:${dataSource.name}`;
  const only = parts.join();
  const flags: readonly (readonly [string, string | undefined])[] = [
    ['--selector', selector],
    ['--data-source', dataSource === undefined ? undefined : `${dataSource.uid}${name}`],
    ['--folder', folder === DEFAULT_FOLDER ? undefined : folder],
    ['--grafana-url', grafanaUrl],
    ['--runbook-url', runbookUrl],
    ...Object.entries(settings).map(([setting, value]) => ['--set', `${setting}=${value}`] as const),
    ['--only', only === defaultParts(dataSource !== undefined).join() ? undefined : only],
  ];
  return [
    'breakerbox bundle --out .',
    ...flags.flatMap(([flag, value]) => (value === undefined ? [] : [`${flag} ${quoted(value)}`])),
  ].join(' \\\n  ');
};
