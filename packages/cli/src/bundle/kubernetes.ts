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

/** The job of a pod. */
const JOB = {
  sourceLabels: ['__meta_kubernetes_namespace', '__meta_kubernetes_pod_container_name'],
  separator: '/',
  targetLabel: 'job',
} as const;

/** The secret with the address of Slack's incoming webhook. */
const WEBHOOK = { name: 'breakerbox-slack', key: 'url' } as const;

const metadata = ({ namespace, labels = {} }: KubernetesOptions, name: string, more: object = {}): object => ({
  name,
  ...(namespace !== undefined && { namespace }),
  ...(Object.keys(labels).length > 0 && { labels }),
  ...more,
});

/** Kubernetes reads YAML 1.1, in which an unquoted `yes` is a boolean. Some parsers of it reject an unquoted `=`, which has a type of its own. */
const written = (comment: string, object: object): string =>
  `${comment.replace(/^/gm, '# ')}\n${stringify(object, { lineWidth: 0, version: '1.1' }).replaceAll(/: =$/gm, ": '='")}`;

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

/** The definitions of a file of templates, by name. Each begins a line. */
const definitionsIn = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split(/^(?=\{\{(?:- \/\*| define "))/m).flatMap((part) => {
      const [, name] = /^\{\{ define "(?<name>[\w.]+)"/.exec(part) ?? [];
      return name === undefined ? [] : [[name, part.trimEnd()] as const];
    }),
  );

/** A text with the definitions that it uses, directly or not, because the object cannot load a file of templates. */
const withDefinitions = (text: string, known: ReadonlyMap<string, string>): string => {
  const used = new Set<string>();
  const use = (from: string): void => {
    for (const [, name = ''] of from.matchAll(/\{\{-? template "(?<name>[\w.]+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      use(known.get(name) ?? '');
    }
  };
  use(text);
  return [...used].map((name) => known.get(name) ?? '').join('') + text;
};

interface Receivers {
  readonly receivers: readonly { readonly name: string; readonly slack_configs?: readonly SlackTexts[] }[];
}
type SlackTexts = Readonly<Record<'username' | 'color' | 'title' | 'text' | 'fallback', string>>;

/** The messages are those of the templates. */
const alertmanagerConfig = (
  options: KubernetesOptions,
  { inhibitRules, receivers, templates, groupBy }: ReturnType<typeof alertmanagerParts>,
): BundleFile => {
  const { inhibit_rules }: { inhibit_rules: readonly Inhibition[] } = parse(inhibitRules.text);
  const known = definitionsIn(templates.map((one) => one.text).join('\n'));
  const [texts] = (parse(receivers.text) as Receivers).receivers.flatMap((one) => one.slack_configs ?? []);
  const textOf = (key: keyof SlackTexts): string => withDefinitions(texts?.[key] ?? '', known);
  // Without titleLink: version 0.88 of the operator accepts no template there. The text has the links.
  const slack = {
    apiURL: WEBHOOK,
    sendResolved: true,
    username: textOf('username'),
    color: textOf('color'),
    title: textOf('title'),
    text: textOf('text'),
    fallback: textOf('fallback'),
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
      `Scrapes the pods of your agents, in every namespace: give them the label ${label}: "${value}", and their port for metrics the name ${SCRAPED.port}.\nstartTelemetry() listens on 127.0.0.1 by default; a pod needs host: '0.0.0.0'.\nTheir job is NAMESPACE/CONTAINER, so that agents of one name in two namespaces are apart. A selector of a bundle may be job=~"NAMESPACE/.+".`,
      {
        apiVersion: 'monitoring.coreos.com/v1',
        kind: 'PodMonitor',
        metadata: metadata(options, 'breakerbox'),
        spec: {
          // Rules and dashboards are often in the namespace of the monitoring, and agents are not.
          namespaceSelector: { any: true },
          selector: { matchLabels: SCRAPED.label },
          // Without it, the job of all pods is the name of this object.
          podMetricsEndpoints: [{ port: SCRAPED.port, path: '/metrics', interval: '15s', relabelings: [JOB] }],
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
