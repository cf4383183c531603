import type { CellReader } from '@breakerbox/core/internal';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import type { ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { exposeCells } from './cell-exposition.ts';
import { producedMetrics } from './metric-producer.ts';
import { BreakerboxPrometheusExporter, withSeconds } from './prometheus-exporter.ts';
import { tell } from './tell.ts';

/** An observable callback that never comes back must not hang the scrape; Prometheus waits 10 s by default. */
const COLLECT_TIMEOUT_MS = 5_000;

/** What the serializer says where there is nothing else, with no end of line. */
const NOTHING = '# no registered metrics';

const SECONDS = /_seconds$/;

/** Somebody else's metrics under our names: one of them is OpenTelemetry's, for anybody who runs tools. */
const hasOurNames = ({ scopeMetrics }: ResourceMetrics, cells: CellReader): boolean => {
  const names = new Set(cells.metrics().map(({ name }) => name));
  return scopeMetrics.some(({ metrics }) =>
    metrics.some(({ descriptor }) => names.has(descriptor.name.replace(SECONDS, ''))),
  );
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
      // A name stands once in a scrape, with all its series: the serializer can put the two together.
      const ours = withSeconds({ ...collected, scopeMetrics: producedMetrics(from) });
      return serializer.serialize({ ...collected, scopeMetrics: [...collected.scopeMetrics, ...ours.scopeMetrics] });
    }
    const own = exposeCells(from);
    const rest = serializer.serialize(collected);
    return own !== '' && rest.endsWith(NOTHING) ? rest.slice(0, -NOTHING.length) + own : rest + own;
  };
  const render = async (): Promise<string> => {
    const { resourceMetrics, errors } = await exporter.collect({ timeoutMillis: COLLECT_TIMEOUT_MS });
    if (errors.length > 0)
      tell('error', 'Breakerbox telemetry: some metrics could not be read for this scrape', ...errors);
    return cells === undefined ? serializer.serialize(resourceMetrics) : withCells(resourceMetrics, cells);
  };
  return { exporter, render };
}
