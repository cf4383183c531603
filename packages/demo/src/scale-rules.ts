import { parseDuration, prometheusDuration } from './duration.ts';

/** How much faster than in production the demo's time passes. */
export interface Scale {
  /** The factor for durations. With 1/60, a minute takes a second. Above 0. */
  readonly factor: number;
  /** The shortest range in brackets, in milliseconds. In less than two scrapes, functions such as `rate` return nothing. */
  readonly leastRangeMs: number;
}

/** A file of Prometheus rules: the parts that are scaled. Everything else is kept. */
export interface RuleFile {
  readonly groups: readonly RuleGroup[];
}
interface RuleGroup {
  readonly interval?: string;
  readonly rules: readonly Rule[];
}
interface Rule {
  readonly expr: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly for?: string;
  readonly keep_firing_for?: string;
}

/** An Alertmanager route: the parts that are scaled. */
export interface Route {
  readonly group_wait?: string;
  readonly group_interval?: string;
  readonly repeat_interval?: string;
  readonly routes?: readonly Route[];
}

/**
 * A duration of a configuration file in the demo's time.
 *
 * @throws Error if it is not a duration, because this command does not know such a file.
 * @example scaleDuration('5m', 1 / 60) // '5s'
 */
export const scaleDuration = (text: string, factor: number): string => {
  const ms = parseDuration(text);
  if (ms === undefined) {
    throw new Error(`'${text}' is not a Prometheus duration, such as 5m. Fix it in stack/ or alerts/rules/.`);
  }
  return prometheusDuration(ms * factor);
};

/** A query in an annotation. */
const QUERY = /(?<=printf `)[^`]*(?=`)/g;

/** Strings and comments match first, so that nothing in them counts as a range. */
const PROMQL =
  /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`|#[^\n]*|\[\s*([\da-z.]+)\s*(?::\s*([\da-z.]*)\s*)?\]|\b(offset\s+-?)([\da-z.]+)|\b(\d+(?:\.\d+)?) \* 60\b/g;

/**
 * An expression whose ranges, subquery steps, offsets and seconds (`5 * 60`) are in the demo's time.
 *
 * @example scaleExpression('rate(x[5m])', { factor: 1 / 60, leastRangeMs: 2000 }) // 'rate(x[5s])'
 */
export const scaleExpression = (expr: string, { factor, leastRangeMs }: Scale): string => {
  const range = (text: string): string =>
    prometheusDuration(Math.max(leastRangeMs, parseDuration(scaleDuration(text, factor)) ?? 0));
  return expr.replace(PROMQL, (whole, over?: string, step?: string, offset?: string, by?: string, minutes?: string) => {
    if (minutes !== undefined) return scaleMinutes(minutes, factor);
    if (offset !== undefined && by !== undefined) return `${offset}${scaleDuration(by, factor)}`;
    if (over === undefined) return whole;
    if (step === undefined) return `[${range(over)}]`;
    return `[${range(over)}:${step && scaleDuration(step, factor)}]`;
  });
};

/** `5 * 60` as seconds of the demo. */
const scaleMinutes = (minutes: string, factor: number): string =>
  String(Number((Number(minutes) * 60 * factor).toFixed(3)));

const UNITS: Readonly<Record<string, number>> = { second: 1, minute: 60, hour: 3600, day: 86_400 };
const IN_WORDS = /\b(?:(\d+)|(last)|the) (second|minute|hour|day)s?\b/g;

/** `5 minutes` or `the last hour` in the demo's time. */
const scaleWords = (text: string, factor: number): string =>
  text.replace(IN_WORDS, (_, count = '1', last: string | undefined, unit: string) => {
    const seconds = Math.max(1, Math.round(Number(count) * (UNITS[unit] ?? 1) * factor));
    const [number, name] = seconds >= 60 && seconds % 60 === 0 ? [seconds / 60, 'minute'] : [seconds, 'second'];
    return `${last === undefined ? '' : 'last '}${number} ${name}${number === 1 ? '' : 's'}`;
  });

/** Scales the queries in annotations, and the times in their words. */
const scaleAnnotations = (annotations: Rule['annotations'] = {}, scale: Scale): Rule['annotations'] =>
  Object.fromEntries(
    Object.entries(annotations).map(([name, text]) => [
      name,
      scaleWords(text, scale.factor).replace(QUERY, (query) => scaleExpression(query, scale)),
    ]),
  );

/** Rules with scaled waits and ranges. Everything else in the file is kept. */
export const scaleRules = <File extends RuleFile>(file: File, scale: Scale): File => ({
  ...file,
  groups: file.groups.map((group) => ({
    ...scaleKeys(group, ['interval'], scale.factor),
    rules: group.rules.map((rule) => ({
      ...scaleKeys(rule, ['for', 'keep_firing_for'], scale.factor),
      expr: scaleExpression(rule.expr, scale),
      ...(rule.annotations && { annotations: scaleAnnotations(rule.annotations, scale) }),
    })),
  })),
});

/** Alertmanager's waits in the demo's time, in this route and in nested ones. */
export const scaleRoute = <Top extends Route>(route: Top, factor: number): Top => ({
  ...scaleKeys(route, ['group_wait', 'group_interval', 'repeat_interval'], factor),
  ...(route.routes && { routes: route.routes.map((one) => scaleRoute(one, factor)) }),
});

const scaleKeys = <T extends object>(from: T, keys: readonly (keyof T & string)[], factor: number): T => {
  const scaled = keys
    .filter((key) => from[key] !== undefined)
    .map((key) => [key, scaleDuration(String(from[key]), factor)]);
  return { ...from, ...Object.fromEntries(scaled) };
};
