import type * as bargauge from '@grafana/grafana-foundation-sdk/bargauge';
import type * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import type * as heatmap from '@grafana/grafana-foundation-sdk/heatmap';
import type * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import type * as stat from '@grafana/grafana-foundation-sdk/stat';
import type * as statetimeline from '@grafana/grafana-foundation-sdk/statetimeline';
import type * as table from '@grafana/grafana-foundation-sdk/table';
import type * as text from '@grafana/grafana-foundation-sdk/text';
import type * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';

/** Settings of fields that a kind of panel doesn't have. */
type None = Record<string, never>;

/**
 * Grafana's own schema of what the dashboards use, as its SDK has it in types. The builders are typed, but what is handed to
 * them as plain data is not, nor what is changed after them: schema.test.ts makes JSON schema of these types, and holds the
 * finished files to it.
 */
export interface GrafanaSchema {
  // Panels and their queries are checked one by one: the SDK's own types for them inside a dashboard are open ones.
  readonly dashboard: Omit<dashboard.Dashboard, 'panels'>;
  readonly row: dashboard.RowPanel;
  readonly panel: Omit<dashboard.Panel, 'targets'>;
  readonly target: prometheus.Dataquery;
  /** What a panel has under `options` and `fieldConfig.defaults.custom`, by its type. */
  readonly panels: {
    readonly bargauge: { readonly options: bargauge.Options; readonly custom: None };
    readonly heatmap: { readonly options: heatmap.Options; readonly custom: heatmap.FieldConfig };
    readonly stat: { readonly options: stat.Options; readonly custom: None };
    readonly 'state-timeline': { readonly options: statetimeline.Options; readonly custom: statetimeline.FieldConfig };
    readonly table: { readonly options: table.Options; readonly custom: table.FieldConfig };
    readonly text: { readonly options: text.Options; readonly custom: None };
    readonly timeseries: { readonly options: timeseries.Options; readonly custom: timeseries.FieldConfig };
  };
}
