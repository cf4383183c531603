import { FieldTextAlignment, TableCellHeight } from '@grafana/grafana-foundation-sdk/common';
import { FieldColorBuilder, FieldColorModeId, MappingType } from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import type { DataLink } from './links.ts';
import { type AttributeKey, label } from './names.ts';
import { type Face, faced, instantRows, thresholds } from './panels.ts';

/** What each row is about. */
export interface MatrixRow {
  readonly attribute: AttributeKey;
  /** Of its column. */
  readonly title: string;
  /** Where a click on it leads. */
  readonly links: readonly DataLink[];
}

/** What the columns are. */
export interface MatrixColumns {
  readonly attribute: AttributeKey;
  /** In their order, whichever of them there are: two matrices side by side have one order. */
  readonly values: readonly string[];
}

/** An empty cell; 0 is written like it. */
const NOTHING = '·';

/**
 * A table of one query whose columns are the values of an attribute, so that one sees at a glance which rows have a column in
 * common. Rows come in the order of the query.
 * @param alarm colours the cells from a value upwards
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
    ]);
};
