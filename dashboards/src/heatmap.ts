import {
  AxisPlacement,
  HeatmapCellLayout,
  TooltipDisplayMode,
  VisibilityMode,
} from '@grafana/grafana-foundation-sdk/common';
import {
  CellValuesBuilder,
  PanelBuilder as HeatmapBuilder,
  HeatmapColorMode,
  HeatmapColorOptionsBuilder,
  HeatmapColorScale,
  HeatmapTooltipBuilder,
  RowsHeatmapOptionsBuilder,
  YAxisConfigBuilder,
} from '@grafana/grafana-foundation-sdk/heatmap';
import { type Face, faced, heatmapBuckets } from './panels.ts';

/**
 * Buckets of a classic histogram over time: the brighter a cell, the more observations per second. The unit of the panel is that of the
 * axis.
 * @param nothing text for a histogram without series: it has no zero, and does not exist before its first observation
 */
export const heatmap = (face: Face, expr: string, nothing: string): HeatmapBuilder =>
  faced(new HeatmapBuilder(), face)
    .noValue(nothing)
    .calculate(false)
    // Prometheus names a bucket by its upper bound.
    .rowsFrame(new RowsHeatmapOptionsBuilder().layout(HeatmapCellLayout.Le))
    .yAxis(new YAxisConfigBuilder().unit(face.unit).axisPlacement(AxisPlacement.Left))
    .color(
      new HeatmapColorOptionsBuilder()
        .mode(HeatmapColorMode.Scheme)
        // Perceptually uniform, and readable with any kind of colour vision.
        .scheme('Viridis')
        .scale(HeatmapColorScale.Exponential)
        .exponent(0.5)
        .steps(64)
        .fill('dark-blue')
        .reverse(false),
    )
    .cellGap(1)
    .cellValues(new CellValuesBuilder().unit('ops'))
    .showValue(VisibilityMode.Never)
    .showLegend()
    .tooltip(new HeatmapTooltipBuilder().mode(TooltipDisplayMode.Single).showColorScale(true).yHistogram(true))
    .withTarget(heatmapBuckets('A', expr));
