import { DEFAULT_SETTINGS, seconds } from '@breakerbox/alerts';
import { grafanaExpr, inlined } from '../../../alerts/src/grafana.ts';
import { RECORDINGS } from '../../../alerts/src/recording.ts';
import { ALERT_DEFINITIONS, resolved } from '../../../alerts/src/rules.ts';
import { RECORDED, type RecordedKey } from '../../src/recorded.ts';
import type { Prometheus } from './prometheus.ts';
import type { Series } from './scene.ts';

interface Window {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

/** It reads a week. */
const TOO_LONG = 'BreakerboxToolSlow';

const written = (name: string, labels: Readonly<Record<string, string>>): string =>
  `${name}{${Object.entries(labels)
    .map(([key, text]) => `${key}="${text}"`)
    .join(',')}}`;

/** The points at which the condition has been true for long enough, each with the time since when. */
const firing = (
  { points }: Series,
  waitMs: number,
  stepMs: number,
): readonly (readonly [at: number, since: number])[] => {
  let since = 0;
  let last = Number.NEGATIVE_INFINITY;
  return points.flatMap(([at]) => {
    if (at - last > stepMs) since = at;
    last = at;
    return at - since >= waitMs ? [[at, since] as const] : [];
  });
};

/**
 * What Prometheus would have written if it had evaluated the alerts, and the rules that panels read, all the time. The expressions are
 * those for Grafana, which need no recorded series.
 * @returns lines of OpenMetrics
 */
export const ruleSamples = async (prometheus: Prometheus, window: Window): Promise<readonly string[]> => {
  const ground = inlined(resolved({ settings: DEFAULT_SETTINGS }));
  const lines: string[] = [];
  const add = (series: string, values: readonly (readonly [number, number])[]): void => {
    for (const [at, value] of values) lines.push(`${series} ${value} ${at / 1000}`);
  };
  for (const alert of ALERT_DEFINITIONS.filter(({ name }) => name !== TOO_LONG)) {
    const wait = alert.keepFiringFor === undefined ? alert.for?.(DEFAULT_SETTINGS) : undefined;
    for (const series of await prometheus.range(grafanaExpr(alert, ground), window)) {
      const found = firing(series, wait === undefined ? 0 : seconds(wait) * 1000, window.stepMs);
      const labels = { alertname: alert.name, severity: alert.severity, ...series.metric };
      add(
        written('ALERTS', { ...labels, alertstate: 'firing' }),
        found.map(([at]) => [at, 1]),
      );
      add(
        written('ALERTS_FOR_STATE', labels),
        found.map(([at, since]) => [at, since / 1000]),
      );
    }
  }
  for (const [key, name] of Object.entries(RECORDED)) {
    const every = RECORDINGS.find((one) => one.key === key)?.every;
    // Growth is what happened since the last evaluation, so each must be there once.
    const stepMs = every === undefined ? window.stepMs : Math.max(window.stepMs, seconds(every) * 1000);
    for (const { metric, points } of await prometheus.range(ground.read.now(key as RecordedKey), {
      ...window,
      stepMs,
    })) {
      add(
        written(name, metric),
        points.flatMap(([at, value]) => (value === null ? [] : [[at, value] as const])),
      );
    }
  }
  return lines;
};
