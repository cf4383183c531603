import type { Family, Labels } from './otlp-translation.ts';

const escapeValue = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

const written = (value: number): string =>
  Number.isFinite(value) || Number.isNaN(value) ? String(value) : value > 0 ? '+Inf' : '-Inf';

const labelled = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeValue(value)}"`)
    .join(',');

/** Prometheus' text format. Families of one name, from several processes, become one. */
export const exposition = (families: readonly Family[]): string => {
  const named = new Map<string, Family[]>();
  for (const family of families) named.set(family.name, [...(named.get(family.name) ?? []), family]);
  return [...named]
    .flatMap(([name, parts]) => [
      `# HELP ${name} ${parts[0]?.help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
      `# TYPE ${name} ${parts[0]?.type}`,
      ...parts.flatMap(({ samples }) =>
        samples.map((sample) => `${sample.name}{${labelled(sample.labels)}} ${written(sample.value)}`),
      ),
    ])
    .map((line) => `${line}\n`)
    .join('');
};

/** The content of a text in Prometheus' format. */
export interface Exposed {
  /** By name. */
  readonly types: Readonly<Record<string, string>>;
  /** By name and sorted labels. */
  readonly series: Readonly<Record<string, number>>;
}

const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:\\.|[^"\\])*)"/g;

/** Reads a text in Prometheus' format, without the labels that `drop` names. */
export const parseExposition = (text: string, drop: (label: string) => boolean = () => false): Exposed => {
  const types: Record<string, string> = {};
  const series: Record<string, number> = {};
  for (const line of text.split('\n')) {
    const [, typed, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (typed !== undefined && type !== undefined) types[typed] = type;
    const [, name, labels = '', value] = line.startsWith('#') ? [] : (SAMPLE.exec(line) ?? []);
    if (name === undefined) continue;
    const kept = [...labels.matchAll(LABEL)].filter(([, label]) => !drop(label ?? '')).map(([pair]) => pair);
    series[`${name}{${kept.sort().join(',')}}`] = Number(value === '+Inf' ? Number.POSITIVE_INFINITY : value);
  }
  return { types, series };
};
