import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import {
  BigValueColorMode,
  BigValueGraphMode,
  GraphDrawStyle,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  FieldColorBuilder,
  FieldColorModeId,
  type Panel,
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { CALM, COLOUR } from './palette.ts';
import { DATASOURCE } from './variables.ts';

/** Shown if a query has no result. Existing series are exported as zero, so no result means that no agent reports. */
export const NO_TELEMETRY = 'No telemetry';

/** The same for panels about circuits that processes share. */
export const NO_FLEET = 'No fleet';

/** The same for panels about models. */
export const NO_MODELS = 'No models';

/** A panel of a row. The row arranges its panels from left to right. */
export type PanelSource = Builder<Panel>;

/** A row of the dashboard. */
export interface Row {
  /** Without a title the row has no heading, which saves room on a dashboard of one screen. */
  readonly title?: string;
  /** Closed until a person opens it, and without queries until then: for what only some users have. Needs a title. Default: false. */
  readonly collapsed?: true;
  readonly panels: readonly PanelSource[];
}

/** Options of every panel. */
export interface Face {
  readonly title: string;
  /** One or two sentences: what is shown, and how to read it. */
  readonly description: string;
  /** Grafana's id of a unit. */
  readonly unit: string;
  /** Width in columns of 24. */
  readonly width: number;
  readonly height: number;
}

/** Size and unit of a panel. */
export const sized = (width: number, height: number, unit: string) => ({ width, height, unit });

/** One query of a graph. */
export interface Line {
  readonly expr: string;
  readonly legend: string;
  /** Asks for calls behind the numbers, which Grafana draws as points with a link to their traces. Default: none. */
  readonly exemplars?: true;
}

const query = (refId: string, expr: string): DataqueryBuilder =>
  new DataqueryBuilder().datasource(DATASOURCE).refId(refId).expr(expr);

/** `A`, `B`, … */
export const refIdOf = (index: number): string => String.fromCharCode('A'.charCodeAt(0) + index);

/** A current value. */
export const instant = (refId: string, expr: string): Builder<Dataquery> => query(refId, expr).instant();

/** Current values, each with a name. */
export const instantNamed = (refId: string, { expr, legend }: Line): Builder<Dataquery> =>
  query(refId, expr).instant().legendFormat(legend);

/** Buckets of a classic histogram over time. Grafana subtracts the buckets below from each one. */
export const heatmapBuckets = (refId: string, expr: string): Builder<Dataquery> =>
  query(refId, expr).range().format(PromQueryFormat.Heatmap).legendFormat('{{le}}');

/** Current values, one row per series. */
export const instantRows = (refId: string, expr: string): Builder<Dataquery> =>
  query(refId, expr).instant().format(PromQueryFormat.Table);

/** Values over time. */
export const overTime = (refId: string, { expr, legend, exemplars }: Line): Builder<Dataquery> => {
  const target = query(refId, expr).range().legendFormat(legend);
  return exemplars === undefined ? target : target.exemplar(true);
};

/** Options of the builders of all kinds of panels. */
interface PanelBuilder {
  title(text: string): this;
  description(text: string): this;
  datasource(source: typeof DATASOURCE): this;
  span(width: number): this;
  height(rows: number): this;
  unit(unit: string): this;
  noValue(text: string): this;
}

/** A panel with its options, on the dashboard's data source. */
export const faced = <Panel extends PanelBuilder>(panel: Panel, face: Face): Panel =>
  panel
    .title(face.title)
    .description(face.description)
    .datasource(DATASOURCE)
    .span(face.width)
    .height(face.height)
    .unit(face.unit)
    .noValue(NO_TELEMETRY);

/** Colours in steps `[from, colour]` upwards. Below the first step there is no colour. */
export const thresholds = (...steps: readonly (readonly [from: number, colour: string])[]): ThresholdsConfigBuilder =>
  new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps([{ value: null, color: CALM }, ...steps.map(([value, color]): Threshold => ({ value, color }))]);

/** Draws the thresholds of a graph as lines. */
export const thresholdLines = (): GraphThresholdsStyleConfigBuilder =>
  new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed);

/** One number. Its background gets a colour when it crosses a threshold. */
export const stat = (face: Face, expr: string, limits = thresholds()): StatBuilder =>
  faced(new StatBuilder(), face)
    .thresholds(limits)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .colorMode(BigValueColorMode.Background)
    .graphMode(BigValueGraphMode.None)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('').values(false))
    .withTarget(instant('A', expr));

/**
 * A legend below the graph, with the last and the highest value of each line. The highest first, because only some lines have room, and
 * one that was high a moment ago would be below all that are 0.
 */
export const legendBelow = (): VizLegendOptionsBuilder =>
  new VizLegendOptionsBuilder()
    .showLegend(true)
    .displayMode(LegendDisplayMode.Table)
    .placement(LegendPlacement.Bottom)
    .calcs(['lastNotNull', 'max'])
    .sortBy('Max')
    .sortDesc(true);

/**
 * The number of points of a graph of rare events, or of a small graph. With a scrape each second, a step and its rate interval would be so
 * short that each event were a needle, and Prometheus would have more work. Not a shortest interval (`interval`): that of a panel replaces
 * the scrape interval of the data source, and rates over a shorter time are empty.
 */
export const EVENT_POINTS = 120;

/** Only names, below the graph: for kinds of events, of which there are few and whose last value means little. */
export const legendOfNames = (): VizLegendOptionsBuilder => legendBelow().displayMode(LegendDisplayMode.List).calcs([]);

/** The last and the highest value of each line, beside the graph: for up to ten lines. */
export const legendTableBeside = (): VizLegendOptionsBuilder => legendBelow().placement(LegendPlacement.Right);

/** Only names, beside the graph: for a wide and low graph. */
export const legendBeside = (): VizLegendOptionsBuilder =>
  new VizLegendOptionsBuilder()
    .showLegend(true)
    .displayMode(LegendDisplayMode.List)
    .placement(LegendPlacement.Right)
    .calcs([]);

/** The name of the zero that is drawn if nothing happened. */
export const NONE = 'none';

/** While all values are 0, Grafana would draw the axis up to 100. So it reaches up to this at least. */
const LEAST_TOP: Readonly<Record<string, number>> = { none: 1, short: 1, ops: 0.01, s: 0.01, percentunit: 1 };

/** Lines over time. */
export const lines = (face: Face, ...shown: readonly Line[]): TimeseriesBuilder =>
  faced(new TimeseriesBuilder(), face)
    .axisSoftMax(LEAST_TOP[face.unit] ?? 1)
    .min(0)
    // For lines named by data, such as agents: the colours of Grafana's palette in order, which Grafana 11 to 13 all have. A colour by hash of
    // the name may give neighbours the same shade, and shades of one colour are hard to distinguish.
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.PaletteClassic))
    .drawStyle(GraphDrawStyle.Line)
    .lineWidth(2)
    .fillOpacity(0)
    .showPoints(VisibilityMode.Auto)
    .legend(legendBelow())
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    .targets(shown.map((line, index) => overTime(refIdOf(index), line)))
    .overrideByName(NONE, [
      { id: 'color', value: { mode: FieldColorModeId.Fixed, fixedColor: COLOUR.grey } },
      { id: 'custom.hideFrom', value: { legend: true, tooltip: false, viz: false } },
    ]);

/** Stacked, filled lines. */
export const stacked = (face: Face, ...shown: readonly Line[]): TimeseriesBuilder =>
  lines(face, ...shown)
    .lineWidth(1)
    .fillOpacity(60)
    .legend(legendOfNames())
    .stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'));

/** Stacked bars, for rare events. */
export const bars = (face: Face, ...shown: readonly Line[]): TimeseriesBuilder =>
  stacked(face, ...shown)
    .maxDataPoints(EVENT_POINTS)
    .drawStyle(GraphDrawStyle.Bars)
    .showPoints(VisibilityMode.Never)
    .fillOpacity(80);

/** Fixes the colour of each named line, regardless of the other lines. */
export const coloured = (panel: TimeseriesBuilder, colours: Readonly<Record<string, string>>): TimeseriesBuilder =>
  Object.entries(colours).reduce(
    (built, [name, fixedColor]) =>
      built.overrideByName(name, [{ id: 'color', value: { mode: FieldColorModeId.Fixed, fixedColor } }]),
    panel,
  );
