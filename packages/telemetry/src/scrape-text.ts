import { SCOPE_NAME } from '@breakerbox/core';
import {
  countOf,
  type ExportedMetric,
  type HistogramSeries,
  type SeriesReader,
  scrapedNumbers,
} from '@breakerbox/core/internal';
import type { Attributes } from '@opentelemetry/api';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import type { ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { producedMetrics } from './metric-producer.ts';
import { scrapedName } from './name-clashes.ts';
import { BreakerboxPrometheusExporter, readForScrape, withSeconds } from './prometheus-exporter.ts';
import { labelName, PROM_TYPE } from './prometheus-format.ts';
import type { Parts } from './scrape-body.ts';

const escapeText = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

/** The names of labels, by attribute. There are few, and each is in thousands of series. */
const names = new Map<string, string>();

const label = (attribute: string, value: string): string => {
  const name = names.get(attribute) ?? labelName(attribute);
  names.set(attribute, name);
  return `${name}="${escapeText(value).replaceAll('"', '\\"')}"`;
};

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

const histogramLines = ({ prometheus: name, bounds = [] }: ExportedMetric, series: HistogramSeries): string => {
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

/** The lines of a metric, one text for each series. */
const seriesLines = function* (reader: SeriesReader, metric: ExportedMetric): Iterable<string> {
  const { prometheus } = metric;
  for (const { attributes, value } of scrapedNumbers(reader, metric)) {
    yield `${prometheus}{${labelsOf(attributes)}} ${value}\n`;
  }
  for (const series of reader.histograms(metric)) yield histogramLines(metric, series);
};

const head = ({ prometheus, description, unit, kind }: ExportedMetric): string =>
  `# HELP ${prometheus} ${escapeText(description)}\n# UNIT ${prometheus} ${unit}\n# TYPE ${prometheus} ${PROM_TYPE[kind]}\n`;

/** Milliseconds of one turn of the event loop. Tool calls run between the turns. */
const TURN_MS = 2;
/** Series between two looks at the clock. */
const LOOK = 16;

/**
 * Breakerbox's metrics in the text that OpenTelemetry's serializer would write, in a tenth of its time and in short turns. With 200
 * tools of 5 agents the serializer blocks the process for a second, and no tool call can run during that second.
 */
const seriesText = async (reader: SeriesReader): Promise<Parts> => {
  reader.retireIdle();
  const parts: Buffer[] = [];
  let part = '';
  let count = 0;
  let turn = performance.now();
  for (const metric of reader.metrics()) {
    let isFirst = true;
    for (const lines of seriesLines(reader, metric)) {
      part += isFirst ? head(metric) + lines : lines;
      isFirst = false;
      count += 1;
      if (count % LOOK !== 0 || performance.now() - turn < TURN_MS) continue;
      parts.push(Buffer.from(part));
      part = '';
      await nextTurn();
      turn = performance.now();
    }
  }
  return part === '' ? parts : [...parts, Buffer.from(part)];
};

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The serializer's text if there are no metrics, with the line end that it lacks. */
const NOTHING = '# no registered metrics\n';

/** Whether others have metrics under our names. OpenTelemetry has one such name, for any application that runs tools. */
const hasOurNames = ({ scopeMetrics }: ResourceMetrics, reader: SeriesReader): boolean => {
  const names = new Set(reader.metrics().map(({ prometheus }) => prometheus));
  return scopeMetrics.some(({ metrics }) => metrics.some((metric) => names.has(scrapedName(metric))));
};

/** The text of the scrape endpoint. */
export interface ScrapeText {
  /** The metric reader to give to the SDK. */
  readonly exporter: BreakerboxPrometheusExporter;
  /** In parts. */
  render(): Promise<Parts>;
}

/** @param reader The source of Breakerbox's own metrics. Undefined if the SDK's instruments record them. */
export function scrapeText(reader: SeriesReader | undefined): ScrapeText {
  const exporter = new BreakerboxPrometheusExporter({ preventServerStart: true });
  const serializer = new PrometheusSerializer();
  const serialized = (metrics: ResourceMetrics): string => serializer.serialize(metrics).replace(/[^\n]$/, '$&\n');
  const withSeries = async (collected: ResourceMetrics, from: SeriesReader): Promise<Parts> => {
    if (hasOurNames(collected, from)) {
      // A name may appear only once in a scrape, with all its series. The serializer merges the two. Ours is first, so its help stays.
      const ours = withSeconds({ ...collected, scopeMetrics: producedMetrics(from) });
      return [
        Buffer.from(serialized({ ...collected, scopeMetrics: [...ours.scopeMetrics, ...collected.scopeMetrics] })),
      ];
    }
    const own = await seriesText(from);
    const rest = serialized(collected);
    return [Buffer.from(own.length > 0 && rest.endsWith(NOTHING) ? rest.slice(0, -NOTHING.length) : rest), ...own];
  };
  const render = async (): Promise<Parts> => {
    const metrics = await readForScrape(exporter);
    return reader === undefined ? [Buffer.from(serialized(metrics))] : withSeries(metrics, reader);
  };
  return { exporter, render };
}
