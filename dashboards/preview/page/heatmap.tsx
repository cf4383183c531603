import { colorManipulator, formattedValueToString, getValueFormat } from '@grafana/data';
import type { JSX } from 'react';
import { type HeatColor, paletteOf, shade } from './heat.ts';
import { optionsOf, type VizProps } from './kinds.ts';
import { FONT, TimeGrid } from './time-grid.tsx';

interface HeatmapOptions {
  readonly color: Partial<HeatColor>;
  readonly yAxis: { readonly unit?: string; readonly decimals?: number };
  readonly cellGap: number;
  readonly cellValues: { readonly unit?: string };
  readonly filterValues: { readonly le?: number };
  readonly legend: { readonly show: boolean };
}

/** A share below this counts as zero. */
const HIDDEN = 1e-9;
const LEGEND = 36;
const BAR = { width: 240, height: 8 } as const;

/** Buckets over time. @grafana/ui has no heatmap, so the preview draws it plainly, with Grafana's colours. */
export const HeatmapView = ({ panel, frames, width, height, timeRange, theme, marks }: VizProps): JSX.Element => {
  const { color = {}, yAxis = {}, cellGap = 1, filterValues, legend, cellValues } = optionsOf<HeatmapOptions>(panel);
  const frame = frames[0];
  const times: readonly number[] = frame?.fields[0]?.values ?? [];
  const step = frame?.fields[0]?.config.interval ?? 0;
  const buckets = frame?.fields.slice(1) ?? [];
  const above = filterValues?.le ?? HIDDEN;
  const shown = buckets.flatMap(({ values }) => values).filter((value) => value !== null && value > above) as number[];
  const min = color.min ?? Math.min(...shown, Number.POSITIVE_INFINITY);
  const max = color.max ?? Math.max(...shown, 0);
  const palette = paletteOf(color, (name, opacity) =>
    colorManipulator.alpha(theme.visualization.getColorByName(name), opacity),
  );
  const boundary = (name: string): string =>
    name === '+Inf' || Number.isNaN(Number(name))
      ? name
      : formattedValueToString(getValueFormat(yAxis.unit ?? 'short')(Number(name), yAxis.decimals));
  const amount = (value: number): string => formattedValueToString(getValueFormat(cellValues?.unit ?? 'short')(value));
  // A bucket is named by its upper bound: from bottom to top, with the name at the upper edge.
  const edge = (index: number): number => 1 - (index + 1) / buckets.length;
  const foot = legend?.show === true && shown.length > 0 ? LEGEND : 0;
  return (
    <>
      <TimeGrid
        width={width}
        height={height - foot}
        theme={theme}
        timeRange={timeRange}
        marks={marks}
        labels={buckets.map(({ name }) => boundary(name))}
        place={edge}
        labelGap={FONT}
      >
        {(area) =>
          buckets.flatMap(({ values, name }, bucket) =>
            times.map((at, index) => {
              const value: number | null = values[index];
              if (value === null || value <= above) return null;
              const x = area.x(at - step);
              const slot = area.height / buckets.length;
              return (
                <rect
                  key={`${name}-${at}`}
                  x={x}
                  y={edge(bucket) * area.height}
                  width={Math.max(1, area.x(at) - x - cellGap)}
                  height={Math.max(1, slot - cellGap)}
                  fill={palette[shade(value, min, max, palette.length)]}
                />
              );
            }),
          )
        }
      </TimeGrid>
      {foot > 0 && (
        <div style={{ width: BAR.width, fontSize: FONT, color: theme.colors.text.primary, paddingTop: 6 }}>
          <div style={{ height: BAR.height, background: `linear-gradient(to right, ${palette.join(', ')})` }} />
          <div style={{ display: 'flex', justifyContent: 'space-between' }}>
            <span>{amount(min)}</span>
            <span>{amount(max)}</span>
          </div>
        </div>
      )}
    </>
  );
};
