import { AGENT, ERROR, TOOL } from './promql.ts';

/** Dashboards that alerts lead to, by uid. */
export type DashboardUid =
  | 'breakerbox-fleet-overview'
  | 'breakerbox-tool-detail'
  | 'breakerbox-failure-budget'
  | 'breakerbox-correlated-failures';

/** Labels of alerts, and the dashboards' variables that they fill. */
const VARIABLES = { job: 'job', [AGENT]: 'agent', [TOOL]: 'tool' } as const;
export type AlertLabel = 'job' | 'agent' | 'tool' | 'error';
const LABEL: Readonly<Record<AlertLabel, string>> = { job: 'job', agent: AGENT, tool: TOOL, error: ERROR };

/** A query inside a text: what of its result is shown, between which words. Left out where the result is empty. */
export interface InText {
  readonly before: string;
  /** PromQL in which `%q` stands for each of `args` in turn. */
  readonly query: string;
  readonly args: readonly AlertLabel[];
  /** The label whose values are listed. */
  readonly list: AlertLabel;
  readonly after: string;
}

/** How texts of alerts are written: Prometheus and Grafana have different templates. */
export interface Dialect {
  label(name: AlertLabel): string;
  /** The value of the expression: a whole number, a share as per cent, or a length of time in seconds. */
  value(as: 'count' | 'percentage' | 'duration'): string;
  /** What a query gives at the time of the alert; nothing where templates can't ask. */
  query(text: InText): string;
  dashboardUrl(uid: DashboardUid, labels: readonly AlertLabel[]): string;
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

const formatted = (value: string, as: 'count' | 'percentage' | 'duration'): string => {
  if (as === 'count') return `{{ printf "%.0f" ${value} }}`;
  return as === 'percentage' ? `{{ ${value} | humanizePercentage }}` : `{{ ${value} | humanizeDuration }}`;
};

/**
 * Prometheus' templates.
 *
 * @param grafanaUrl Grafana's address without a slash at the end; by default the external label that Prometheus is given.
 */
export const prometheusDialect = (grafanaUrl = '{{ $externalLabels.grafana_url }}'): Dialect => ({
  label: (name) => `{{ $labels.${LABEL[name]} }}`,
  value: (as) => formatted('$value', as),
  query: ({ before, query, args, list, after }) =>
    `{{- with printf \`${query}\` ${args.map((name) => `$labels.${LABEL[name]}`).join(' ')} | query }}${before}` +
    `{{ range sortByLabel "${LABEL[list]}" . }} {{ .Labels.${LABEL[list]} }}{{ end }}${after}{{ end }}`,
  dashboardUrl: (uid, labels) => `${grafanaUrl}${path(uid, labels)}`,
});

/**
 * Grafana's templates: values by the query's letter, and no queries of their own.
 *
 * @param grafanaUrl by default what Grafana itself knows as its address.
 */
export const grafanaDialect = (grafanaUrl = '{{ reReplaceAll "/+$" "" externalURL }}'): Dialect => ({
  label: (name) => `{{ $labels.${LABEL[name]} }}`,
  value: (as) => formatted('$values.A.Value', as),
  query: () => '',
  dashboardUrl: (uid, labels) => `${grafanaUrl}${path(uid, labels)}`,
});
