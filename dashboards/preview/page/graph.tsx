import { colorManipulator, type GrafanaTheme2 } from '@grafana/data';
import { LegendDisplayMode, type VizLegendOptions } from '@grafana/schema';
import { TimeSeries, type UPlotConfigBuilder } from '@grafana/ui';
import { type JSX, useLayoutEffect } from 'react';
import type uPlot from 'uplot';
import type { Mark } from '../src/scene.ts';
import { optionsOf, type VizProps } from './kinds.ts';

const NO_LEGEND: VizLegendOptions = {
  showLegend: false,
  displayMode: LegendDisplayMode.List,
  placement: 'bottom',
  calcs: [],
};

/** Half of the marker's width. */
const MARKER = 5;

const drawMark = (plot: uPlot, { fromMs, toMs, color }: Mark, theme: GrafanaTheme2): void => {
  const { ctx, bbox } = plot;
  const within = (ms: number): number =>
    Math.min(Math.max(plot.valToPos(ms, 'x', true), bbox.left), bbox.left + bbox.width);
  const [from, to] = [within(fromMs), within(toMs)];
  const stroke = theme.visualization.getColorByName(color);
  const bottom = bbox.top + bbox.height;
  ctx.save();
  ctx.fillStyle = colorManipulator.alpha(stroke, 0.1);
  ctx.fillRect(from, bbox.top, to - from, bbox.height);
  ctx.strokeStyle = stroke;
  ctx.fillStyle = stroke;
  ctx.lineWidth = 2 * devicePixelRatio;
  ctx.setLineDash([5, 5]);
  ctx.beginPath();
  for (const x of fromMs === toMs ? [from] : [from, to]) {
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bottom);
  }
  ctx.stroke();
  if (fromMs === toMs) {
    ctx.beginPath();
    ctx.moveTo(from - MARKER, bottom + MARKER);
    ctx.lineTo(from + MARKER, bottom + MARKER);
    ctx.lineTo(from, bottom);
    ctx.fill();
  } else ctx.fillRect(from, bottom, to - from, MARKER);
  ctx.restore();
};

interface MarksProps {
  readonly builder: UPlotConfigBuilder;
  readonly marks: readonly Mark[];
  readonly theme: GrafanaTheme2;
}

/** Annotations. Grafana's app draws them with its own plugin, which no library contains. */
const Marks = ({ builder, marks, theme }: MarksProps): null => {
  // Before the plot is created around it, as Grafana's plugins do.
  useLayoutEffect(() => {
    builder.addHook('draw', (plot) => {
      for (const mark of marks) drawMark(plot, mark, theme);
    });
  }, [builder, marks, theme]);
  return null;
};

/** Lines, areas and bars over time. */
export const GraphView = ({ panel, frames, width, height, timeRange, theme, marks }: VizProps): JSX.Element => {
  const { legend = NO_LEGEND } = optionsOf<{ legend: VizLegendOptions }>(panel);
  return (
    <TimeSeries frames={frames} width={width} height={height} timeRange={timeRange} timeZone="browser" legend={legend}>
      {(builder) => <Marks builder={builder} marks={marks} theme={theme} />}
    </TimeSeries>
  );
};
