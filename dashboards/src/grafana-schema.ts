import type * as bargauge from '@grafana/grafana-foundation-sdk/bargauge';
import type * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import type * as heatmap from '@grafana/grafana-foundation-sdk/heatmap';
import type * as logs from '@grafana/grafana-foundation-sdk/logs';
import type * as loki from '@grafana/grafana-foundation-sdk/loki';
import type * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import type * as stat from '@grafana/grafana-foundation-sdk/stat';
import type * as statetimeline from '@grafana/grafana-foundation-sdk/statetimeline';
import type * as table from '@grafana/grafana-foundation-sdk/table';
import type * as text from '@grafana/grafana-foundation-sdk/text';
import type * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';

/** Settings of fields, for a kind of panel that has none of its own. */
type None = Record<string, never>;

/**
 * Grafana's own schema for the parts that the dashboards use, from the types of its SDK. The builders are typed, but plain data that
 * is passed to them is not, and neither are later changes. schema.test.ts makes a JSON schema from these types, and checks the
 * finished files against it.
 */
export interface GrafanaSchema {
  // Panels and their queries are checked one by one, because the SDK's types for them inside a dashboard accept anything.
  readonly dashboard: Omit<dashboard.Dashboard, 'panels'>;
  readonly row: dashboard.RowPanel;
  readonly panel: Omit<dashboard.Panel, 'targets'>;
  readonly target: prometheus.Dataquery;
  readonly logs: loki.dataquery;
  /** The types of `options` and `fieldConfig.defaults.custom` of a panel, by panel type. */
  readonly panels: {
    readonly bargauge: { readonly options: bargauge.Options; readonly custom: None };
    readonly heatmap: { readonly options: heatmap.Options; readonly custom: heatmap.FieldConfig };
    readonly logs: { readonly options: logs.Options; readonly custom: None };
    readonly stat: { readonly options: stat.Options; readonly custom: None };
    readonly 'state-timeline': { readonly options: statetimeline.Options; readonly custom: statetimeline.FieldConfig };
    readonly table: { readonly options: table.Options; readonly custom: table.FieldConfig };
    readonly text: { readonly options: text.Options; readonly custom: None };
    readonly timeseries: { readonly options: timeseries.Options; readonly custom: timeseries.FieldConfig };
  };
}
