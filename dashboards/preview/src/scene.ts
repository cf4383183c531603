// What the command hands to the page that draws it. Types alone: Node and the browser share them, and nothing else.

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

/** A query of a panel, as dashboard JSON has it. */
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

/** A panel, as dashboard JSON has it; what the preview hands on to Grafana's libraries stays as it is. */
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
  /** Of a collapsed row. */
  readonly panels?: readonly PanelJson[];
  readonly targets?: readonly TargetJson[];
  readonly options?: Values;
  readonly fieldConfig?: { readonly defaults?: Values; readonly overrides?: readonly unknown[] };
  readonly transformations?: readonly { readonly id: string; readonly options?: unknown }[];
}

/** A series as Prometheus answers: unix milliseconds, and `null` for NaN. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly points: readonly (readonly [number, number | null])[];
}

/** What Prometheus said to one query of a panel. */
export interface Answer {
  readonly target: TargetJson;
  readonly stepMs: number;
  readonly series: readonly Series[];
  /** Prometheus' words when it refused. */
  readonly error?: string;
}

export interface PanelScene {
  readonly panel: PanelJson;
  /** Title of the row it is in; empty above the first row. */
  readonly row: string;
  readonly box: Box;
  readonly answers: readonly Answer[];
}

/** A mark across all graphs, of one moment or from then to then. */
export interface Mark {
  readonly name: string;
  readonly color: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly title: string;
}

/** One dashboard with all its data, ready to be drawn. */
export interface Scene {
  readonly uid: string;
  readonly title: string;
  readonly width: number;
  readonly height: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** What is chosen in each variable. */
  readonly variables: readonly { readonly label: string; readonly text: string }[];
  /** On top of the dashboard. */
  readonly links: readonly string[];
  readonly rows: readonly { readonly title: string; readonly box: Box }[];
  readonly panels: readonly PanelScene[];
  readonly marks: readonly Mark[];
}

/** What one panel showed. */
export interface PanelReport {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly row: string;
  /**
   * `data`: at least one value. `nothing`: no query had any. `error`: a query was refused, or the panel could not be drawn.
   * `undrawn`: a kind of panel that the preview can't draw. `text`: needs no data.
   */
  readonly shows: 'data' | 'nothing' | 'error' | 'undrawn' | 'text';
  /** Who drew it: a component of @grafana/ui, or the preview's plain drawing. */
  readonly drawnBy: '@grafana/ui' | 'preview';
  /** Series, or columns of a table, that have values. */
  readonly series: number;
  /** Whether any number was other than 0. */
  readonly nonZero: boolean;
  /** Prometheus' words, or those of whoever could not draw. */
  readonly error?: string;
}
