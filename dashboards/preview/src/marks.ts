import type { Mark, Series } from './scene.ts';

/** An annotation query, from the dashboard JSON. */
export interface AnnotationJson {
  readonly name: string;
  readonly enable?: boolean;
  readonly builtIn?: number;
  readonly iconColor?: string;
  readonly expr?: string;
  readonly step?: string;
  readonly titleFormat?: string;
  readonly useValueForTime?: boolean | string;
}

/** Grafana evaluates an annotation's query once a minute, unless it sets a step. */
export const ANNOTATION_STEP_MS = 60_000;
/** Grafana requests at most this many points. */
export const ANNOTATION_POINTS = 100;

const filled = (format: string, labels: Readonly<Record<string, string>>): string =>
  format.replaceAll(/\{\{\s*(.+?)\s*\}\}/g, (_, name: string) => labels[name] ?? '');

/** The marks of a query's answer: samples above zero. Samples that follow each other within one step are one mark. */
export const marksOf = (annotation: AnnotationJson, series: readonly Series[], stepMs: number): readonly Mark[] =>
  series.flatMap(({ metric, points }) => {
    const face = {
      name: annotation.name,
      color: annotation.iconColor ?? 'red',
      title: filled(annotation.titleFormat ?? annotation.name, metric),
    };
    const marks: Mark[] = [];
    for (const [at, value] of points) {
      if (value === null || value <= 0) continue;
      const time = isTrue(annotation.useValueForTime) ? Math.floor(value) : at;
      const last = marks.at(-1);
      if (last !== undefined && time - last.toMs <= stepMs)
        marks[marks.length - 1] = { ...last, toMs: Math.max(last.toMs, time) };
      else marks.push({ ...face, fromMs: time, toMs: time });
    }
    return marks;
  });

const isTrue = (value: boolean | string | undefined): boolean => value === true || value === 'on';
