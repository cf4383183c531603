import {
  LegendDisplayMode,
  SortOrder,
  TooltipDisplayMode,
  VisibilityMode,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  FieldColorBuilder,
  FieldColorModeId,
  MappingType,
  type ValueMap,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder as StateTimelineBuilder } from '@grafana/grafana-foundation-sdk/statetimeline';
import { type Face, faced, type Line, legendBelow, overTime, thresholds } from './panels.ts';

/** Text and colour of a value of the query. */
export interface StateName {
  readonly value: number;
  readonly text: string;
  readonly colour: string;
}

/** Mappings with which Grafana writes the values of states as texts, in their colours. */
export const stateMapping = (names: readonly StateName[]): ValueMap => ({
  type: MappingType.ValueToText,
  options: Object.fromEntries(
    names.map(({ value, text, colour }, index) => [String(value), { text, color: colour, index }]),
  ),
});

/** The most bands of a high panel. */
export const BANDS = 20;

/**
 * One band per series, coloured by state. The colours are those of the mappings. With the mode `thresholds`, Grafana merges equal values
 * by their threshold and draws all bands black.
 */
export const stateTimeline = (face: Face, line: Line, names: readonly StateName[]): StateTimelineBuilder =>
  faced(new StateTimelineBuilder(), face)
    .thresholds(thresholds())
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Fixed))
    .mappings([stateMapping(names)])
    .showValue(VisibilityMode.Never)
    .legend(legendBelow().displayMode(LegendDisplayMode.List).calcs([]))
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Single).sort(SortOrder.None))
    .withTarget(overTime('A', line));
