import { PreviewError } from './errors.ts';
import type { Series } from './scene.ts';
import { parseDuration } from './steps.ts';

type Sample = readonly [number, string];
interface Envelope<T> {
  readonly status?: string;
  readonly error?: string;
  readonly data?: T;
}
interface Vector {
  readonly result: readonly {
    readonly metric: Record<string, string>;
    readonly value?: Sample;
    readonly values?: readonly Sample[];
  }[];
}

/** A Prometheus to query. Every method rejects with a PreviewError that contains Prometheus' message. */
export interface Prometheus {
  range(
    expr: string,
    window: { readonly fromMs: number; readonly toMs: number; readonly stepMs: number },
  ): Promise<readonly Series[]>;
  instant(expr: string, atMs: number): Promise<readonly Series[]>;
  labelValues(
    label: string,
    selector: string,
    window: { readonly fromMs: number; readonly toMs: number },
  ): Promise<readonly string[]>;
  /** The longest scrape interval of its targets; undefined without targets. */
  scrapeMs(): Promise<number | undefined>;
}

/** A query over a long history takes time. A longer wait means that something hangs. */
const PATIENCE_MS = 30_000;

const seconds = (ms: number): string => String(ms / 1000);

/**
 * @param url such as `http://127.0.0.1:9090`
 */
export const prometheusAt = (url: string): Prometheus => {
  const get = async <T>(path: string, parameters: Record<string, string>): Promise<T> => {
    const address = `${url.replace(/\/+$/, '')}/api/v1/${path}?${new URLSearchParams(parameters)}`;
    const response = await fetch(address, { signal: AbortSignal.timeout(PATIENCE_MS) }).catch((error: unknown) => {
      throw new PreviewError(
        `no Prometheus answers at ${url} (${error instanceof Error ? error.message : String(error)}). Start it, or pass its address with --prometheus.`,
      );
    });
    const text = await response.text();
    const { data, error } = parsed<T>(text);
    if (data === undefined)
      throw new PreviewError(error ?? `${url} answered ${response.status}: ${text.slice(0, 200)}`);
    return data;
  };
  const series = async (path: string, parameters: Record<string, string>): Promise<readonly Series[]> =>
    (await get<Vector>(path, parameters)).result.map(({ metric, value, values = [] }) => ({
      metric,
      points: (value ? [value] : values).map(([at, text]) => [Math.round(at * 1000), numberOf(text)] as const),
    }));

  return {
    range: (query, { fromMs, toMs, stepMs }) =>
      series('query_range', {
        query,
        // Aligned to the step, as in Grafana, so that the picture does not depend on the second in which it is made.
        start: seconds(Math.floor(fromMs / stepMs) * stepMs),
        end: seconds(Math.floor(toMs / stepMs) * stepMs),
        step: seconds(stepMs),
      }),
    instant: (query, atMs) => series('query', { query, time: seconds(atMs) }),
    labelValues: (label, selector, { fromMs, toMs }) =>
      get(`label/${label}/values`, { 'match[]': selector, start: seconds(fromMs), end: seconds(toMs) }),
    scrapeMs: async () => {
      const { activeTargets } = await get<{ activeTargets: readonly { scrapeInterval: string }[] }>('targets', {
        state: 'active',
      });
      const all = activeTargets.map((target) => parseDuration(target.scrapeInterval) ?? 0).filter((ms) => ms > 0);
      return all.length === 0 ? undefined : Math.max(...all);
    },
  };
};

const parsed = <T>(text: string): Envelope<T> => {
  try {
    return JSON.parse(text) as Envelope<T>;
  } catch {
    return {};
  }
};

/** JSON has no NaN; Grafana draws it as a gap. */
const numberOf = (text: string): number | null => {
  const value = Number(text.replace('Inf', 'Infinity'));
  return Number.isFinite(value) ? value : null;
};
