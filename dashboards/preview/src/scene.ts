// The types of the data that the command passes to the page that draws it, shared by Node and the browser.

/** A rectangle in CSS pixels. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Grid units: 24 columns, rows of 30 px. */
export interface GridPos {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** A query of a panel, from the dashboard JSON. */
export interface TargetJson {
  readonly refId: string;
  readonly expr: string;
  readonly instant?: boolean;
  readonly format?: 'time_series' | 'table' | 'heatmap';
  readonly legendFormat?: string;
  readonly interval?: string;
  readonly hide?: boolean;
}

type Values = Readonly<Record<string, unknown>>;

/** A panel, from the dashboard JSON. Parts that the preview passes on to Grafana's libraries stay unchanged. */
export interface PanelJson {
  readonly id: number;
  readonly type: string;
  readonly title?: string;
  readonly description?: string;
  readonly transparent?: boolean;
  readonly gridPos: GridPos;
  readonly interval?: string;
  readonly maxDataPoints?: number;
  readonly collapsed?: boolean;
  /** The panels of a collapsed row. */
  readonly panels?: readonly PanelJson[];
  readonly targets?: readonly TargetJson[];
  readonly options?: Values;
  readonly fieldConfig?: { readonly defaults?: Values; readonly overrides?: readonly unknown[] };
  readonly transformations?: readonly { readonly id: string; readonly options?: unknown }[];
}

/** A series of an answer: Unix milliseconds, and `null` for NaN. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly points: readonly (readonly [number, number | null])[];
}

/** Prometheus' answer to one query of a panel. */
export interface Answer {
  readonly target: TargetJson;
  readonly stepMs: number;
  readonly series: readonly Series[];
  /** Prometheus' message if it rejected the query. */
  readonly error?: string;
}

export interface PanelScene {
  readonly panel: PanelJson;
  /** Title of its row; empty above the first row. */
  readonly row: string;
  readonly box: Box;
  readonly answers: readonly Answer[];
}

/** A mark across all graphs, at one time or over a period. */
export interface Mark {
  readonly name: string;
  readonly color: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly title: string;
}

/** One dashboard with all its data, ready to draw. */
export interface Scene {
  readonly uid: string;
  readonly title: string;
  readonly width: number;
  readonly height: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** The selected values of each variable. */
  readonly variables: readonly { readonly label: string; readonly text: string }[];
  /** Shown at the top of the dashboard. */
  readonly links: readonly string[];
  readonly rows: readonly { readonly title: string; readonly closed: boolean; readonly box: Box }[];
  readonly panels: readonly PanelScene[];
  readonly marks: readonly Mark[];
}

/** The result of one panel. */
export interface PanelReport {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly row: string;
  /**
   * `data`: at least one value. `nothing`: no query had a value. `error`: a query was rejected, or the panel could not be drawn.
   * `undrawn`: a kind of panel that the preview cannot draw. `text`: needs no data.
   */
  readonly shows: 'data' | 'nothing' | 'error' | 'undrawn' | 'text';
  /** Whether a component of @grafana/ui or the preview's plain drawing drew it. */
  readonly drawnBy: '@grafana/ui' | 'preview';
  /** Series, or columns of a table, that have values. */
  readonly series: number;
  /** Whether any number was not 0. */
  readonly nonZero: boolean;
  /** The message of Prometheus, or of the part that could not draw. */
  readonly error?: string;
}
