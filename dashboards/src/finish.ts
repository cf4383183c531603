import {
  type Dashboard,
  type Panel,
  type RowPanel,
  VariableHide,
  type VariableModel,
} from '@grafana/grafana-foundation-sdk/dashboard';

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };
/** A dashboard in the format that Grafana reads from a file. */
export type DashboardJson = JsonObject;

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The SDK's default for an unset option. Grafana 11 does not know it, and later versions would hide things in a menu. */
const HIDDEN_IN_MENU = 'inControlsMenu';

/** Sorts objects by key, so that two runs give the same output, and drops the SDK's functions and undefined values. */
const plain = (value: unknown): Json => {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key, one]) => one !== undefined && typeof one !== 'function' && !isHidden(key, one))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, one]) => [key, plain(one)]),
    );
  }
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new Error(
    `dashboards: ${String(value)} cannot be written as JSON, so Grafana would read another value. Correct the panel that sets it.`,
  );
};

const isHidden = (key: string, value: unknown): boolean => key === 'placement' && value === HIDDEN_IN_MENU;

const withOptions = (panel: Panel | RowPanel): Panel | RowPanel => {
  if ('panels' in panel) return { ...panel, panels: panel.panels.map((one) => withOptions(one) as Panel) };
  // The legend of a heatmap has another format.
  if (!('options' in panel) || panel.options?.legend === undefined || 'show' in panel.options.legend) return panel;
  // The names of a bar gauge are beside its bars.
  const legend = { ...panel.options.legend, showLegend: panel.type !== 'bargauge' };
  return { ...panel, options: { ...panel.options, legend, ...(panel.type === 'state-timeline' && { perPage: 0 }) } };
};

/** Links do not carry hidden variables: the next dashboard finds their values itself. */
const withoutUrl = (variable: VariableModel): VariableModel =>
  variable.hide === VariableHide.HideVariable ? { ...variable, skipUrlSync: true } : variable;

/**
 * Completes the SDK's output: panel ids, which it leaves out (every row gets 0); legends, which it turns off; no pages of a timeline, for
 * which Grafana 12 draws a pager even if there is one; no hidden placement; and keys in a fixed order.
 */
export const finished = (dashboard: Dashboard): DashboardJson =>
  plain({
    ...dashboard,
    id: null,
    templating: { ...dashboard.templating, list: (dashboard.templating?.list ?? []).map(withoutUrl) },
    panels: numbered((dashboard.panels ?? []).map(withOptions)),
  }) as DashboardJson;

/** With ids from 1 on, also in collapsed rows. */
const numbered = (panels: readonly (Panel | RowPanel)[]): readonly (Panel | RowPanel)[] => {
  let last = 0;
  const next = <One extends Panel | RowPanel>(panel: One): One => {
    last += 1;
    return { ...panel, id: last, ...('panels' in panel && { panels: panel.panels.map(next) }) };
  };
  return panels.map(next);
};

/** The text for the file. */
export const rendered = (dashboard: DashboardJson): string => `${JSON.stringify(dashboard, null, 2)}\n`;
