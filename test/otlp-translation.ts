/**
 * OTLP metrics under the names that OpenTelemetry gives them in Prometheus. With it, tests cover pushed metrics although Prometheus
 * has no OTLP receiver of its own here. It follows the specification (compatibility: Prometheus and OpenMetrics) and Prometheus'
 * default strategy `UnderscoreEscapingWithSuffixes`, which the Collector's exporter shares.
 */

type JsonValue = string | number | boolean | readonly JsonValue[] | { readonly [key: string]: JsonValue };
interface Attribute {
  readonly key: string;
  /** One key, such as `stringValue`. */
  readonly value: Readonly<Record<string, JsonValue>>;
}
interface Point {
  readonly attributes?: readonly Attribute[];
}
interface NumberPoint extends Point {
  readonly asDouble?: number;
  /** 64 bits, so a string in JSON. */
  readonly asInt?: string | number;
}
interface HistogramPoint extends Point {
  readonly count: string | number;
  readonly sum?: number;
  readonly bucketCounts: readonly (string | number)[];
  readonly explicitBounds: readonly number[];
}
interface Temporal {
  /** 2 is cumulative. */
  readonly aggregationTemporality: number;
}
/** A metric of an OTLP request in JSON, with only the kinds that Breakerbox has. */
export interface OtlpMetric {
  readonly name: string;
  readonly description?: string;
  readonly unit?: string;
  readonly gauge?: { readonly dataPoints: readonly NumberPoint[] };
  readonly sum?: Temporal & { readonly isMonotonic: boolean; readonly dataPoints: readonly NumberPoint[] };
  readonly histogram?: Temporal & { readonly dataPoints: readonly HistogramPoint[] };
}
/** The push of one process. */
export interface OtlpResource {
  readonly resource: { readonly attributes?: readonly Attribute[] };
  readonly scopeMetrics: readonly { readonly metrics: readonly OtlpMetric[] }[];
}

export type Labels = Readonly<Record<string, string>>;
export interface Sample {
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
}
/** A metric as Prometheus knows it. */
export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
}

const CUMULATIVE = 2;
/** The units of this test's metrics. A metric with another unit is rejected, because a guessed name would prove nothing. */
const UNITS: Readonly<Record<string, string>> = { s: 'seconds', ms: 'milliseconds', By: 'bytes', '1': '' };

const unitWord = (unit: string): string => {
  // An annotation in braces, such as {call}, is not a unit. A count has no unit.
  const bare = unit.replaceAll(/\{[^}]*\}/g, '');
  const word = bare === '' ? '' : UNITS[bare];
  if (word === undefined) {
    throw new Error(
      `no Prometheus name is known here for the unit "${unit}". Add it to UNITS in test/otlp-translation.ts with its name in the specification.`,
    );
  }
  return word;
};

/** The name of a metric. A name that already has the suffix of its unit or kind gets no second one. */
export const familyName = (name: string, unit: string, type: Family['type']): string => {
  const words = name.split(/[^a-zA-Z0-9:]+/).filter((word) => word !== '');
  const suffix = unitWord(unit);
  if (suffix !== '' && !words.includes(suffix)) words.push(suffix);
  const last = type === 'counter' ? 'total' : type === 'gauge' && unit === '1' ? 'ratio' : undefined;
  const named = last === undefined ? words : [...words.filter((word) => word !== last), last];
  return named.join('_').replace(/^(?=\d)/, '_');
};

const labelName = (key: string): string => key.replaceAll(/[^a-zA-Z0-9]+/g, '_').replace(/^(?=\d)/, 'key_');

const labelsOf = (attributes: readonly Attribute[] = []): Labels =>
  Object.fromEntries(
    attributes.map(({ key, value }) => {
      const [plain] = Object.values(value);
      return [labelName(key), typeof plain === 'object' ? JSON.stringify(plain) : String(plain)];
    }),
  );

const familyOf = (metric: OtlpMetric, target: Labels): Family => {
  const { name, unit = '', description: help = '', gauge, sum, histogram } = metric;
  const temporality = sum?.aggregationTemporality ?? histogram?.aggregationTemporality ?? CUMULATIVE;
  if (temporality !== CUMULATIVE) {
    throw new Error(`${name} is not cumulative, so Prometheus would drop it. Push with cumulative temporality.`);
  }
  const labels = ({ attributes }: Point): Labels => ({ ...target, ...labelsOf(attributes) });
  if (histogram !== undefined) {
    const base = familyName(name, unit, 'histogram');
    const samples = histogram.dataPoints.flatMap((point) => histogramSamples(base, labels(point), point));
    return { name: base, type: 'histogram', help, samples };
  }
  const points = (sum ?? gauge)?.dataPoints;
  if (points === undefined) throw new Error(`${name} is neither a gauge nor a sum nor an explicit histogram.`);
  const type = sum?.isMonotonic === true ? 'counter' : 'gauge';
  const family = familyName(name, unit, type);
  const samples = points.map((point) => ({
    name: family,
    labels: labels(point),
    value: Number(point.asDouble ?? point.asInt),
  }));
  return { name: family, type, help, samples };
};

const histogramSamples = (name: string, labels: Labels, point: HistogramPoint): readonly Sample[] => {
  let below = 0;
  const buckets = point.bucketCounts.map((count, index) => {
    below += Number(count);
    const bound = point.explicitBounds[index];
    const le = bound === undefined ? '+Inf' : String(bound);
    return { name: `${name}_bucket`, labels: { ...labels, le }, value: below };
  });
  const sum = point.sum === undefined ? [] : [{ name: `${name}_sum`, labels, value: point.sum }];
  return [...buckets, ...sum, { name: `${name}_count`, labels, value: Number(point.count) }];
};

/** `job` and `instance`, and the other resource attributes for `target_info`. */
const targetOf = ({ resource }: OtlpResource): { readonly target: Labels; readonly info: Labels } => {
  const {
    service_name: service = '',
    service_namespace: namespace,
    service_instance_id: instance = '',
    ...info
  } = labelsOf(resource.attributes);
  return { target: { job: namespace === undefined ? service : `${namespace}/${service}`, instance }, info };
};

/** Which process pushed this: its job and instance. */
export const sourceOf = (pushed: OtlpResource): string => JSON.stringify(targetOf(pushed).target);

/**
 * The Prometheus metrics of one process's push.
 * @throws Error for a metric that the specification drops, or that this test cannot name
 */
export const translate = (pushed: OtlpResource): readonly Family[] => {
  const { target, info } = targetOf(pushed);
  const targetInfo: Sample = { name: 'target_info', labels: { ...target, ...info }, value: 1 };
  return [
    { name: 'target_info', type: 'gauge', help: 'Target metadata', samples: [targetInfo] },
    ...pushed.scopeMetrics.flatMap(({ metrics }) => metrics.map((metric) => familyOf(metric, target))),
  ];
};
