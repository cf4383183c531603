import { type DashboardLink, DashboardLinkBuilder, DashboardLinkType } from '@grafana/grafana-foundation-sdk/dashboard';
import { ATTR, type AttributeKey, JOB, label } from './names.ts';

/** The uids of the dashboards. Links and alerts use them, so they never change. */
export const UID = {
  fleetOverview: 'breakerbox-fleet-overview',
  toolDetail: 'breakerbox-tool-detail',
  failureBudget: 'breakerbox-failure-budget',
  correlatedFailures: 'breakerbox-correlated-failures',
} as const;
export type DashboardUid = (typeof UID)[keyof typeof UID];

/** The tag that every dashboard has. The links at the top of a dashboard list all dashboards with this tag. */
export const TAG = 'breakerbox';

/** The links at the top: the other dashboards, with the time range and the variables of this one. */
export const topLinks = (): DashboardLinkBuilder[] => [
  new DashboardLinkBuilder('Breakerbox')
    .type(DashboardLinkType.Dashboards)
    .tags([TAG])
    .asDropdown(false)
    .includeVars(true)
    .keepTime(true),
];

/** A link that Grafana completes from the point or row that was clicked. */
export type DataLink = Pick<DashboardLink, 'title'> & { readonly url: string };

/** What a dashboard passes on unchanged: time range, data source and instance. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's variables, not ours.
const KEPT = '${__url_time_range}&${datasource:queryparam}&${instance:queryparam}';

/** The dashboard variable that takes the value of a label. */
const VARIABLE = { [JOB]: 'job', [ATTR.agent]: 'agent', [ATTR.tool]: 'tool' } as const;
export type LinkedAttribute = keyof typeof VARIABLE;

// One value each, so that the link can encode all of it. Grafana would not encode an ampersand.
const valueOfSeries = (attribute: LinkedAttribute): string => `\${__field.labels.${label(attribute)}:percentencode}`;
const valueOfRow = (column: string): string => `\${__data.fields["${column}"]:percentencode}`;

const linkTo = (
  uid: string,
  title: string,
  attributes: readonly LinkedAttribute[],
  value: (attribute: LinkedAttribute) => string,
): DataLink => ({
  title,
  url: [
    `/d/${uid}?${KEPT}`,
    ...Object.entries(VARIABLE).map(([attribute, variable]) =>
      attributes.includes(attribute as LinkedAttribute)
        ? `var-${variable}=${value(attribute as LinkedAttribute)}`
        : `\${${variable}:queryparam}`,
    ),
  ].join('&'),
});

/**
 * From a line of a graph to another dashboard, filtered by the line's agent or tool.
 * @example lines(…).dataLinks(…) takes dashboardLinks([fromSeries(UID.toolDetail, 'Tool detail', ATTR.tool)])
 */
export const fromSeries = (uid: DashboardUid, title: string, ...attributes: readonly LinkedAttribute[]): DataLink =>
  linkTo(uid, title, attributes, valueOfSeries);

/** From a row of a table whose columns of these attributes have these titles. */
export const fromRow = (
  uid: DashboardUid,
  title: string,
  columns: Readonly<Partial<Record<LinkedAttribute, string>>>,
): DataLink =>
  linkTo(uid, title, Object.keys(columns) as LinkedAttribute[], (attribute) => valueOfRow(columns[attribute] ?? ''));

/** The same, to the dashboard whose uid is in the column with this title. */
export const fromRowTo = (
  uidColumn: string,
  title: string,
  columns: Readonly<Partial<Record<LinkedAttribute, string>>>,
): DataLink =>
  linkTo(valueOfRow(uidColumn), title, Object.keys(columns) as LinkedAttribute[], (attribute) =>
    valueOfRow(columns[attribute] ?? ''),
  );

/** The type that panel builders accept for links and data links: Grafana's schema has one type for these and for dashboard links. */
export const dashboardLinks = (links: readonly DataLink[]): DashboardLinkBuilder[] =>
  links.map(({ title, url }) => new DashboardLinkBuilder(title).type(DashboardLinkType.Link).url(url));

/** TraceQL attribute of a span. */
const spanAttribute = (attribute: AttributeKey): string => `span.${attribute}`;

/**
 * How a link's TraceQL contains the names that are selected at the top. Uses the format `pipe`, because the names are inside a TraceQL
 * string, inside a JSON string, inside a URL, and Grafana applies only one format. `regex` would write `\\.`, which is not valid JSON.
 * `percentencode` would write `{a,b}`, which is not a regular expression. So a dot in a name matches any character, and `&`, `#`, `+` and
 * `%` are not encoded. README.md documents that, and that links of rows and lines use exact names. "All" of agent and tool is `.*`, not
 * `.+`, because a plus in a URL is a space.
 */
const chosenOnTop = (attribute: TracedAttribute): string =>
  `${spanAttribute(attribute)} =~ "\${${VARIABLE[attribute]}:pipe}"`;

const inExplore = (title: string, conditions: readonly string[]): DataLink => {
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: Grafana's variables, not ours.
  const pane = {
    datasource: '${traces}',
    queries: [
      {
        refId: 'A',
        datasource: { type: 'tempo', uid: '${traces}' },
        queryType: 'traceql',
        query: `{ ${conditions.join(' && ')} }`,
        limit: 20,
        tableType: 'spans',
      },
    ],
    range: { from: '${__from}', to: '${__to}' },
  };
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: as above.
  // Encoded, except for the variables, which Grafana must find.
  const panes = encodeURIComponent(JSON.stringify({ bbx: pane })).replaceAll(
    /%24%7B(.*?)%7D/g,
    (_, name: string) => `\${${decodeURIComponent(name).replaceAll('\\"', '"')}}`,
  );
  return { title, url: `/explore?schemaVersion=1&panes=${panes}` };
};

const TRACED = [ATTR.agent, ATTR.tool] as const;
type TracedAttribute = (typeof TRACED)[number];

const tracesOf = (
  title: string,
  condition: string | undefined,
  nameOf: (attribute: TracedAttribute) => string | undefined,
): DataLink =>
  inExplore(title, [
    ...TRACED.map((attribute) => {
      const value = nameOf(attribute);
      return value === undefined ? chosenOnTop(attribute) : `${spanAttribute(attribute)} = "${value}"`;
    }),
    ...(condition === undefined ? [] : [condition]),
  ]);

/**
 * To the traces of the selected agents and tools, in Grafana's Explore. Needs the variable `traces`, a Tempo data source.
 * @param condition more TraceQL, such as `status = error`
 */
export const tracesLink = (title: string, condition?: string): DataLink => tracesOf(title, condition, () => undefined);

/** From a line of a graph to the traces of its agent or tool. Otherwise like {@link tracesLink}. */
export const seriesTracesLink = (title: string, attributes: readonly LinkedAttribute[], condition?: string): DataLink =>
  tracesOf(title, condition, (attribute) => (attributes.includes(attribute) ? valueOfSeries(attribute) : undefined));

/** From a row of a table whose columns of these attributes have these titles. Otherwise like {@link tracesLink}. */
export const rowTracesLink = (
  title: string,
  columns: Readonly<Partial<Record<LinkedAttribute, string>>>,
  condition?: string,
): DataLink =>
  tracesOf(title, condition, (attribute) => {
    const column = columns[attribute];
    return column === undefined ? undefined : valueOfRow(column);
  });
