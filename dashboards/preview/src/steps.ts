const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Grafana's round intervals: below the first number, it uses the second. */
const ROUND: readonly (readonly [number, number])[] = [
  [10, 1],
  [15, 10],
  [35, 20],
  [75, 50],
  [150, 100],
  [350, 200],
  [750, 500],
  [1.5 * SECOND, SECOND],
  [3.5 * SECOND, 2 * SECOND],
  [7.5 * SECOND, 5 * SECOND],
  [12.5 * SECOND, 10 * SECOND],
  [17.5 * SECOND, 15 * SECOND],
  [25 * SECOND, 20 * SECOND],
  [45 * SECOND, 30 * SECOND],
  [1.5 * MINUTE, MINUTE],
  [3.5 * MINUTE, 2 * MINUTE],
  [7.5 * MINUTE, 5 * MINUTE],
  [12.5 * MINUTE, 10 * MINUTE],
  [17.5 * MINUTE, 15 * MINUTE],
  [25 * MINUTE, 20 * MINUTE],
  [45 * MINUTE, 30 * MINUTE],
  [1.5 * HOUR, HOUR],
  [2.5 * HOUR, 2 * HOUR],
  [4.5 * HOUR, 3 * HOUR],
  [9 * HOUR, 6 * HOUR],
  [DAY, 12 * HOUR],
  [7 * DAY, DAY],
];
const LONGEST = 7 * DAY;

/** Prometheus returns at most 11,000 points per series. */
const MOST_POINTS = 11_000;

const UNIT: Readonly<Record<string, number>> = { ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY, w: 7 * DAY };

/** Milliseconds of a duration such as `15s`, `1m30s` or Grafana's `>10s`; undefined for anything else. */
export const parseDuration = (text: string): number | undefined => {
  const parts = /^>?((?:\d+(?:ms|[smhdw]))+)$/.exec(text.trim())?.[1]?.matchAll(/(\d+)(ms|[smhdw])/g);
  return parts && [...parts].reduce((sum, [, amount, unit]) => sum + Number(amount) * (UNIT[unit ?? ''] ?? 0), 0);
};

/** A duration in Prometheus' notation: `90s`, `500ms`. */
export const duration = (ms: number): string => (ms % SECOND === 0 ? `${ms / SECOND}s` : `${ms}ms`);

/** The times of a query, in milliseconds. */
export interface Asking {
  readonly rangeMs: number;
  /** Width of the panel in pixels, or its `maxDataPoints`. */
  readonly points: number;
  /** The scrape interval of the data source. */
  readonly scrapeMs: number;
  /** The shortest interval that the panel or the query sets. */
  readonly leastMs?: number | undefined;
}

/** The step that Grafana would use: a round part of the range, but not shorter than a scrape. */
export const stepMs = ({ rangeMs, points, scrapeMs, leastMs }: Asking): number => {
  const raw = rangeMs / Math.max(1, points);
  const rounded = ROUND.find(([below]) => raw < below)?.[1] ?? LONGEST;
  return Math.max(
    rounded,
    leastMs ?? scrapeMs,
    Math.ceil(rangeMs / MOST_POINTS / SECOND) * (rangeMs > MOST_POINTS * SECOND ? SECOND : 0),
  );
};

/** `$__rate_interval` as Grafana's Prometheus data source calculates it: at least four scrapes. */
export const rateIntervalMs = (step: number, scrapeMs: number): number => Math.max(step + scrapeMs, 4 * scrapeMs);
