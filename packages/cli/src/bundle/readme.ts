import { DEFAULT_SETTINGS, type OperatorMetadata, RECEIVERS } from '@breakerbox/alerts';
import type { DataSource } from '@breakerbox/dashboards';
import { type BundleOptions, DEFAULT_FOLDER, defaultParts, type Part } from './options.ts';
import { DASHBOARD_PATH } from './provisioning.ts';

/** Facts of the bundle beside its options. */
export interface BundleFacts {
  readonly options: BundleOptions;
  /** Labels by which Alertmanager should group. */
  readonly groupBy: readonly string[];
  /** The base of `runbook_url`, without a slash at the end. */
  readonly runbookUrl: string;
}

/** The README of a bundle: what to do with each file, for the options of this bundle. */
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
  { part: 'kubernetes', text: (facts) => kubernetesSection(facts) },
  { part: 'runbooks', text: (facts) => runbooksSection(facts) },
];

const intro = ({ options }: BundleFacts): string =>
  [
    '# Breakerbox in your Grafana and Prometheus',
    '',
    `Made for ${options.selector === undefined ? 'every job that reports Breakerbox metrics' : `\`${options.selector}\``}. Do not edit the files. To change them, run the command with other options.`,
    ...(has(options, 'rules')
      ? [
          '',
          `**The bundle has the alerts in several forms. Use one.** Use \`prometheus/rules/\` if your Prometheus reads rules from files, ${has(options, 'grafana-alerting') ? '`prometheus/operator/` if the Prometheus operator runs it, and `grafana/alerting/` if Grafana evaluates rules' : 'and `prometheus/operator/` if the Prometheus operator runs it'}. With two of them, you get every alert twice.`,
        ]
      : []),
  ].join('\n');

const has = ({ parts }: BundleOptions, part: Part): boolean => parts.includes(part);

const dashboardsSection = ({ options: { dataSource, folder } }: BundleFacts): string =>
  `## Dashboards: \`dashboards/\`

In Grafana (11 to 13), import each file with *Dashboards → New → Import*${dataSource === undefined ? ', and choose your Prometheus under **Data source** at the top' : ''}. Or provision them:

\`\`\`sh
mkdir -p ${DASHBOARD_PATH}
cp dashboards/*.json ${DASHBOARD_PATH}/
cp grafana/provisioning/dashboards/breakerbox.yml /etc/grafana/provisioning/dashboards/
\`\`\`

Restart Grafana. The dashboards are in the folder *${folder}*.${
    dataSource === undefined
      ? ''
      : ` They open with the data source \`${dataSource.name ?? dataSource.uid}\` (uid \`${dataSource.uid}\`).`
  }
Set **Scrape interval** in the settings of the data source to the interval of your samples: \`OTEL_METRIC_EXPORT_INTERVAL\` (60 s by
default) if agents push. Grafana assumes 15 s. If samples come only every 60 s, its rates are then empty.`;

const rulesSection = ({ options: { grafanaUrl, consoleUrl, ruleObject }, groupBy }: BundleFacts): string =>
  `## Rules and alerts: \`prometheus/rules/\`

Needs Prometheus 2.42 or later, or 3.x. The rulers of Mimir, Thanos and VictoriaMetrics (\`vmalert\`) read the same files. Copy both files, because the alerts need the recorded series:

\`\`\`sh
promtool check rules prometheus/rules/*.yml
mkdir -p /etc/prometheus/rules
cp prometheus/rules/*.yml /etc/prometheus/rules/
\`\`\`

Add this to \`prometheus.yml\`, and reload:

\`\`\`yaml
rule_files:
  - /etc/prometheus/rules/breakerbox.*.yml
\`\`\`

${
  grafanaUrl === undefined
    ? `Links to dashboards need the URL of your Grafana. Make the bundle with \`--grafana-url\`, or set it in \`prometheus.yml\`:

\`\`\`yaml
global:
  external_labels:
    grafana_url: https://grafana.example.com
\`\`\``
    : `Links to dashboards point to ${grafanaUrl}.`
}

${
  consoleUrl === undefined
    ? 'Messages link to the page of `breakerbox console` if the bundle is made with `--console-url`, or if `external_labels` has its address as `console_url`.'
    : `Messages and dashboards link to the console at ${consoleUrl}.`
}

If a Collector is in between, set \`honor_labels: true\` on the job that scrapes it. Otherwise \`job\` is the Collector's.

${operator(ruleObject)}

${alertmanager(groupBy)}`;

const operator = ({ namespace, labels = {} }: OperatorMetadata): string => {
  const own = Object.entries(labels).map(([name, value]) => `\`${name}: ${value}\``);
  return `### Prometheus operator: \`prometheus/operator/\`

The same rules as one \`PrometheusRule\`, for the operator 0.66 and later:

\`\`\`sh
kubectl apply${namespace === undefined ? ' -n NAMESPACE' : ''} -f prometheus/operator/breakerbox.prometheusrule.yml
\`\`\`

${
  own.length === 0
    ? 'It has no labels. If your Prometheus has a `ruleSelector`, make the bundle with `--rule-label`, such as `--rule-label release=NAME` for the Helm chart kube-prometheus-stack.'
    : `Your Prometheus loads it if its \`ruleSelector\` matches ${own.join(', ')}.`
}`;
};

const alertmanager = (groupBy: readonly string[]): string => `### Alertmanager: \`alertmanager/\`

\`\`\`sh
mkdir -p /etc/alertmanager/templates
cp alertmanager/*.tmpl /etc/alertmanager/templates/
\`\`\`

Add this to \`alertmanager.yml\`:

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

Copy \`${RECEIVERS.slack}\`, or \`${RECEIVERS.mail}\` for mail, from \`receivers.yml\` to \`receivers\`, and fill in the addresses.
Copy all rules from \`inhibit_rules.yml\` to \`inhibit_rules\`. They mute alerts about the consequences of an outage while the alert about the outage fires.
Then run \`amtool check-config alertmanager.yml\`, and reload.`;

const grafanaSection = ({ options }: BundleFacts): string =>
  `## Alerts evaluated by Grafana: \`grafana/alerting/\`

Use these if your Prometheus evaluates no rules. They query the data source with the uid \`${options.dataSource?.uid ?? ''}\`.

\`\`\`sh
cp grafana/alerting/breakerbox-alerting.yml /etc/grafana/provisioning/alerting/
\`\`\`

Restart Grafana. The rules are in the folder *${options.folder}*, under *Alerting → Alert rules*. Notification policies choose receivers by the
label \`severity\`: \`critical\` (a run is paused) or \`warning\` (an agent has lost a tool). Grafana by itself mutes nothing while an
outage of several tools fires. ${
    has(options, 'rules')
      ? 'An Alertmanager with `alertmanager/inhibit_rules.yml` does'
      : 'An Alertmanager does, with the inhibition rules of the part `rules`'
  }.${
    has(options, 'dashboards')
      ? ''
      : '\nThe alerts link to dashboards, which this bundle does not have. They are the part `dashboards`.'
  }`;

const kubernetesSection = ({ options }: BundleFacts): string => `## Kubernetes: \`kubernetes/\`

\`\`\`sh
kubectl apply --server-side${options.ruleObject.namespace === undefined ? ' -n NAMESPACE' : ''} -f kubernetes/
\`\`\`

- A ConfigMap for each dashboard, which the sidecar of Grafana's Helm chart loads. A \`GrafanaDashboard\` of the Grafana operator can refer to it.
- An \`AlertmanagerConfig\`, which routes, mutes and sends the alerts to Slack. Its first lines say which secret it reads, and which namespace it belongs to.
- A \`PodMonitor\`, which scrapes the pods of your agents in every namespace. Its first lines say what they need.
${has(options, 'dashboards') && has(options, 'rules') ? '\n`mixin.libsonnet` has the dashboards and rules for builds with Jsonnet (0.18 or later).\n' : ''}
${has(options, 'rules') ? 'The rules are a `PrometheusRule` in `prometheus/operator/`.' : 'The rules are another part: `--only rules,kubernetes`.'}`;

const runbooksSection = ({ runbookUrl }: BundleFacts): string =>
  `## Runbooks: \`runbooks/\`

There is one for each alert: what it means, where to look first, what to do. The \`runbook_url\` of the alerts points to
${runbookUrl}/. If your team keeps runbooks elsewhere, copy these files there, and make the bundle with \`--runbook-url\`. The numbers in
them are the default thresholds.`;

const thresholds = ({ settings }: BundleOptions): readonly string[] => {
  const changed = Object.entries(settings);
  if (changed.length === 0) return [];
  const defaults: Readonly<Record<string, unknown>> = { ...DEFAULT_SETTINGS };
  const rows = changed.map(([name, value]) => `| \`${name}\` | ${value} | ${String(defaults[name])} |`);
  return [['## Your thresholds', '', '| setting | here | default |', '| --- | --- | --- |', ...rows].join('\n')];
};

const again = (options: BundleOptions): string =>
  `## Making it again

\`\`\`sh
${commandLine(options)}
\`\`\`

\`breakerbox bundle --list-settings\` shows every threshold. \`--force\` overwrites existing files.`;

const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

const named = (source: DataSource | undefined): string | undefined =>
  source && [source.uid, ...(source.name === undefined ? [] : [source.name])].join(':');

/** The command that makes the same bundle. */
const commandLine = ({
  selector,
  dataSource,
  logs,
  folder,
  grafanaUrl,
  consoleUrl,
  runbookUrl,
  ruleObject: { namespace, labels = {} },
  settings,
  levels,
  parts,
}: BundleOptions): string => {
  const only = parts.join();
  const flags: readonly (readonly [string, string | undefined])[] = [
    ['--selector', selector],
    ['--data-source', named(dataSource)],
    ['--logs', named(logs)],
    ['--folder', folder === DEFAULT_FOLDER ? undefined : folder],
    ['--grafana-url', grafanaUrl],
    ['--console-url', consoleUrl],
    ['--runbook-url', runbookUrl],
    ['--namespace', namespace],
    ...Object.entries(labels).map(([label, value]) => ['--rule-label', `${label}=${value}`] as const),
    ...Object.entries(settings).map(([setting, value]) => ['--set', `${setting}=${value}`] as const),
    ['--set', levels === undefined ? undefined : `levels=${levels.join()}`],
    ['--only', only === defaultParts(dataSource !== undefined).join() ? undefined : only],
  ];
  return [
    'breakerbox bundle --out .',
    ...flags.flatMap(([flag, value]) => (value === undefined ? [] : [`${flag} ${quoted(value)}`])),
  ].join(' \\\n  ');
};
