import type { alertmanagerParts } from '@breakerbox/alerts';
import type { dashboards } from '@breakerbox/dashboards';
import { parse, stringify } from 'yaml';
import type { Part } from './options.ts';
import type { BundleFile } from './put.ts';

/** What the objects need to know of a bundle. */
export interface KubernetesOptions {
  /** Title of the folder in Grafana. */
  readonly folder: string;
  readonly namespace?: string;
  /** Labels of the objects that an operator selects: those of the `PrometheusRule`. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** The pods that the `PodMonitor` selects, and the name of their port for metrics. */
const SCRAPED = { label: { 'breakerbox.dev/metrics': 'true' }, port: 'metrics' } as const;

/** The secret with the address of Slack's incoming webhook. */
const WEBHOOK = { name: 'breakerbox-slack', key: 'url' } as const;

const metadata = ({ namespace, labels = {} }: KubernetesOptions, name: string, more: object = {}): object => ({
  name,
  ...(namespace !== undefined && { namespace }),
  ...(Object.keys(labels).length > 0 && { labels }),
  ...more,
});

/** Kubernetes reads YAML 1.1, in which an unquoted `yes` is a boolean. */
const written = (comment: string, object: object): string =>
  `${comment.replace(/^/gm, '# ')}\n${stringify(object, { lineWidth: 0, version: '1.1' })}`;

/** One for each dashboard, because an object has at most 1 MB. The sidecar of Grafana's Helm chart loads them. */
const configMaps = (options: KubernetesOptions, built: ReturnType<typeof dashboards>): readonly BundleFile[] =>
  built.map(({ uid, title, text }) => ({
    path: `kubernetes/${uid}.configmap.yml`,
    text: written(
      `${title}, for the sidecar of Grafana's Helm chart, which loads ConfigMaps with the label grafana_dashboard.\nThe folder needs sidecar.dashboards.folderAnnotation: grafana_folder in the values of the chart.`,
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: metadata({ ...options, labels: { ...options.labels, grafana_dashboard: '1' } }, uid, {
          annotations: { grafana_folder: options.folder },
        }),
        data: { [`${uid}.json`]: text },
      },
    ),
  }));

interface Inhibition {
  readonly source_matchers: readonly string[];
  readonly target_matchers: readonly string[];
  readonly equal: readonly string[];
}

/** `alertname=~"A|B"` as the object writes it. */
const matcher = (text: string): object => {
  const { name, matchType, value } = /^(?<name>\w+)(?<matchType>=~|!~|!=|=)"(?<value>.*)"$/.exec(text)?.groups ?? {};
  if (name === undefined) throw new Error(`bundle: "${text}" is no matcher of Alertmanager. Correct alertmanager.yml`);
  return { name, matchType, value };
};

/** Names of tools come from servers, and Slack would notify a channel that one of them names. */
const escaped = (text: string): string =>
  `{{ ${text} | reReplaceAll "&" "&amp;" | reReplaceAll "<" "&lt;" | reReplaceAll ">" "&gt;" }}`;

/** Of a firing alert all that it says, with links that open from a message. Of a resolved one its title: the rest is no longer true. */
const SLACK_TEXT = [
  `{{ range .Alerts.Firing }}• ${escaped('.Annotations.description')}{{ with .Annotations.began }} (since {{ . }}){{ end }} <{{ .Annotations.runbook_url }}|Runbook>`,
  '{{ with .Annotations.dashboard_url }}{{ if match "^https?://" . }} · <{{ . }}|Dashboard>{{ end }}{{ end }}',
  '{{ with .Annotations.console_url }}{{ if match "^https?://" . }} · <{{ . }}|Act>{{ end }}{{ end }}\n{{ end }}',
  `{{ range .Alerts.Resolved }}• No longer: ${escaped('.Annotations.summary')}\n{{ end }}`,
].join('');

/** Names the first alert that fires, and one that is resolved only if none fires. */
const SLACK_TITLE = [
  '{{ $alerts := .Alerts.Resolved }}{{ if .Alerts.Firing }}{{ $alerts = .Alerts.Firing }}FIRING{{ else }}RESOLVED, no longer{{ end }}: ',
  `${escaped('(index $alerts 0).Annotations.summary')}{{ if gt (len $alerts) 1 }}, and {{ len (slice $alerts 1) }} more{{ end }}`,
].join('');

/** An `AlertmanagerConfig` has no templates of its own, so the texts are those of the annotations. */
const alertmanagerConfig = (
  options: KubernetesOptions,
  { inhibitRules, groupBy }: ReturnType<typeof alertmanagerParts>,
): BundleFile => {
  const { inhibit_rules }: { inhibit_rules: readonly Inhibition[] } = parse(inhibitRules.text);
  const slack = {
    apiURL: WEBHOOK,
    sendResolved: true,
    title: SLACK_TITLE,
    text: SLACK_TEXT,
  };
  return {
    path: 'kubernetes/breakerbox.alertmanagerconfig.yml',
    text: written(
      `Routes, mutes and sends Breakerbox' alerts, for the Prometheus operator. It reads the webhook of Slack from the key ${WEBHOOK.key}\nof the secret ${WEBHOOK.name}. The operator adds a matcher on the namespace of this object to its routes and inhibitions. So apply it in the namespace of\nyour agents, from a bundle made with --set levels=namespace. Or set alertmanagerConfigMatcherStrategy: { type: None } in the Alertmanager object.`,
      {
        apiVersion: 'monitoring.coreos.com/v1alpha1',
        kind: 'AlertmanagerConfig',
        metadata: metadata(options, 'breakerbox'),
        spec: {
          route: {
            receiver: 'slack',
            groupBy: [...groupBy],
            groupWait: '10s',
            groupInterval: '1m',
            repeatInterval: '4h',
            matchers: [{ name: 'alertname', matchType: '=~', value: 'Breakerbox.+' }],
          },
          inhibitRules: inhibit_rules.map(({ source_matchers, target_matchers, equal }) => ({
            sourceMatch: source_matchers.map(matcher),
            targetMatch: target_matchers.map(matcher),
            equal: [...equal],
          })),
          receivers: [{ name: 'slack', slackConfigs: [slack] }],
        },
      },
    ),
  };
};

const podMonitor = (options: KubernetesOptions): BundleFile => {
  const [[label, value] = ['', '']] = Object.entries(SCRAPED.label);
  return {
    path: 'kubernetes/breakerbox.podmonitor.yml',
    text: written(
      `Scrapes the pods of your agents, in every namespace: give them the label ${label}: "${value}", and their port for metrics the name ${SCRAPED.port}.\nstartTelemetry() listens on 127.0.0.1 by default; a pod needs host: '0.0.0.0'.`,
      {
        apiVersion: 'monitoring.coreos.com/v1',
        kind: 'PodMonitor',
        metadata: metadata(options, 'breakerbox'),
        spec: {
          // Rules and dashboards are often in the namespace of the monitoring, and agents are not.
          namespaceSelector: { any: true },
          selector: { matchLabels: SCRAPED.label },
          podMetricsEndpoints: [{ port: SCRAPED.port, path: '/metrics', interval: '15s' }],
        },
      },
    ),
  };
};

/** A mixin, as Jsonnet builds collect them. It needs Jsonnet 0.18 or later, and the parts dashboards and rules beside it. */
const mixin = (built: ReturnType<typeof dashboards>): BundleFile => ({
  path: 'mixin.libsonnet',
  text: [
    '// Breakerbox as a monitoring mixin, for Jsonnet 0.18 and later.',
    'local rules(file) = std.parseYaml(file).groups;',
    '{',
    '  grafanaDashboards+:: {',
    ...built.map(({ uid }) => `    '${uid}.json': (import 'dashboards/${uid}.json'),`),
    '  },',
    '  prometheusRules+:: {',
    "    groups+: rules(importstr 'prometheus/rules/breakerbox.recording.yml'),",
    '  },',
    '  prometheusAlerts+:: {',
    "    groups+: rules(importstr 'prometheus/rules/breakerbox.alerts.yml'),",
    '  },',
    '}',
    '',
  ].join('\n'),
});

/** Objects for Kubernetes, and a mixin if the bundle has the files that it imports. */
export const kubernetesFiles = (
  options: KubernetesOptions,
  built: ReturnType<typeof dashboards>,
  alertmanager: ReturnType<typeof alertmanagerParts>,
  parts: readonly Part[],
): readonly BundleFile[] => [
  ...configMaps(options, built),
  alertmanagerConfig(options, alertmanager),
  podMonitor(options),
  ...(parts.includes('dashboards') && parts.includes('rules') ? [mixin(built)] : []),
];
