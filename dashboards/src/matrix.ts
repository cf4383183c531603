import { FieldTextAlignment, TableCellHeight } from '@grafana/grafana-foundation-sdk/common';
import { FieldColorBuilder, FieldColorModeId, MappingType } from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import type { DataLink } from './links.ts';
import { type AttributeKey, label } from './names.ts';
import { type Face, faced, instantRows, thresholds } from './panels.ts';
import { NO_FILTER_BUTTONS } from './table.ts';

/** The subject of each row. */
export interface MatrixRow {
  readonly attribute: AttributeKey;
  /** Title of its column. */
  readonly title: string;
  /** Where a click on it leads. */
  readonly links: readonly DataLink[];
}

/** The columns. */
export interface MatrixColumns {
  readonly attribute: AttributeKey;
  /** All columns in this order, so that two matrices side by side have the same order. */
  readonly values: readonly string[];
}

/** Text of an empty cell; 0 has the same text. */
const NOTHING = '·';

/**
 * A table of one query with a column per value of an attribute, which shows at a glance which rows have a column in common. Rows keep the
 * order of the query.
 * @param alarm colours cells from this value upwards
 */
export const matrix = (
  face: Face,
  row: MatrixRow,
  column: MatrixColumns,
  expr: string,
  alarm: { readonly from: number; readonly colour: string },
): TableBuilder => {
  const names = `${label(row.attribute)}\\${label(column.attribute)}`;
  return faced(new TableBuilder(), face)
    .thresholds(thresholds([alarm.from, alarm.colour]))
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .mappings([{ type: MappingType.ValueToText, options: { 0: { text: NOTHING, index: 0 } } }])
    .align(FieldTextAlignment.Center)
    .minWidth(75)
    .filterable(false)
    .cellHeight(TableCellHeight.Sm)
    .withTarget(instantRows('A', expr))
    .withTransformation({
      id: 'groupingToMatrix',
      options: {
        rowField: label(row.attribute),
        columnField: label(column.attribute),
        valueField: 'Value',
        emptyValue: 'null',
      },
    })
    .withTransformation({
      id: 'organize',
      options: {
        excludeByName: {},
        includeByName: {},
        indexByName: Object.fromEntries([names, ...column.values].map((name, index) => [name, index])),
        renameByName: { [names]: row.title },
      },
    })
    .overrideByFieldType('number', [
      { id: 'custom.cellOptions', value: { type: 'color-background', mode: 'basic' } },
      { id: 'noValue', value: NOTHING },
    ])
    .overrideByName(row.title, [
      { id: 'custom.align', value: FieldTextAlignment.Left },
      { id: 'links', value: row.links },
      ...NO_FILTER_BUTTONS,
    ]);
};
