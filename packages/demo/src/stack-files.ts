import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { type Route, type RuleFile, type Scale, scaleRoute, scaleRules } from './scale-rules.ts';

/** A minute of production takes a second in the demo. Ranges are at least two scrapes long. */
export const DEMO_SCALE: Scale = { factor: 1 / 60, leastRangeMs: 2000 };

/** How often the demo's Prometheus scrapes and evaluates. */
const INTERVAL = '1s';

/** The root of the repository, relative to this file. */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const RULES = join(ROOT, 'alerts', 'rules');
const PROMETHEUS = join(ROOT, 'stack', 'prometheus', 'prometheus.yml');
const ALERTMANAGER = join(ROOT, 'stack', 'alertmanager', 'alertmanager.yml');

interface StaticConfig {
  readonly targets: readonly string[];
}
/** `stack/prometheus/prometheus.yml`: the parts that are rewritten. */
interface PrometheusConfig {
  readonly global: {
    readonly scrape_interval: string;
    readonly evaluation_interval: string;
    readonly external_labels: Readonly<Record<string, string>>;
  };
  readonly rule_files: readonly string[];
  readonly alerting: { readonly alertmanagers: readonly { readonly static_configs: readonly StaticConfig[] }[] };
  readonly scrape_configs: readonly { readonly job_name: string; readonly static_configs: readonly StaticConfig[] }[];
}
/** `stack/alertmanager/alertmanager.yml`: the parts that are rewritten. */
interface AlertmanagerConfig {
  readonly route: Route;
  /** Relative to the file. */
  readonly templates: readonly string[];
  readonly receivers: readonly { readonly name: string; readonly slack_configs: readonly SlackConfig[] }[];
}
interface SlackConfig {
  readonly api_url: string;
}

/** Addresses by which the demo's processes find each other. Hosts with ports, except for the URLs. */
export interface Addresses {
  /** The target that Prometheus scrapes. */
  readonly metrics: string;
  /** Undefined: alerts go nowhere. */
  readonly alertmanager: string | undefined;
  readonly webhookUrl: string;
  /** If it is left out, there are no messages for people. */
  readonly messageUrl?: string | undefined;
  /** If it is left out, alerts have no link to a console. */
  readonly consoleUrl?: string | undefined;
}

/** The job of `prometheus.yml` that scrapes the demo. The other jobs have nothing to scrape here. */
const DEMO_JOB = 'breakerbox';

/** The stack's Prometheus configuration with the demo's targets, paths and intervals. */
export const rewritePrometheus = (
  config: PrometheusConfig,
  { metrics, alertmanager, consoleUrl = '' }: Addresses,
  rulesGlob: string,
): PrometheusConfig => ({
  ...config,
  global: {
    ...config.global,
    scrape_interval: INTERVAL,
    evaluation_interval: INTERVAL,
    external_labels: { ...config.global.external_labels, console_url: consoleUrl },
  },
  rule_files: [rulesGlob],
  alerting: {
    ...config.alerting,
    alertmanagers: config.alerting.alertmanagers.map((one) => ({
      ...one,
      static_configs: [{ targets: alertmanager === undefined ? [] : [alertmanager] }],
    })),
  },
  scrape_configs: config.scrape_configs.map((job) => ({
    ...job,
    static_configs: [{ targets: job.job_name === DEMO_JOB ? [metrics] : [] }],
  })),
});

/** The stack's Alertmanager configuration in the demo's time. Every receiver posts to the demo. */
export const rewriteAlertmanager = (
  config: AlertmanagerConfig,
  { webhookUrl, messageUrl }: Addresses,
  { factor }: Scale,
): AlertmanagerConfig => ({
  ...config,
  route: scaleRoute(config.route, factor),
  templates: config.templates.map((path) => resolve(dirname(ALERTMANAGER), path)),
  receivers: config.receivers.map((receiver) => ({
    ...receiver,
    slack_configs:
      messageUrl === undefined ? [] : receiver.slack_configs.map((one) => ({ ...one, api_url: messageUrl })),
    webhook_configs: [{ url: webhookUrl, send_resolved: true }],
  })),
});

/** Paths of the written files. */
export interface StackFiles {
  readonly prometheus: string;
  readonly alertmanager: string;
}

/**
 * Writes the repository's files, rewritten for the demo, to a folder.
 *
 * @throws Error if a file cannot be read or has an unexpected form.
 */
export const writeStackFiles = async (folder: string, addresses: Addresses): Promise<StackFiles> => {
  const rules = join(folder, 'rules');
  await mkdir(rules, { recursive: true });
  for (const name of readdirSync(RULES).filter((one) => one.endsWith('.yml'))) {
    await writeYaml(join(rules, name), scaleRules(readYaml<RuleFile>(join(RULES, name)), DEMO_SCALE));
  }
  const files = { prometheus: join(folder, 'prometheus.yml'), alertmanager: join(folder, 'alertmanager.yml') };
  const prometheus = rewritePrometheus(readYaml<PrometheusConfig>(PROMETHEUS), addresses, join(rules, '*.yml'));
  await writeYaml(files.prometheus, prometheus);
  const alertmanager = rewriteAlertmanager(readYaml<AlertmanagerConfig>(ALERTMANAGER), addresses, DEMO_SCALE);
  await writeYaml(files.alertmanager, alertmanager);
  return files;
};

const readYaml = <T>(path: string): T => parse(readFileSync(path, 'utf8')) as T;

const writeYaml = (path: string, content: unknown): Promise<void> => writeFile(path, stringify(content));
