import type { TableSortByFieldState } from '@grafana/schema';
import { TableCellHeight } from '@grafana/schema';
import { TableNG } from '@grafana/ui/unstable';
import type { JSX } from 'react';
import { optionsOf, type VizProps } from './kinds.ts';

interface TableOptions {
  readonly frameIndex: number;
  readonly showHeader: boolean;
  readonly showTypeIcons: boolean;
  readonly cellHeight: TableCellHeight;
  readonly sortBy: TableSortByFieldState[];
}

/** Rows and columns, with Grafana's own table. */
export const TableView = ({ panel, frames, width, height, timeRange, fieldConfig }: VizProps): JSX.Element => {
  const options = optionsOf<TableOptions>(panel);
  const frame = frames[options.frameIndex ?? 0] ?? frames[0] ?? { fields: [], length: 0 };
  return (
    <TableNG
      data={frame}
      width={width}
      height={height}
      noHeader={options.showHeader === false}
      showTypeIcons={options.showTypeIcons ?? false}
      cellHeight={options.cellHeight ?? TableCellHeight.Sm}
      sortBy={options.sortBy ?? []}
      structureRev={1}
      timeRange={timeRange}
      fieldConfig={fieldConfig}
      // Rows outside of the view are drawn too, as far as they fit into the picture.
      enableVirtualization={false}
      {...(fieldConfig.defaults.noValue !== undefined && { noValue: fieldConfig.defaults.noValue })}
    />
  );
};
