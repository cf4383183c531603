import { PanelBuilder as BarGaugeBuilder } from '@grafana/grafana-foundation-sdk/bargauge';
import {
  BarGaugeDisplayMode,
  BarGaugeNamePlacement,
  BarGaugeSizing,
  BarGaugeValueMode,
  ReduceDataOptionsBuilder,
  VizOrientation,
  VizTextDisplayOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  FieldColorBuilder,
  FieldColorModeId,
  type ThresholdsConfigBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { type Face, faced, instantNamed, type Line } from './panels.ts';

/** One bar per series with the current value, from 0 to `max`. */
export const barGauge = (face: Face, line: Line, limits: ThresholdsConfigBuilder, max: number): BarGaugeBuilder =>
  faced(new BarGaugeBuilder(), face)
    .min(0)
    .max(max)
    .thresholds(limits)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .displayMode(BarGaugeDisplayMode.Basic)
    .orientation(VizOrientation.Horizontal)
    .valueMode(BarGaugeValueMode.Text)
    .namePlacement(BarGaugeNamePlacement.Left)
    .showUnfilled(true)
    // Bars of equal height, for any number of them.
    .sizing(BarGaugeSizing.Manual)
    .minVizWidth(8)
    .minVizHeight(16)
    .maxVizHeight(24)
    .text(new VizTextDisplayOptionsBuilder().titleSize(13).valueSize(13))
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('').values(false))
    .withTarget(instantNamed('A', line));
