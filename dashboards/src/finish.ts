import type { Dashboard, Panel, RowPanel } from '@grafana/grafana-foundation-sdk/dashboard';

/** A value as JSON has it. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** An object of it. */
export type JsonObject = { readonly [key: string]: Json };
/** A dashboard as Grafana reads it from a file. */
export type DashboardJson = JsonObject;

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The SDK's default for what isn't said; Grafana 11 doesn't know it, and later ones would hide things in a menu. */
const HIDDEN_IN_MENU = 'inControlsMenu';

/** Objects by key, so that two runs never differ, without the SDK's functions and what it leaves undefined. */
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
    `dashboards: ${String(value)} can't be written as JSON. Grafana would read something else than was meant; mend the panel that sets it.`,
  );
};

const isHidden = (key: string, value: unknown): boolean => key === 'placement' && value === HIDDEN_IN_MENU;

const withLegend = (panel: Panel | RowPanel): Panel | RowPanel => {
  // A heatmap's legend is of another kind.
  if (!('options' in panel) || panel.options?.legend === undefined || 'show' in panel.options.legend) return panel;
  return { ...panel, options: { ...panel.options, legend: { ...panel.options.legend, showLegend: true } } };
};

/**
 * What the SDK's output still needs before Grafana may have it: panel ids, which it leaves out (and gives every row 0);
 * legends, which it turns off; no hidden placement; and keys in one order.
 */
export const finished = (dashboard: Dashboard): DashboardJson =>
  plain({
    ...dashboard,
    id: null,
    panels: (dashboard.panels ?? []).map((panel, index) => ({ ...withLegend(panel), id: index + 1 })),
  }) as DashboardJson;

/** The text of the file. */
export const rendered = (dashboard: DashboardJson): string => `${JSON.stringify(dashboard, null, 2)}\n`;
