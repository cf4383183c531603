import { AGENT, ERROR, TOOL } from './promql.ts';

/** Dashboards that alerts link to, by uid. */
export type DashboardUid =
  | 'breakerbox-fleet-overview'
  | 'breakerbox-tool-detail'
  | 'breakerbox-failure-budget'
  | 'breakerbox-correlated-failures';

/** Labels of alerts, and the dashboard variables that take their values. */
const VARIABLES = { job: 'job', [AGENT]: 'agent', [TOOL]: 'tool' } as const;
export type AlertLabel = 'job' | 'agent' | 'tool' | 'error';
const LABEL: Readonly<Record<AlertLabel, string>> = { job: 'job', agent: AGENT, tool: TOOL, error: ERROR };

/** A query inside a text, with the words before and after its result. The text omits all of it if the result is empty. */
export interface InText {
  readonly before: string;
  /** PromQL in which each `%q` is replaced by one of `args`, in order. */
  readonly query: string;
  readonly args: readonly AlertLabel[];
  /** The label whose values are listed. */
  readonly list: AlertLabel;
  readonly after: string;
}

/** How the texts of alerts are written. Prometheus and Grafana have different templates. */
export interface Dialect {
  label(name: AlertLabel): string;
  /** The value of the expression: a whole number, a share in per cent, or a duration in seconds. */
  value(as: 'count' | 'percentage' | 'duration'): string;
  /** The result of a query at the time of the alert; empty if the templates cannot query. */
  query(text: InText): string;
  dashboardUrl(uid: DashboardUid, labels: readonly AlertLabel[]): string;
  /** The operators' console at the agent and the tool (A9); undefined if its address is not known. */
  consoleUrl(labels: readonly AlertLabel[]): string | undefined;
}

/** Addresses without a slash at the end. */
export interface Addresses {
  readonly grafanaUrl?: string | undefined;
  readonly consoleUrl?: string | undefined;
}

const search = (dialectLabel: (name: string) => string, labels: readonly AlertLabel[]): string =>
  labels
    .map((name) => LABEL[name])
    .flatMap((name) =>
      Object.entries(VARIABLES)
        .filter(([label]) => label === name)
        .map(([label, variable]) => `var-${variable}={{ ${dialectLabel(label)} | urlquery }}`),
    )
    .join('&');

const path = (uid: DashboardUid, labels: readonly AlertLabel[]): string =>
  `/d/${uid}?${search((name) => `$labels.${name}`, labels)}`;

/** The console at an agent and a tool. Templates of Prometheus and Grafana both have `urlquery`. */
const consolePath = (labels: readonly AlertLabel[]): string => {
  const places = (['agent', 'tool'] as const).filter((name) => labels.includes(name));
  return `/#${places.map((name) => `${name}={{ $labels.${LABEL[name]} | urlquery }}`).join('&')}`;
};

const formatted = (value: string, as: 'count' | 'percentage' | 'duration'): string => {
  if (as === 'count') return `{{ printf "%.0f" ${value} }}`;
  return as === 'percentage' ? `{{ ${value} | humanizePercentage }}` : `{{ ${value} | humanizeDuration }}`;
};

/** Prometheus' templates. Addresses that are not given are its external labels `grafana_url` and `console_url`. */
export const prometheusDialect = ({
  grafanaUrl = '{{ $externalLabels.grafana_url }}',
  consoleUrl,
}: Addresses = {}): Dialect => ({
  label: (name) => `{{ $labels.${LABEL[name]} }}`,
  value: (as) => formatted('$value', as),
  query: ({ before, query, args, list, after }) =>
    `{{- with printf \`${query}\` ${args.map((name) => `$labels.${LABEL[name]}`).join(' ')} | query }}${before}` +
    `{{ range sortByLabel "${LABEL[list]}" . }} {{ .Labels.${LABEL[list]} }}{{ end }}${after}{{ end }}`,
  dashboardUrl: (uid, labels) => `${grafanaUrl}${path(uid, labels)}`,
  // Without the external label the text is empty, and messages have no link.
  consoleUrl: (labels) =>
    consoleUrl === undefined
      ? `{{ with $externalLabels.console_url }}{{ . }}${consolePath(labels)}{{ end }}`
      : `${consoleUrl}${consolePath(labels)}`,
});

/**
 * Grafana's templates. They read values by the query's letter and cannot query. Without `grafanaUrl`, dashboards have the address that
 * Grafana is configured with.
 */
export const grafanaDialect = ({
  grafanaUrl = '{{ reReplaceAll "/+$" "" externalURL }}',
  consoleUrl,
}: Addresses = {}): Dialect => ({
  label: (name) => `{{ $labels.${LABEL[name]} }}`,
  // Without data there is no A, and Grafana logs a template error for each evaluation that reads it.
  value: (as) => `{{ with $values.A }}${formatted('.Value', as)}{{ end }}`,
  query: () => '',
  dashboardUrl: (uid, labels) => `${grafanaUrl}${path(uid, labels)}`,
  consoleUrl: (labels) => (consoleUrl === undefined ? undefined : `${consoleUrl}${consolePath(labels)}`),
});
