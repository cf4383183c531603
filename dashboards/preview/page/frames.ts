import type { DataFrame, Field, FieldType, Labels } from '@grafana/data';
import type { Answer, Series } from '../src/scene.ts';

// Grafana's enum is a string at run time. Written as a string, it keeps this file free of Grafana's code, and its tests fast.
const TIME = 'time' as FieldType.time;
const NUMBER = 'number' as FieldType.number;
const STRING = 'string' as FieldType.string;

/** Grafana's name for a series without a legend of its own. */
const written = ({ __name__ = '', ...labels }: Readonly<Record<string, string>>): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return `${__name__}{${pairs.join(', ')}}`;
};

/** Grafana's name for a series. */
export const legend = (format: string | undefined, metric: Readonly<Record<string, string>>): string =>
  format === undefined || format === '' || format === '__auto'
    ? written(metric)
    : format.replaceAll(/\{\{\s*(.+?)\s*\}\}/g, (_, name: string) => metric[name] ?? '');

const withoutName = ({ __name__, ...labels }: Readonly<Record<string, string>>): Labels => labels;

const time = (values: number[], interval: number): Field => ({
  name: 'Time',
  type: TIME,
  config: { interval },
  values,
});

const seriesFrame = ({ metric, points }: Series, { target, stepMs }: Answer): DataFrame => ({
  refId: target.refId,
  length: points.length,
  fields: [
    time(
      points.map(([at]) => at),
      stepMs,
    ),
    {
      name: 'Value',
      type: NUMBER,
      labels: withoutName(metric),
      config: { displayNameFromDS: legend(target.legendFormat, metric) },
      values: points.map(([, value]) => value),
    },
  ],
});

/** A row per sample and a column per label. With several queries, the value's column is named after its query. */
const tableFrame = ({ target, series, stepMs }: Answer, several: boolean): DataFrame => {
  const rows = series.flatMap(({ metric, points }) => points.map(([at, value]) => ({ metric, at, value })));
  const labels = [...new Set(series.flatMap(({ metric }) => Object.keys(metric)))].sort();
  return {
    refId: target.refId,
    length: rows.length,
    fields: [
      time(
        rows.map(({ at }) => at),
        stepMs,
      ),
      ...labels.map((name) => ({
        name,
        type: STRING,
        config: { filterable: true },
        values: rows.map(({ metric }) => metric[name] ?? ''),
      })),
      {
        name: several ? `Value #${target.refId}` : 'Value',
        type: NUMBER,
        config: {},
        values: rows.map(({ value }) => value),
      },
    ],
  };
};

const bound = ({ metric }: Series): number => Number((metric.le ?? '').replace('Inf', 'Infinity'));

/** Each bucket includes those below it. A heatmap shows only its own observations, so the bucket below is subtracted. */
const heatmapFrame = ({ target, series, stepMs }: Answer): DataFrame => {
  const buckets = [...series].sort((a, b) => bound(a) - bound(b));
  const times = [...new Set(buckets.flatMap(({ points }) => points.map(([at]) => at)))].sort((a, b) => a - b);
  const counted = buckets.map(({ points }) => new Map(points));
  return {
    refId: target.refId,
    length: times.length,
    fields: [
      time(times, stepMs),
      ...buckets.map(({ metric }, index) => ({
        name: metric.le ?? '',
        type: NUMBER,
        labels: withoutName(metric),
        config: {},
        values: times.map((at) => {
          const all = counted[index]?.get(at);
          return all === undefined || all === null ? null : Math.max(0, all - (counted[index - 1]?.get(at) ?? 0));
        }),
      })),
    ],
  };
};

/** Makes frames of Prometheus' answers, as Grafana's data source does. */
export const framesOf = (answers: readonly Answer[]): DataFrame[] => {
  const tables = answers.filter(({ target }) => target.format === 'table').length;
  return answers
    .filter(({ series }) => series.length > 0)
    .flatMap((answer) => {
      if (answer.target.format === 'table') return [tableFrame(answer, tables > 1)];
      if (answer.target.format === 'heatmap') return [heatmapFrame(answer)];
      return answer.series.map((one) => seriesFrame(one, answer));
    });
};
