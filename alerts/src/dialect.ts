import { GROUP_PREFIX } from '@breakerbox/core';
import { seconds } from './duration.ts';
import { AGENT, CURRENCY, ERROR, LIMIT, SUSPECT, TOOL } from './promql.ts';

/** Dashboards that alerts link to, by uid. */
export type DashboardUid =
  | 'breakerbox-fleet-overview'
  | 'breakerbox-tool-detail'
  | 'breakerbox-failure-budget'
  | 'breakerbox-correlated-failures';

/** Labels of alerts, and the dashboard variables that take their values. */
const VARIABLES = { job: 'job', [AGENT]: 'agent', [TOOL]: 'tool' } as const;
export type AlertLabel = 'job' | 'agent' | 'tool' | 'error' | 'currency';
/** Labels of the results of queries inside texts. */
type ListedLabel = AlertLabel | 'suspect' | 'limit';
/** Their names. */
export const LABEL: Readonly<Record<ListedLabel, string>> = {
  job: 'job',
  agent: AGENT,
  tool: TOOL,
  error: ERROR,
  currency: CURRENCY,
  suspect: SUSPECT,
  limit: LIMIT,
};

/** A query inside a text. */
export interface TextQuery {
  /** PromQL in which each `%q` is replaced by one of `args`, in order. */
  readonly query: string;
  /** `from` replaces a `%.0f`: some minutes before the trouble began, or before the alert did, or {@link LOOKED_BACK} ago. */
  readonly args: readonly (AlertLabel | 'from')[];
}

/** The same for the alerts of all agents at once, where the templates of a text cannot query. */
export interface OfAll {
  /** PromQL that keeps the labels of the alert. */
  readonly query: string;
  /** The labels of the alert. */
  readonly by: string;
  /** Only the first result counts. */
  readonly isOne?: true;
}

/** PromQL of a text without the matchers of one alert, and not inside a template. */
export const ofAll = (query: string): string =>
  query
    .replaceAll(/\w+=%q(?:, )?/g, '')
    .replaceAll('{, ', '{')
    .replaceAll('%%', '%')
    .replaceAll('\\x60', '`');

/** A query inside a text, with the words before and after its result. The text omits all of it if the result is empty. */
export interface InText extends TextQuery {
  readonly before: string;
  /** The label whose values are listed, in alphabetical order unless `isSorted`. */
  readonly list: ListedLabel;
  /** Most values that are listed; the others are counted. Default: 5. */
  readonly most?: number;
  /** The query has sorted the values. */
  readonly isSorted?: true;
  /** A second label, whose value is in brackets after the first. */
  readonly detail?: AlertLabel;
  readonly after: string;
  /** The words instead of all that if the result is empty. Default: none. */
  readonly otherwise?: string;
  /** Without it, such a text has only `otherwise`. */
  readonly ofAll?: OfAll;
}

/** A text that depends on whether a query has a result. `one` and `many` are for a result of 1 and of more: `many` has `%.0f`. */
export interface CountInText extends TextQuery {
  readonly ofAll: Omit<OfAll, 'isOne'>;
  readonly one: string;
  readonly many: string;
  readonly none: string;
}

/** How the texts of alerts are written. Prometheus and Grafana have different templates. */
export interface Dialect {
  label(name: AlertLabel): string;
  /** The value of the expression: a whole number, a share in per cent, or a duration in seconds. */
  value(as: 'count' | 'percentage' | 'duration'): string;
  /** The value of the expression as a number of things. */
  counted(one: string, many: string): string;
  /** One text for a group of tools, another one for a tool. */
  ofGroup(group: string, tool: string): string;
  /** The result of a query at the time of the alert; empty if the templates cannot query. */
  query(text: InText): string;
  /** A number that a query gives at the time of the alert. */
  count(text: CountInText): string;
  /** A Unix time that a query gives, such as `since Nov 27 18:16 UTC`; empty without a result, and if the templates cannot query. */
  time(before: string, query: TextQuery, after: string): string;
  /** Since when names in a text count. `otherwise` is a duration in words, if the templates cannot query. */
  sinceFrom(otherwise: string): string;
  /** A sentence about what Alertmanager mutes; empty for rules that it may not receive. */
  muting(text: string): string;
  /** A text whose queries and link may read `from`, some minutes before the first time that one of the queries gives. */
  withFrom(text: string, times: readonly TextQuery[]): string;
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

/** How far back a text looks for the time when its trouble began. Of a longer trouble, messages say since when the alert fires. */
export const LOOKED_BACK = '6h';
/** The time range of a link, if it is not known when the trouble began. */
const LAST_HOURS = `from=now-${LOOKED_BACK}`;

const path = (uid: DashboardUid, labels: readonly AlertLabel[], from: string): string =>
  `/d/${uid}?${search((name) => `$labels.${name}`, labels)}&${from}&to=now`;

/** The console at an agent and a tool. Templates of Prometheus and Grafana both have `urlquery`. */
const consolePath = (labels: readonly AlertLabel[]): string => {
  const places = (['agent', 'tool'] as const).filter((name) => labels.includes(name));
  return `/#${places.map((name) => `${name}={{ $labels.${LABEL[name]} | urlquery }}`).join('&')}`;
};

const formatted = (value: string, as: 'count' | 'percentage' | 'duration'): string => {
  if (as === 'count') return `{{ printf "%.0f" ${value} }}`;
  return as === 'percentage' ? `{{ ${value} | humanizePercentage }}` : `{{ ${value} | humanizeDuration }}`;
};

/** Most names in a list. */
const MOST_LISTED = 5;

/** A variable of the template: a Unix time in seconds. */
const FROM = '$from';
const TIME = '.Format "Jan 2 15:04 MST"';

const asked = ({ query, args }: TextQuery): string =>
  `printf \`${query}\` ${args.map((name) => (name === 'from' ? FROM : `$labels.${LABEL[name]}`)).join(' ')} | query`.replace(
    '  |',
    ' |',
  );

/** The same time if it is not known when the trouble and its alert began. */
const LONG_AGO: TextQuery = { query: `vector(time() - ${seconds(LOOKED_BACK) / 60 - 15} * 60)`, args: [] };

/**
 * A quarter of an hour before the minute in which the trouble began: what led to it is in there. A text says and a link shows what happened
 * since then, for as long as the alert fires.
 */
const fromOf = (times: readonly TextQuery[]): string => {
  const all = [...times, LONG_AGO];
  const known = all.map(({ query }) => `(${query})`).join(' or on () ');
  return `{{ ${FROM} := 0.0 }}{{ with ${asked({ query: `floor((${known}) / 60) * 60 - 15 * 60`, args: all.flatMap(({ args }) => args) })} }}{{ ${FROM} = . | first | value }}{{ end }}`;
};

/** `a, b (network), and 2 more`. Label names have no dots in templates. */
const listed = ({ list, detail, most = MOST_LISTED, isSorted }: Omit<InText, keyof TextQuery>): string =>
  `{{ range $i, $one := ${isSorted ? '.' : `sortByLabel "${LABEL[list]}" .`} }}{{ if lt $i ${most} }}{{ if $i }}, {{ end }}{{ $one.Labels.${LABEL[list]} }}` +
  `${detail === undefined ? '' : ` ({{ $one.Labels.${LABEL[detail]} }})`}{{ end }}{{ end }}` +
  `{{ if gt (len .) ${most} }} and {{ len (slice . ${most}) }} more{{ end }}`;

const ofGroup = (group: string, tool: string): string =>
  `{{ if match "^${GROUP_PREFIX}" $labels.${TOOL} }}${group}{{ else }}${tool}{{ end }}`;

/** Prometheus' templates. Addresses that are not given are its external labels `grafana_url` and `console_url`. */
export const prometheusDialect = ({
  grafanaUrl = '{{ $externalLabels.grafana_url }}',
  consoleUrl,
}: Addresses = {}): Dialect => ({
  label: (name) => `{{ $labels.${LABEL[name]} }}`,
  value: (as) => formatted('$value', as),
  counted: (one, many) => `{{ if eq $value 1.0 }}1 ${one}{{ else }}{{ printf "%.0f" $value }} ${many}{{ end }}`,
  ofGroup,
  query: (text) => {
    const { before, after, otherwise = '' } = text;
    const without = otherwise === '' ? '' : `{{ else }}${otherwise}`;
    return `{{ with ${asked(text)} }}${before}${listed(text)}${after}${without}{{ end }}`;
  },
  count: ({ one, many, none, ...text }) =>
    `{{ with ${asked(text)} }}{{ with . | first | value }}{{ if eq . 1.0 }}${one}{{ else }}{{ printf "${many}" . }}{{ end }}{{ end }}` +
    `{{ else }}${none}{{ end }}`,
  time: (before, text, after) =>
    `{{ with ${asked(text)} }}${before}{{ (. | first | value | toTime)${TIME} }}${after}{{ end }}`,
  sinceFrom: () => `since {{ (${FROM} | toTime)${TIME} }}`,
  muting: (text) => text,
  withFrom: (text, times) => {
    const first = text.lastIndexOf('{{', text.indexOf(FROM));
    if (first === -1 || !text.includes(FROM)) return text;
    return text.slice(0, first) + fromOf(times) + text.slice(first);
  },
  dashboardUrl: (uid, labels) => `${grafanaUrl}${path(uid, labels, `from={{ printf "%.0f" ${FROM} }}000`)}`,
  // Without the external label the text is empty, and messages have no link.
  consoleUrl: (labels) =>
    consoleUrl === undefined
      ? `{{ with $externalLabels.console_url }}{{ . }}${consolePath(labels)}{{ end }}`
      : `${consoleUrl}${consolePath(labels)}`,
});

/** A query of a Grafana-managed rule whose labels and value its texts read. */
export interface GrafanaQuery {
  readonly refId: string;
  readonly expr: string;
}

export interface GrafanaDialect extends Dialect {
  /** The queries that the texts have read so far. */
  readonly queries: readonly GrafanaQuery[];
}

/** For an alert of no labels. A rule one of whose queries has no data does not fire. */
const ALWAYS = 'label_replace(vector(0), "none", "none", "", "")';

const grafanaTexts = ({ grafanaUrl, consoleUrl }: Addresses): Omit<Dialect, 'query' | 'count'> => ({
  label: (name) => `{{ $labels.${LABEL[name]} }}`,
  // Without data there is no A, and Grafana logs a template error for each evaluation that reads it.
  value: (as) => `{{ with $values.A }}${formatted('.Value', as)}{{ end }}`,
  counted: (one, many) =>
    `{{ with $values.A }}{{ if eq .Value 1.0 }}1 ${one}{{ else }}{{ printf "%.0f" .Value }} ${many}{{ end }}{{ end }}`,
  ofGroup,
  time: () => '',
  sinceFrom: (otherwise) => `in the last ${otherwise}`,
  muting: () => '',
  withFrom: (text) => text,
  dashboardUrl: (uid, labels) => `${grafanaUrl}${path(uid, labels, LAST_HOURS)}`,
  consoleUrl: (labels) => (consoleUrl === undefined ? undefined : `${consoleUrl}${consolePath(labels)}`),
});

/**
 * Grafana's templates. They cannot query, and read values and labels of the queries of the rule by their letters: of those with the labels
 * of the alert, and maybe more. Without `grafanaUrl`, dashboards have the address that Grafana is configured with.
 */
export const grafanaDialect = ({
  grafanaUrl = '{{ reReplaceAll "/+$" "" externalURL }}',
  consoleUrl,
}: Addresses = {}): GrafanaDialect => {
  const queries: GrafanaQuery[] = [];
  /** Rules have the queries A and C. */
  const refIdOf = (expr: string): string => {
    const known = queries.find((one) => one.expr === expr);
    const refId = known?.refId ?? String.fromCharCode('D'.charCodeAt(0) + queries.length);
    if (known === undefined) queries.push({ refId, expr });
    return refId;
  };
  return {
    ...grafanaTexts({ grafanaUrl, consoleUrl }),
    queries,
    // One name and how many more, because a text reads one series of a query.
    query: ({ before, after, list, detail, otherwise = '', ofAll: all }) => {
      if (all === undefined) return otherwise;
      const { query, by } = all;
      const label = (name: ListedLabel): string => `{{ .Labels.${LABEL[name]} }}`;
      const first = refIdOf(`topk by (${by}) (1, ${query}) or ${ALWAYS}`);
      const others = all.isOne ? undefined : refIdOf(`count by (${by}) (${query}) - 1 > 0 or ${ALWAYS}`);
      const named = label(list) + (detail === undefined ? '' : ` (${label(detail)})`);
      const more =
        others === undefined ? '' : `{{ with $values.${others} }} and {{ printf "%.0f" .Value }} more{{ end }}`;
      const without = otherwise === '' ? '' : `{{ else }}${otherwise}`;
      return `{{ with $values.${first} }}${before}${named}${more}${after}${without}{{ end }}`;
    },
    count: ({ one, many, none, ofAll: { query } }) =>
      `{{ with $values.${refIdOf(`${query} or ${ALWAYS}`)} }}{{ if eq .Value 1.0 }}${one}{{ else }}{{ printf "${many}" .Value }}{{ end }}{{ else }}${none}{{ end }}`,
  };
};
