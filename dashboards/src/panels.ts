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

/** Shown wherever a query gives nothing: what exists is exported as zero, so nothing means that nobody reports. */
export const NO_TELEMETRY = 'No telemetry';

/** A panel of a row: the row lays them out from left to right. */
export type PanelSource = Builder<Panel>;

/** A row of the dashboard. */
export interface Row {
  /** Without one the row has no heading: on a dashboard of one screen, headings take the place of a panel. */
  readonly title?: string;
  readonly panels: readonly PanelSource[];
}

/** What every panel says of itself. */
export interface Face {
  readonly title: string;
  /** One or two sentences: what is shown, and what to make of it. */
  readonly description: string;
  /** Grafana's id of a unit. */
  readonly unit: string;
  /** Columns of 24. */
  readonly width: number;
  readonly height: number;
}

/** One query of a graph. */
export interface Line {
  readonly expr: string;
  readonly legend: string;
}

const query = (refId: string, expr: string): DataqueryBuilder =>
  new DataqueryBuilder().datasource(DATASOURCE).refId(refId).expr(expr);

/** `A`, `B`, … */
export const refIdOf = (index: number): string => String.fromCharCode('A'.charCodeAt(0) + index);

/** Value of now. */
export const instant = (refId: string, expr: string): Builder<Dataquery> => query(refId, expr).instant();

/** Values of now, each with a name. */
export const instantNamed = (refId: string, { expr, legend }: Line): Builder<Dataquery> =>
  query(refId, expr).instant().legendFormat(legend);

/** Buckets of a classic histogram over time; Grafana takes from each what those below it have. */
export const heatmapBuckets = (refId: string, expr: string): Builder<Dataquery> =>
  query(refId, expr).range().format(PromQueryFormat.Heatmap).legendFormat('{{le}}');

/** Value of now, a row for each series. */
export const instantRows = (refId: string, expr: string): Builder<Dataquery> =>
  query(refId, expr).instant().format(PromQueryFormat.Table);

/** Values over time. */
export const overTime = (refId: string, { expr, legend }: Line): Builder<Dataquery> =>
  query(refId, expr).range().legendFormat(legend);

/** What the builders of all kinds of panels can be told. */
interface PanelBuilder {
  title(text: string): this;
  description(text: string): this;
  datasource(source: typeof DATASOURCE): this;
  span(width: number): this;
  height(rows: number): this;
  unit(unit: string): this;
  noValue(text: string): this;
}

/** A panel with its face, on the dashboard's data source. */
export const faced = <Panel extends PanelBuilder>(panel: Panel, face: Face): Panel =>
  panel
    .title(face.title)
    .description(face.description)
    .datasource(DATASOURCE)
    .span(face.width)
    .height(face.height)
    .unit(face.unit)
    .noValue(NO_TELEMETRY);

/** Colours from `[from, colour]` steps upwards; below the first one there is no colour. */
export const thresholds = (...steps: readonly (readonly [from: number, colour: string])[]): ThresholdsConfigBuilder =>
  new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps([{ value: null, color: CALM }, ...steps.map(([value, color]): Threshold => ({ value, color }))]);

/** Draws the thresholds of a graph as lines across it. */
export const thresholdLines = (): GraphThresholdsStyleConfigBuilder =>
  new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed);

/** One number; its background is coloured when it crosses a threshold. */
export const stat = (face: Face, expr: string, limits: ThresholdsConfigBuilder): StatBuilder =>
  faced(new StatBuilder(), face)
    .thresholds(limits)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .colorMode(BigValueColorMode.Background)
    .graphMode(BigValueGraphMode.None)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('').values(false))
    .withTarget(instant('A', expr));

/** A legend below, with the last and the highest value of each line. */
export const legendBelow = (): VizLegendOptionsBuilder =>
  new VizLegendOptionsBuilder()
    .showLegend(true)
    .displayMode(LegendDisplayMode.Table)
    .placement(LegendPlacement.Bottom)
    .calcs(['lastNotNull', 'max']);

/**
 * Points of a graph of events that are rare, or small. With scrapes each second, a step and its rate interval would otherwise
 * be so short that each event were a needle; and Prometheus has less to do. Not a shortest interval (`interval`): a panel's
 * takes the place of the data source's, which is how often samples come, and rates over less than that are empty.
 */
export const EVENT_POINTS = 120;

/** Names alone, below the graph: for kinds of events, of which there are few, and whose last value says little. */
export const legendOfNames = (): VizLegendOptionsBuilder => legendBelow().displayMode(LegendDisplayMode.List).calcs([]);

/** The last and the highest value of each line, beside the graph: for lines that may be ten. */
export const legendTableBeside = (): VizLegendOptionsBuilder => legendBelow().placement(LegendPlacement.Right);

/** Names alone, beside the graph: for a graph that is wide and low. */
export const legendBeside = (): VizLegendOptionsBuilder =>
  new VizLegendOptionsBuilder()
    .showLegend(true)
    .displayMode(LegendDisplayMode.List)
    .placement(LegendPlacement.Right)
    .calcs([]);

/** The name of the zero that is drawn where nothing happened. */
export const NONE = 'none';

/** Lines over time. */
export const lines = (face: Face, ...shown: readonly Line[]): TimeseriesBuilder =>
  faced(new TimeseriesBuilder(), face)
    .min(0)
    // For lines with names of their own, such as agents: Grafana's palette in turn, which Grafana 11 to 13 all have. A hash of
    // the name gives neighbours the same shade, and shades of one colour can't be told apart.
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

/** Filled lines, one upon the other. */
export const stacked = (face: Face, ...shown: readonly Line[]): TimeseriesBuilder =>
  lines(face, ...shown)
    .lineWidth(1)
    .fillOpacity(60)
    .legend(legendOfNames())
    .stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'));

/** Bars, one upon the other: for events that come now and then. */
export const bars = (face: Face, ...shown: readonly Line[]): TimeseriesBuilder =>
  stacked(face, ...shown)
    .maxDataPoints(EVENT_POINTS)
    .drawStyle(GraphDrawStyle.Bars)
    .showPoints(VisibilityMode.Never)
    .fillOpacity(80);

/** Gives each named line its colour, whether or not the others are there. */
export const coloured = (panel: TimeseriesBuilder, colours: Readonly<Record<string, string>>): TimeseriesBuilder =>
  Object.entries(colours).reduce(
    (built, [name, fixedColor]) =>
      built.overrideByName(name, [{ id: 'color', value: { mode: FieldColorModeId.Fixed, fixedColor } }]),
    panel,
  );
