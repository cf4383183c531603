import type { CellReader } from '@breakerbox/core/internal';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import type { ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { exposeCells } from './cell-exposition.ts';
import { producedMetrics } from './metric-producer.ts';
import { scrapedName } from './others-names.ts';
import { BreakerboxPrometheusExporter, readForScrape, withSeconds } from './prometheus-exporter.ts';

/** What the serializer says where there is nothing else, with no end of line. */
const NOTHING = '# no registered metrics';

/** Somebody else's metrics under our names: one of them is OpenTelemetry's, for anybody who runs tools. */
const hasOurNames = ({ scopeMetrics }: ResourceMetrics, cells: CellReader): boolean => {
  const names = new Set(cells.metrics().map(({ prometheus }) => prometheus));
  return scopeMetrics.some(({ metrics }) => metrics.some((metric) => names.has(scrapedName(metric))));
};

/** What the scrape endpoint answers with. */
export interface ScrapeText {
  /** For the SDK, as a reader of it. */
  readonly exporter: BreakerboxPrometheusExporter;
  render(): Promise<string>;
}

/** @param cells Where Breakerbox's own metrics are read; undefined if they are the SDK's to bring. */
export function scrapeText(cells: CellReader | undefined): ScrapeText {
  const exporter = new BreakerboxPrometheusExporter({ preventServerStart: true });
  const serializer = new PrometheusSerializer();
  const withCells = (collected: ResourceMetrics, from: CellReader): string => {
    if (hasOurNames(collected, from)) {
      // A name stands once in a scrape, with all its series: the serializer can put the two together. Ours first, whose help stays.
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
