/** The configuration files of the stack, with types for the parts that the tests read. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';

/** The root of the repository. */
export const ROOT = resolve(import.meta.dirname, '..');

/** The templates of Alertmanager's messages. */
export const TEMPLATES = resolve(ROOT, 'stack/alertmanager/templates/*.tmpl');

/** The text of a file, by its path from the root. */
export const readText = (path: string): string => readFileSync(resolve(ROOT, path), 'utf8');

interface StaticConfig {
  targets: string[];
}

/** `stack/prometheus/prometheus.yml`. */
export interface PrometheusConfig {
  global: { scrape_interval: string; evaluation_interval: string; external_labels: Record<string, string> };
  rule_files: string[];
  alerting: { alertmanagers: { static_configs: StaticConfig[] }[] };
  scrape_configs: { job_name: string; honor_labels?: boolean; static_configs: StaticConfig[] }[];
}

/** A Slack channel of `alertmanager.yml`. */
export interface SlackConfig {
  readonly api_url: string;
  readonly send_resolved: boolean;
  readonly title: string;
  readonly text: string;
  readonly fallback: string;
}

/** `stack/alertmanager/alertmanager.yml`. */
export interface AlertmanagerConfig {
  readonly route: {
    readonly receiver: string;
    readonly group_by: readonly string[];
    readonly group_wait: string;
    readonly group_interval: string;
  };
  readonly inhibit_rules: readonly unknown[];
  /** Relative to the file. */
  readonly templates: readonly string[];
  readonly receivers: readonly {
    readonly name: string;
    readonly slack_configs?: readonly SlackConfig[];
    readonly webhook_configs?: readonly { readonly url: string; readonly send_resolved: boolean }[];
    readonly email_configs?: readonly Readonly<Record<string, unknown>>[];
  }[];
}

/** One service of `docker-compose.yml`. */
export interface ComposeService {
  readonly image?: string;
  readonly pull_policy?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly restart?: string;
  readonly mem_limit?: string;
  /** Why the service has no health check. */
  readonly 'x-no-healthcheck'?: string;
}

/** `docker-compose.yml`, with its anchors merged. */
export interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

/** Queries from a span to metrics. */
export interface TracesToMetrics {
  readonly datasourceUid: string;
  readonly tags: readonly { readonly key: string; readonly value: string }[];
  readonly queries: readonly { readonly name: string; readonly query: string }[];
}

/** A data source of Grafana's provisioning. */
export interface DataSource {
  readonly uid: string;
  readonly type: string;
  readonly url: string;
  readonly jsonData: Readonly<Record<string, unknown>>;
}

/** A receiver for OTLP. */
export interface OtlpProtocols {
  readonly grpc: { readonly endpoint: string };
  readonly http: { readonly endpoint: string };
}

/** `stack/tempo/tempo.yaml`. */
export interface TempoConfig {
  readonly server: { readonly http_listen_port: number };
  readonly distributor: { readonly receivers: { readonly otlp: { readonly protocols: Pick<OtlpProtocols, 'grpc'> } } };
  readonly storage: {
    readonly trace: { readonly wal: { readonly path: string }; readonly local: { readonly path: string } };
  };
}

/** A provider of Grafana's dashboards. */
export interface DashboardProvider {
  /** The title of Grafana's folder. */
  readonly folder: string;
  readonly folderUid?: string;
  readonly options: { readonly path: string };
}

/** `stack/otel-collector/config.yaml`. */
export interface CollectorConfig {
  readonly receivers: { readonly otlp: { readonly protocols: OtlpProtocols } };
  readonly processors: Readonly<Record<string, unknown>>;
  readonly exporters: {
    readonly 'otlp_grpc/tempo': { readonly endpoint: string };
    readonly prometheus: { readonly endpoint: string };
  };
  readonly extensions: { readonly health_check: { readonly endpoint: string } };
  readonly service: {
    readonly extensions: readonly string[];
    readonly pipelines: Readonly<Record<string, Record<'receivers' | 'processors' | 'exporters', readonly string[]>>>;
  };
}

export const readPrometheus = (): PrometheusConfig => parse(readText('stack/prometheus/prometheus.yml'));
export const readAlertmanager = (): AlertmanagerConfig => parse(readText('stack/alertmanager/alertmanager.yml'));
export const readCollector = (): CollectorConfig => parse(readText('stack/otel-collector/config.yaml'));
export const readCompose = (): Compose => parse(readText('docker-compose.yml'), { merge: true });
export const readDataSources = (): readonly DataSource[] =>
  parse(readText('stack/grafana/provisioning/datasources/breakerbox.yml')).datasources;
export const readTempo = (): TempoConfig => parse(readText('stack/tempo/tempo.yaml'));
export const readDashboardProviders = (): readonly DashboardProvider[] =>
  parse(readText('stack/grafana/provisioning/dashboards/breakerbox.yml')).providers;
