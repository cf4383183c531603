import type { CellReader } from '@breakerbox/core/internal';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import type { ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { exposeCells } from './cell-exposition.ts';
import { producedMetrics } from './metric-producer.ts';
import { scrapedName } from './others-names.ts';
import { BreakerboxPrometheusExporter, readForScrape, withSeconds } from './prometheus-exporter.ts';

/** The serializer's text if there are no metrics. It has no line end. */
const NOTHING = '# no registered metrics';

/** Whether others have metrics under our names. OpenTelemetry has one such name, for any application that runs tools. */
const hasOurNames = ({ scopeMetrics }: ResourceMetrics, cells: CellReader): boolean => {
  const names = new Set(cells.metrics().map(({ prometheus }) => prometheus));
  return scopeMetrics.some(({ metrics }) => metrics.some((metric) => names.has(scrapedName(metric))));
};

/** The text of the scrape endpoint. */
export interface ScrapeText {
  /** The metric reader to give to the SDK. */
  readonly exporter: BreakerboxPrometheusExporter;
  render(): Promise<string>;
}

/** @param cells The source of Breakerbox's own metrics. Undefined if the SDK's instruments record them. */
export function scrapeText(cells: CellReader | undefined): ScrapeText {
  const exporter = new BreakerboxPrometheusExporter({ preventServerStart: true });
  const serializer = new PrometheusSerializer();
  const withCells = (collected: ResourceMetrics, from: CellReader): string => {
    if (hasOurNames(collected, from)) {
      // A name may appear only once in a scrape, with all its series. The serializer merges the two. Ours is first, so its help stays.
      const ours = withSeconds({ ...collected, scopeMetrics: producedMetrics(from) });
      return serializer.serialize({ ...collected, scopeMetrics: [...ours.scopeMetrics, ...collected.scopeMetrics] });
    }
    const own = exposeCells(from);
    const rest = serializer.serialize(collected);
    return own !== '' && rest.endsWith(NOTHING) ? rest.slice(0, -NOTHING.length) + own : rest + own;
  };
  const render = async (): Promise<string> => {
    const metrics = await readForScrape(exporter);
    return cells === undefined ? serializer.serialize(metrics) : withCells(metrics, cells);
  };
  return { exporter, render };
}
