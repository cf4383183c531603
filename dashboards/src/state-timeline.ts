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

/** What a value of the query means. */
export interface StateName {
  readonly value: number;
  readonly text: string;
  readonly colour: string;
}

/** What Grafana has to know to write the values of states as texts, in their colours. */
export const stateMapping = (names: readonly StateName[]): ValueMap => ({
  type: MappingType.ValueToText,
  options: Object.fromEntries(
    names.map(({ value, text, colour }, index) => [String(value), { text, color: colour, index }]),
  ),
});

/** How many bands there may be: Grafana 12 would put more onto pages. */
export const BANDS = 20;

/**
 * A band for each series, coloured by state. The colours are those of the mappings: with the mode `thresholds`, Grafana merges
 * equal values by their threshold, and draws all bands black.
 */
export const stateTimeline = (face: Face, line: Line, names: readonly StateName[]): StateTimelineBuilder =>
  faced(new StateTimelineBuilder(), face)
    .thresholds(thresholds())
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Fixed))
    .mappings([stateMapping(names)])
    .showValue(VisibilityMode.Never)
    .perPage(BANDS)
    .legend(legendBelow().displayMode(LegendDisplayMode.List).calcs([]))
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Single).sort(SortOrder.None))
    .withTarget(overTime('A', line));
