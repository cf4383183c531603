import { SCOPE_NAME } from '@breakerbox/core';
import {
  type CellReader,
  countOf,
  type HistogramSeries,
  type SharedMetric,
  scrapedNumbers,
} from '@breakerbox/core/internal';
import type { Attributes } from '@opentelemetry/api';
import { labelName, PROM_TYPE } from './prom-words.ts';

const escapeText = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const label = (name: string, value: string): string =>
  `${labelName(name)}="${escapeText(value).replaceAll('"', '\\"')}"`;

/** Labels as text, by the attributes of the series. They never change, and they are most of the text of a scrape. */
const written = new WeakMap<Attributes, string>();

const labelsOf = (attributes: Attributes): string => {
  let text = written.get(attributes);
  if (text === undefined) {
    const all = [...Object.entries(attributes), ['otel_scope_name', SCOPE_NAME] as const];
    text = all.map(([name, value]) => label(name, String(value))).join(',');
    written.set(attributes, text);
  }
  return text;
};

const histogramLines = ({ prometheus: name, bounds = [] }: SharedMetric, series: HistogramSeries): string => {
  const labels = labelsOf(series.attributes);
  let lines = `${name}_count{${labels}} ${countOf(series)}\n${name}_sum{${labels}} ${series.sum}\n`;
  let below = 0;
  for (const [bucket, count] of series.counts.entries()) {
    const bound = bounds[bucket] ?? '+Inf';
    below += count;
    lines += `${name}_bucket{${labels},le="${bound}"} ${below}\n`;
  }
  return lines;
};

const seriesLines = (cells: CellReader, metric: SharedMetric): string => {
  const { prometheus } = metric;
  let lines = '';
  for (const { attributes, value } of scrapedNumbers(cells, metric)) {
    lines += `${prometheus}{${labelsOf(attributes)}} ${value}\n`;
  }
  for (const series of cells.histograms(metric)) lines += histogramLines(metric, series);
  return lines;
};

const head = ({ prometheus, description, unit, kind }: SharedMetric): string =>
  `# HELP ${prometheus} ${escapeText(description)}\n# UNIT ${prometheus} ${unit}\n# TYPE ${prometheus} ${PROM_TYPE[kind]}\n`;

/**
 * Breakerbox's metrics in the text that OpenTelemetry's serializer would write, in a tenth of its time. With 200 tools of
 * 5 agents the serializer blocks the process for a second, and no tool call can run during that second.
 */
export const exposeCells = (cells: CellReader): string => {
  cells.retireIdle();
  return cells
    .metrics()
    .map((metric) => {
      const lines = seriesLines(cells, metric);
      return lines === '' ? '' : head(metric) + lines;
    })
    .join('');
};
