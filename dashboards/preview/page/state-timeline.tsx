import { colorManipulator, type DataFrame, type Field, type GrafanaTheme2, getFieldDisplayName } from '@grafana/data';
import { LegendDisplayMode, type VizLegendOptions } from '@grafana/schema';
import { measureText, VizLayout, VizLegend, type VizLegendItem } from '@grafana/ui';
import type { JSX } from 'react';
import { type Band, bandsOf } from './bands.ts';
import { optionsOf, type VizProps } from './kinds.ts';
import { FONT, TimeGrid } from './time-grid.tsx';

interface TimelineOptions {
  readonly rowHeight: number;
  readonly colWidth: number;
  readonly mergeValues: boolean;
  readonly showValue: 'auto' | 'never' | 'always';
  readonly perPage: number;
  readonly legend: VizLegendOptions;
}

interface Line {
  readonly label: string;
  readonly opacity: number;
  readonly bands: readonly Band[];
}

const isDrawn = ({ type }: Field): boolean => type !== 'time' && type !== 'other';

const inTheme =
  (theme: GrafanaTheme2) =>
  (band: Band): Band => {
    const color = theme.visualization.getColorByName(band.display.color ?? theme.colors.text.disabled);
    return { ...band, display: { ...band.display, color } };
  };

const linesOf = (frames: DataFrame[], toMs: number, merge: boolean, theme: GrafanaTheme2): readonly Line[] =>
  frames.flatMap((frame) =>
    frame.fields.filter(isDrawn).map((field) => ({
      label: getFieldDisplayName(field, frame, frames),
      opacity: (Number(field.config.custom?.fillOpacity ?? 70) || 0) / 100,
      bands: bandsOf(frame, field, toMs, merge).map(inTheme(theme)),
    })),
  );

/** One entry for each state that occurred, as in Grafana. */
const legendOf = (lines: readonly Line[]): VizLegendItem[] => {
  const states = new Map<string, string>();
  for (const { display } of lines.flatMap(({ bands }) => bands)) {
    if (display.color !== undefined) states.set(display.text, display.color);
  }
  return [...states].map(([label, color]) => ({ label, color, yAxis: 1 }));
};

/** Bands of colour over time. @grafana/ui has none, so the preview draws them plainly; only the legend is Grafana's. */
const timeline =
  (isHistory: boolean) =>
  ({ panel, frames, width, height, timeRange, theme, marks }: VizProps): JSX.Element => {
    const options = optionsOf<TimelineOptions>(panel);
    const { rowHeight = 0.9, colWidth = 0.9, showValue = 'auto', legend, perPage = 0 } = options;
    const all = linesOf(frames, timeRange.to.valueOf(), !isHistory && options.mergeValues !== false, theme);
    // 0: no pages.
    const lines = all.slice(0, perPage || all.length);
    const items = legendOf(lines);
    const more = all.length - lines.length;
    const shown =
      legend === undefined || !legend.showLegend || legend.displayMode === LegendDisplayMode.Hidden ? null : (
        <VizLayout.Legend placement={legend.placement}>
          <VizLegend placement={legend.placement} displayMode={LegendDisplayMode.List} items={items} readonly />
          {perPage > 0 && (
            <span style={{ color: theme.colors.text.secondary }}>‹ 1 › {more} more on further pages</span>
          )}
        </VizLayout.Legend>
      );
    const place = (index: number): number => (index + 0.5) / lines.length;
    return (
      <VizLayout width={width} height={height} legend={shown}>
        {(inner, tall) => (
          <TimeGrid
            width={inner}
            height={tall}
            theme={theme}
            timeRange={timeRange}
            marks={marks}
            labels={lines.map(({ label }) => label)}
            place={place}
            // As in Grafana, labels without enough room overlap.
            labelGap={0}
          >
            {(area) =>
              lines.flatMap(({ bands, opacity }, index) => {
                const slot = area.height / lines.length;
                const thick = slot * rowHeight;
                return bands.map(({ fromMs, toMs, display }) => {
                  const x = area.x(fromMs);
                  const wide = (area.x(toMs) - x) * (isHistory ? colWidth : 1);
                  const color = display.color ?? theme.colors.text.disabled;
                  const label = `${display.prefix ?? ''}${display.text}${display.suffix ?? ''}`;
                  const fits = measureText(label, FONT).width + 8 < wide && thick > FONT;
                  return (
                    <g key={`${index}-${fromMs}`}>
                      <rect
                        x={x}
                        y={index * slot + (slot - thick) / 2}
                        width={Math.max(wide, 1)}
                        height={thick}
                        fill={colorManipulator.alpha(color, opacity)}
                      />
                      {(showValue === 'always' || (showValue === 'auto' && fits)) && (
                        <text
                          x={x + 4}
                          y={place(index) * area.height + FONT / 3}
                          fontSize={FONT}
                          fill={theme.colors.getContrastText(color)}
                        >
                          {label}
                        </text>
                      )}
                    </g>
                  );
                });
              })
            }
          </TimeGrid>
        )}
      </VizLayout>
    );
  };

export const StateTimelineView = timeline(false);
export const StatusHistoryView = timeline(true);
