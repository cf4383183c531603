import { FieldTextAlignment, TableCellHeight } from '@grafana/grafana-foundation-sdk/common';
import {
  FieldColorBuilder,
  FieldColorModeId,
  MappingType,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import { type DataLink, fromRow, UID } from './links.ts';
import { ATTR, JOB, label } from './names.ts';
import { CALM } from './palette.ts';
import { type Face, faced, instantRows, refIdOf, thresholds } from './panels.ts';
import { type StateName, stateMapping } from './state-timeline.ts';

/** A column that a query fills. */
export interface Column {
  readonly title: string;
  readonly expr: string;
  /** Grafana's id of a unit. Default: the unit of the table. */
  readonly unit?: string;
  readonly decimals?: number;
  /** Colours the cell from this value upwards. */
  readonly alarm?: { readonly from: number; readonly colour: string };
  /** Text for the value 0. */
  readonly zero?: string;
  /** Texts and colours for the values. Not together with `alarm` and `zero`. */
  readonly states?: readonly StateName[];
  /** Draws the value as a bar from 0 to 1 in this colour. */
  readonly gauge?: string;
  /** The same from 0 to the highest value, for a table with one query. */
  readonly bar?: string;
  /** Text for a row for which the query has no value. */
  readonly absent?: string;
  /** Width in pixels. */
  readonly width?: number;
  /** Where a click on a cell leads. */
  readonly links?: readonly DataLink[];
}

/** A label of the series that becomes its own column. */
export interface Key {
  readonly label: string;
  readonly title: string;
  /** Left of the values, for labels that identify a row, or right of them. */
  readonly side: 'left' | 'right';
  /** Width in pixels. */
  readonly width?: number;
  /** Text for a row without this label. */
  readonly absent?: string;
  /** A prefix that all values share, and that the table does not repeat. */
  readonly prefix?: string;
  /** Where a click on a cell leads. */
  readonly links?: readonly DataLink[];
  /** Not drawn: only links of other columns read it. */
  readonly hidden?: true;
}

/** Titles of the columns that name an agent, for links. */
export const AGENT_COLUMNS = { [JOB]: 'Job', [ATTR.agent]: 'Agent' } as const;
/** The same for a tool of an agent. */
export const AGENT_TOOL_COLUMNS = { ...AGENT_COLUMNS, [ATTR.tool]: 'Tool' } as const;

/** For a table with little room: columns without a width may be narrower than Grafana's 150 px. */
export const tight = (panel: TableBuilder): TableBuilder => panel.minWidth(95);

/** The job, of an agent whose name another job may have too. */
export const JOB_KEY: Key = { label: label(JOB), title: AGENT_COLUMNS[JOB], side: 'right', width: 95 };
/** For a table without room for it. Rows remain separate by job, and links pass it on. */
export const HIDDEN_JOB: Key = { ...JOB_KEY, hidden: true };
/** Of a table with a row for each tool of an agent. */
export const TOOL_KEYS: readonly Key[] = [
  { label: label(ATTR.agent), title: 'Agent', side: 'left' },
  {
    label: label(ATTR.tool),
    title: 'Tool',
    side: 'left',
    links: [fromRow(UID.toolDetail, 'Tool detail', AGENT_TOOL_COLUMNS)],
  },
  HIDDEN_JOB,
];

/** Without the buttons that Grafana draws over a cell to filter by it: they would cover its link. Not an option of all fields, because the
 * data source sets it for each label. */
export const NO_FILTER_BUTTONS = [{ id: 'filterable', value: false }];

type Property = { id: string; value: unknown };

const COLOURED_CELL = { id: 'custom.cellOptions', value: { type: 'color-background', mode: 'basic' } };

const shape = ({ width, absent, links }: Pick<Column, 'width' | 'absent' | 'links'>): Property[] => [
  ...(width === undefined ? [] : [{ id: 'custom.width', value: width }]),
  ...(absent === undefined ? [] : [{ id: 'noValue', value: absent }]),
  ...(links === undefined ? [] : [{ id: 'links', value: links }]),
];

const keyProperties = ({ prefix, hidden, ...rest }: Key): Property[] => [
  ...shape(rest),
  // Grafana 12 moved the setting `hidden`.
  ...(hidden === undefined
    ? []
    : [
        { id: 'custom.hidden', value: true },
        { id: 'custom.hideFrom', value: { viz: true } },
      ]),
  ...(prefix === undefined
    ? []
    : [
        {
          id: 'mappings',
          value: [
            { type: MappingType.RegexToText, options: { pattern: `${prefix}(.+)`, result: { text: '$1', index: 0 } } },
          ],
        },
      ]),
];

const properties = ({ unit, decimals, alarm, zero, states, gauge, bar = gauge, ...rest }: Column): Property[] => [
  ...shape(rest),
  ...(unit === undefined ? [] : [{ id: 'unit', value: unit }]),
  ...(decimals === undefined ? [] : [{ id: 'decimals', value: decimals }]),
  ...(states === undefined
    ? []
    : [
        { id: 'mappings', value: [stateMapping(states)] },
        { id: 'custom.align', value: FieldTextAlignment.Center },
        COLOURED_CELL,
      ]),
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
        COLOURED_CELL,
      ]),
  ...(gauge === undefined ? [] : [{ id: 'max', value: 1 }]),
  ...(bar === undefined
    ? []
    : [
        { id: 'min', value: 0 },
        { id: 'color', value: { mode: FieldColorModeId.Fixed, fixedColor: bar } },
        { id: 'custom.cellOptions', value: { type: 'gauge', mode: 'basic', valueDisplayMode: 'text' } },
      ]),
  ...(zero === undefined
    ? []
    : [{ id: 'mappings', value: [{ type: MappingType.ValueToText, options: { 0: { text: zero, index: 0 } } }] }]),
];

/**
 * A table of current values: each query fills one column, and rows with the same labels are merged. The labels that all queries keep
 * identify the row.
 */
export const table = (face: Face, keys: readonly Key[], columns: readonly Column[], sortBy: string): TableBuilder => {
  // With only one query, Grafana does not name the value after its query.
  const valueName = (index: number): string => (columns.length === 1 ? 'Value' : `Value #${refIdOf(index)}`);
  const order = [
    ...keys.filter(({ side }) => side === 'left').map(({ label }) => label),
    ...columns.map((_, index) => valueName(index)),
    ...keys.filter(({ side }) => side === 'right').map(({ label }) => label),
  ];
  const panel = faced(new TableBuilder(), face)
    .thresholds(thresholds())
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .align(FieldTextAlignment.Auto)
    .filterable(false)
    .overrideByFieldType('string', NO_FILTER_BUTTONS)
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
          ...columns.map(({ title }, index) => [valueName(index), title]),
        ]),
      },
    })
    .withTransformation({ id: 'sortBy', options: { fields: {}, sort: [{ field: sortBy, desc: true }] } });
  return [
    ...keys.map((key) => ({ title: key.title, set: keyProperties(key) })),
    ...columns.map((column) => ({ title: column.title, set: properties(column) })),
  ]
    .filter(({ set }) => set.length > 0)
    .reduce((built, { title, set }) => built.overrideByName(title, set), panel);
};
