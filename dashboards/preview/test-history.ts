// A Prometheus with ten minutes of a fleet's history, made in a second, for tests of the pictures.
import { ATTR, label, METRIC, type MetricDefinition } from '../src/names.ts';
import { type History, startHistory } from './src/history.ts';

export const SCRAPE_MS = 10_000;
export const HISTORY_MS = 600_000;

/** The tools of each agent. */
export const FLEET: Readonly<Record<string, readonly string[]>> = {
  'research-agent': ['web_search', 'get_weather'],
  'ops-agent': ['query_logs', 'web_search'],
};

/** The models of each agent. */
const MODELS = ['model:openai/gpt-5', 'model:anthropic/claude'];

/** Some values of each attribute, including those of faults. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  [ATTR.decision]: ['call', 'skip', 'probe'],
  [ATTR.reason]: ['closed', 'open'],
  [ATTR.outcome]: ['success', 'failure'],
  [ATTR.errorType]: ['network', 'timeout'],
  [ATTR.state]: ['closed', 'open', 'half_open'],
  [ATTR.stateFrom]: ['closed', 'open', 'half_open'],
  [ATTR.stateTo]: ['open', 'half_open', 'closed'],
  [ATTR.sessionState]: ['active', 'paused_budget', 'paused_systemic'],
  [ATTR.route]: ['alternative', 'stale', 'manual', 'defer'],
  [ATTR.degradation]: ['none', 'low'],
  [ATTR.disposition]: ['achievable', 'degraded', 'deferred'],
  [ATTR.freshnessLabel]: ['stale', 'cached'],
  [ATTR.availability]: ['available', 'unavailable'],
  [ATTR.tool]: MODELS, // Where the metric is of the agent.
  [ATTR.position]: ['primary', 'fallback'],
  [ATTR.tokenType]: ['input', 'output'],
  [ATTR.primary]: ['model:anthropic/claude'],
  [ATTR.limit]: ['calls', 'tokens'],
  [ATTR.limitLevel]: ['advised', 'reached'],
  [ATTR.currency]: ['USD'],
};
/** Two processes of each agent. */
const PORTS = [9464, 9465];
const BUCKETS = ['0.01', '0.1', '1', '+Inf'];

type Labels = Readonly<Record<string, string>>;

const combined = (keys: readonly string[]): readonly Labels[] =>
  keys.reduce<readonly Labels[]>(
    (all, key) =>
      all.flatMap((one) => (VALUES[key] ?? []).map((value) => ({ ...one, [key.replaceAll('.', '_')]: value }))),
    [{}],
  );

/** A model has a circuit too, in the metric of tools. */
const namesIn = (metric: MetricDefinition, tools: readonly string[]): readonly string[] =>
  metric === METRIC.circuits ? [...tools, ...MODELS] : tools;

const scoped = (metric: MetricDefinition): readonly Labels[] =>
  Object.entries(FLEET).flatMap(([agent, tools]) =>
    PORTS.flatMap((port) => {
      const own = { job: 'agents', instance: `${agent}:${port}`, [label(ATTR.agent)]: agent };
      return metric.per === 'agent'
        ? [own]
        : namesIn(metric, tools).map((tool) => ({ ...own, [label(ATTR.tool)]: tool }));
    }),
  );

/** Grows at a different rate per series. For states, one at a time is 1: the second at the end, such as open. */
const sampleOf = (metric: MetricDefinition, index: number, states: number, at: number, toMs: number): number => {
  const step = Math.round((HISTORY_MS - (toMs - at)) / SCRAPE_MS);
  if (metric === METRIC.openedTime) return (toMs - 120_000) / 1000;
  if (metric.kind === 'updowncounter') return index % states === (Math.floor(step / 10) + 1) % states ? 1 : 0;
  return step * (1 + (index % 3));
};

const line = (name: string, labels: Labels, value: number, at: number): string =>
  `${name}{${Object.entries(labels)
    .map(([key, text]) => `${key}="${text}"`)
    .join(',')}} ${value} ${at / 1000}`;

const samplesOf = (metric: MetricDefinition, toMs: number): readonly string[] => {
  const own = combined(metric.attributes);
  const all = scoped(metric).flatMap((one) => own.map((more) => ({ ...one, ...more })));
  const times = Array.from({ length: HISTORY_MS / SCRAPE_MS + 1 }, (_, index) => toMs - HISTORY_MS + index * SCRAPE_MS);
  // OpenMetrics needs all samples of a series together.
  return all.flatMap((labels, index) => {
    const at = (name: string, more: Labels, factor: number): readonly string[] =>
      times.map((time) =>
        line(name, { ...labels, ...more }, factor * sampleOf(metric, index, own.length, time, toMs), time),
      );
    if (metric.kind !== 'histogram') return at(metric.prometheus, {}, 1);
    return [
      ...BUCKETS.flatMap((le, bucket) => at(`${metric.prometheus}_bucket`, { le }, bucket + 1)),
      ...at(`${metric.prometheus}_count`, {}, BUCKETS.length),
      ...at(`${metric.prometheus}_sum`, {}, 0.2),
    ];
  });
};

/** The time of the last sample, in Unix milliseconds, and the Prometheus. */
export interface FleetHistory extends History {
  readonly toMs: number;
}

/** Ten minutes of {@link FLEET}. */
export const startFleetHistory = async (): Promise<FleetHistory> => {
  const toMs = Math.floor(Date.now() / SCRAPE_MS) * SCRAPE_MS;
  const samples = Object.values(METRIC).flatMap((metric) => samplesOf(metric, toMs));
  return { ...(await startHistory(samples)), toMs };
};
