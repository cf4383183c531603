import { FieldTextAlignment, TableCellHeight } from '@grafana/grafana-foundation-sdk/common';
import {
  FieldColorBuilder,
  FieldColorModeId,
  MappingType,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import { CALM } from './palette.ts';
import { type Face, faced, instantRows, refIdOf, thresholds } from './panels.ts';

/** A column that a query fills. */
export interface Column {
  readonly title: string;
  readonly expr: string;
  /** Grafana's id of a unit. Default: that of the table. */
  readonly unit?: string;
  readonly decimals?: number;
  /** Colours the cell from this value upwards. */
  readonly alarm?: { readonly from: number; readonly colour: string };
  /** What to say instead of 0. */
  readonly zero?: string;
  /** Drawn as a bar from 0 to 1 in this colour. */
  readonly gauge?: string;
  /** Pixels. */
  readonly width?: number;
}

/** A label of the series that becomes a column of its own. */
export interface Key {
  readonly label: string;
  readonly title: string;
  /** Left of the values, which is what identifies a row, or right of them. */
  readonly side: 'left' | 'right';
}

type Property = { id: string; value: unknown };

const properties = ({ unit, decimals, alarm, zero, gauge, width }: Column): Property[] => [
  ...(unit === undefined ? [] : [{ id: 'unit', value: unit }]),
  ...(decimals === undefined ? [] : [{ id: 'decimals', value: decimals }]),
  ...(width === undefined ? [] : [{ id: 'custom.width', value: width }]),
  ...(alarm === undefined
    ? []
    : [
        {
          id: 'thresholds',
          value: {
            mode: ThresholdsMode.Absolute,
            steps: [
              { value: null, color: CALM },
              { value: alarm.from, color: alarm.colour },
            ],
          },
        },
        { id: 'custom.cellOptions', value: { type: 'color-background', mode: 'basic' } },
      ]),
  ...(gauge === undefined
    ? []
    : [
        { id: 'min', value: 0 },
        { id: 'max', value: 1 },
        { id: 'color', value: { mode: FieldColorModeId.Fixed, fixedColor: gauge } },
        { id: 'custom.cellOptions', value: { type: 'gauge', mode: 'basic', valueDisplayMode: 'text' } },
      ]),
  ...(zero === undefined
    ? []
    : [{ id: 'mappings', value: [{ type: MappingType.ValueToText, options: { 0: { text: zero, index: 0 } } }] }]),
];

/**
 * A table of now: each query gives one column, and rows with the same labels become one. The labels that all queries
 * keep identify the row.
 */
export const table = (face: Face, keys: readonly Key[], columns: readonly Column[], sortBy: string): TableBuilder => {
  const order = [
    ...keys.filter(({ side }) => side === 'left').map(({ label }) => label),
    ...columns.map((_, index) => `Value #${refIdOf(index)}`),
    ...keys.filter(({ side }) => side === 'right').map(({ label }) => label),
  ];
  const panel = faced(new TableBuilder(), face)
    .thresholds(thresholds())
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .align(FieldTextAlignment.Auto)
    .filterable(true)
    .cellHeight(TableCellHeight.Sm)
    .targets(columns.map(({ expr }, index) => instantRows(refIdOf(index), expr)))
    .withTransformation({ id: 'merge', options: {} })
    .withTransformation({
      id: 'organize',
      options: {
        excludeByName: { Time: true },
        includeByName: {},
        indexByName: Object.fromEntries(order.map((name, index) => [name, index])),
        renameByName: Object.fromEntries([
          ...keys.map(({ label, title }) => [label, title]),
          ...columns.map(({ title }, index) => [`Value #${refIdOf(index)}`, title]),
        ]),
      },
    })
    .withTransformation({ id: 'sortBy', options: { fields: {}, sort: [{ field: sortBy, desc: true }] } });
  return columns.reduce((built, column) => built.overrideByName(column.title, properties(column)), panel);
};
