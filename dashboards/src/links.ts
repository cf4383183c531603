import { type DashboardLink, DashboardLinkBuilder, DashboardLinkType } from '@grafana/grafana-foundation-sdk/dashboard';
import { ATTR, type AttributeKey, JOB, label } from './names.ts';

/** The dashboards by what they are about. Links and alerts lead to these uids; they never change. */
export const UID = {
  fleetOverview: 'breakerbox-fleet-overview',
  toolDetail: 'breakerbox-tool-detail',
  failureBudget: 'breakerbox-failure-budget',
  correlatedFailures: 'breakerbox-correlated-failures',
} as const;
export type DashboardUid = (typeof UID)[keyof typeof UID];

/** Every dashboard has it, and the links on top of each lead to all that have it. */
export const TAG = 'breakerbox';

/** On top of each dashboard: the others, with the time range and the variables of this one. */
export const topLinks = (): DashboardLinkBuilder[] => [
  new DashboardLinkBuilder('Breakerbox')
    .type(DashboardLinkType.Dashboards)
    .tags([TAG])
    .asDropdown(false)
    .includeVars(true)
    .keepTime(true),
];

/** A link that Grafana completes from the point or the row that was clicked. */
export type DataLink = Pick<DashboardLink, 'title'> & { readonly url: string };

/** What a dashboard hands on as it stands: time range, data source and instance. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's variables, not ours.
const KEPT = '${__url_time_range}&${datasource:queryparam}&${instance:queryparam}';

/** The variable of a dashboard that a label fills. */
const VARIABLE = { [JOB]: 'job', [ATTR.agent]: 'agent', [ATTR.tool]: 'tool' } as const;
export type LinkedAttribute = keyof typeof VARIABLE;

// One value each, so that it can be encoded whole; Grafana would leave an ampersand as it is.
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
 * From a line of a graph to another dashboard, narrowed down to the line's agent or tool.
 * @example lines(…).dataLinks(…) takes dashboardLinks([fromSeries(UID.toolDetail, 'Tool detail', ATTR.tool)])
 */
export const fromSeries = (uid: DashboardUid, title: string, ...attributes: readonly LinkedAttribute[]): DataLink =>
  linkTo(uid, title, attributes, valueOfSeries);

/** From a row of a table, whose columns of these attributes have these titles. */
export const fromRow = (
  uid: DashboardUid,
  title: string,
  columns: Readonly<Partial<Record<LinkedAttribute, string>>>,
): DataLink =>
  linkTo(uid, title, Object.keys(columns) as LinkedAttribute[], (attribute) => valueOfRow(columns[attribute] ?? ''));

/** The same, to the dashboard whose uid stands in a column of this title. */
export const fromRowTo = (
  uidColumn: string,
  title: string,
  columns: Readonly<Partial<Record<LinkedAttribute, string>>>,
): DataLink =>
  linkTo(valueOfRow(uidColumn), title, Object.keys(columns) as LinkedAttribute[], (attribute) =>
    valueOfRow(columns[attribute] ?? ''),
  );

/** What a panel builder takes as its links and data links: Grafana's schema has one type for these and for those on top. */
export const dashboardLinks = (links: readonly DataLink[]): DashboardLinkBuilder[] =>
  links.map(({ title, url }) => new DashboardLinkBuilder(title).type(DashboardLinkType.Link).url(url));

/** TraceQL attribute of a span. */
const spanAttribute = (attribute: AttributeKey): string => `span.${attribute}`;

/**
 * How a link's TraceQL names what is chosen on top of the dashboard. By `pipe`, for the names end up in a string of
 * TraceQL in a string of JSON in a URL, and Grafana can apply one format alone: `regex` would write `\\.`, which is no
 * JSON; `percentencode` would write `{a,b}`, which is no regular expression. A dot in a name matches any character, then,
 * and `&`, `#`, `+` and `%` are not encoded: README.md says so, and that links of rows and lines name theirs to the letter.
 * "All" of agent and tool is `.*` and not `.+`, for a plus in a URL is a space.
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
  // Encoded but for the variables, which Grafana must find.
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
 * To the traces of what the dashboard shows, in Grafana's Explore: needs the variable `traces`, a Tempo data source.
 * @param condition more TraceQL, such as `status = error`
 */
export const tracesLink = (title: string, condition?: string): DataLink => tracesOf(title, condition, () => undefined);

/** From a line of a graph to the traces of its agent or tool; otherwise as {@link tracesLink}. */
export const seriesTracesLink = (title: string, attributes: readonly LinkedAttribute[], condition?: string): DataLink =>
  tracesOf(title, condition, (attribute) => (attributes.includes(attribute) ? valueOfSeries(attribute) : undefined));

/** From a row of a table, whose columns of these attributes have these titles; otherwise as {@link tracesLink}. */
export const rowTracesLink = (
  title: string,
  columns: Readonly<Partial<Record<LinkedAttribute, string>>>,
  condition?: string,
): DataLink =>
  tracesOf(title, condition, (attribute) => {
    const column = columns[attribute];
    return column === undefined ? undefined : valueOfRow(column);
  });
