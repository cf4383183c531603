import { dateTimeFormat, type GrafanaTheme2, type TimeRange } from '@grafana/data';
import { measureText } from '@grafana/ui';
import type { JSX, ReactNode } from 'react';
import type { Mark } from '../src/scene.ts';
import { roomy, timeTicks } from './bands.ts';

export const FONT = 12;
const AXIS = 20;
const LABEL_GAP = 8;
/** Room for a time of day. */
const TICK_WIDTH = 70;
/** Labels take at most this share of the width. */
const MOST = 0.35;

/** The area of a grid's content, in pixels. */
export interface Area {
  readonly left: number;
  readonly width: number;
  readonly height: number;
  /** Horizontal position of a time, kept within the area. */
  x(ms: number): number;
}

interface Props {
  readonly width: number;
  readonly height: number;
  readonly theme: GrafanaTheme2;
  readonly timeRange: TimeRange;
  /** Labels on the left, from top to bottom. */
  readonly labels: readonly string[];
  /** Vertical position of a label, from 0 (top) to 1. */
  readonly place: (index: number) => number;
  /** Leaves out labels nearer than this to the next, in pixels. 0: draws all of them. */
  readonly labelGap: number;
  readonly marks: readonly Mark[];
  readonly children: (area: Area) => ReactNode;
}

const shortened = (text: string, width: number): string => {
  if (measureText(text, FONT).width <= width) return text;
  let short = text;
  while (short.length > 1 && measureText(`${short}…`, FONT).width > width) short = short.slice(0, -1);
  return `${short}…`;
};

/** A plain drawing with time from left to right and labels on the left, in the look of Grafana's graphs. */
export const TimeGrid = ({
  width,
  height,
  theme,
  timeRange,
  labels,
  place,
  labelGap,
  marks,
  children,
}: Props): JSX.Element => {
  const room = Math.min(MOST * width, Math.max(0, ...labels.map((text) => measureText(text, FONT).width)) + 2);
  const from = timeRange.from.valueOf();
  const to = timeRange.to.valueOf();
  const left = room + LABEL_GAP;
  const area: Area = {
    left,
    width: Math.max(1, width - left - LABEL_GAP),
    height: Math.max(1, height - AXIS),
    x: (ms) => left + (Math.min(Math.max(ms, from), to) - from) * (area.width / (to - from)),
  };
  const ticks = timeTicks(from, to, area.width / TICK_WIDTH);
  const format = (ticks[1] ?? 0) - (ticks[0] ?? 0) < 60_000 ? 'HH:mm:ss' : 'HH:mm';
  const baselines = labels.map((_, index) =>
    Math.min(area.height - 1, Math.max(FONT - 2, place(index) * area.height + FONT / 3)),
  );
  const text = { fontSize: FONT, fontFamily: theme.typography.fontFamily, fill: theme.colors.text.primary };
  return (
    <svg
      width={width}
      height={height}
      role="img"
      aria-label="preview drawing"
      style={{ display: 'block', letterSpacing: 'normal' }}
    >
      {ticks.map((at) => (
        <g key={at}>
          <line x1={area.x(at)} x2={area.x(at)} y1={0} y2={area.height} stroke={theme.colors.border.weak} />
          <text x={area.x(at)} y={height - 4} textAnchor="middle" {...text}>
            {dateTimeFormat(at, { format })}
          </text>
        </g>
      ))}
      {roomy(baselines, labelGap).map((index) => (
        <text key={index} x={room} y={baselines[index]} textAnchor="end" {...text}>
          {shortened(labels[index] ?? '', room)}
        </text>
      ))}
      {children(area)}
      {marks.map(({ fromMs, toMs, color, name }) => {
        const fill = theme.visualization.getColorByName(color);
        const [x1, x2] = [area.x(fromMs), area.x(toMs)];
        return (
          <g key={`${name}-${fromMs}-${toMs}`} stroke={fill} strokeWidth={2} strokeDasharray="5">
            <rect x={x1} y={0} width={x2 - x1} height={area.height} fill={fill} fillOpacity={0.1} stroke="none" />
            <line x1={x1} x2={x1} y1={0} y2={area.height} />
            <line x1={x2} x2={x2} y1={0} y2={area.height} />
          </g>
        );
      })}
    </svg>
  );
};
