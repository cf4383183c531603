import {
  type Attributes,
  type BatchObservableResult,
  createNoopMeter,
  type Histogram,
  type Meter,
  type MeterProvider,
  metrics,
  type Observable,
  ProxyTracerProvider,
  type Span,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import { reportThrown, safely } from '../safely.ts';
import { warnOnce } from '../warnings/warnings.ts';
import {
  type Binding,
  type ExportedMetric,
  type LiveSession,
  processState,
  readMetrics,
  readNumbers,
  retireIdle,
  updateReaders,
} from './readers.ts';
import { DURATION_BUCKETS, METRIC, OTHER_TOOL, SCHEMA_URL, SCOPE_NAME, SCOPE_VERSION } from './semconv.ts';
import {
  type AgentSeries,
  addDuration,
  createAgentSeries,
  durationSeries,
  keepExemplars,
  type Series,
  type ToolSeries,
} from './series.ts';

export type { LiveSession } from './readers.ts';

/**
 * Connects the series of all boxes of the process to the registered meter provider. There is one connection for the process,
 * because two boxes of one agent share their series, and observables of one name must be read in one place.
 */
const state = processState();

/** The provider that this copy of the API returned last. */
let followed: MeterProvider | undefined;

/** Active sessions that are checked for each new one, so that idle ones leave even if no metrics are collected. */
const LOOKED_AT = 2;

/** Most sessions that are checked at once: idle sessions next to each other leave together. */
const MOST_LOOKED_AT = 100;

/** Most agents with series of their own. The series are kept when their boxes are gone, as counters must be. */
const MOST_AGENTS = 200;

/**
 * The series of an agent; boxes of one agent share them. Beyond the limit, those of `_OTHER`: an id in an agent's name is a
 * mistake.
 */
export const agentSeries = (agent: string): AgentSeries => {
  const { agents } = state;
  const known = agents.get(agent);
  if (known !== undefined) return known;
  const others = agents.get(OTHER_TOOL);
  const isOver = agents.size - (others === undefined ? 0 : 1) >= MOST_AGENTS;
  if (isOver && others !== undefined) return others;
  const label = isOver ? OTHER_TOOL : agent;
  const series = createAgentSeries(label);
  agents.set(label, series);
  if (isOver) {
    warnOnce(
      'BREAKERBOX_TOO_MANY_AGENTS',
      '',
      () =>
        `createBreakerbox() got more than ${MOST_AGENTS} different agent names in this process. Each name adds series to every metric until the process ends, so further names are counted together as '${OTHER_TOOL}'. Use one name per kind of agent, such as 'research-agent'. Put the id of a run in box.session({ id }).`,
    );
  }
  return series;
};

/** Registers a session, so that it leaves the gauges when it goes idle. */
export const enlist = (session: LiveSession): void => {
  lookForIdle();
  state.live.add(session);
};

const lookForIdle = (): void => {
  const { live } = state;
  let inUse = 0;
  for (let looks = 0; looks < MOST_LOOKED_AT && inUse < LOOKED_AT; looks += 1) {
    const { value, done } = state.nextLive.next();
    if (done) state.nextLive = live.values(); // Starts again: each one has its turn.
    if (!done && (safely('a session, or its clock,', () => value.retireIfIdle()) ?? true)) live.delete(value);
    else inUse += 1;
  }
};

export const delist = (session: LiveSession): void => {
  state.live.delete(session);
};

/**
 * Binds the metrics of all boxes to the OpenTelemetry SDK that is registered now. Every use of a box does this too, for the price
 * of a comparison, because instruments from an earlier provider would stay silent for ever. Call it only to export the series,
 * zeros included, before the first decision after an SDK was registered late. `@breakerbox/telemetry` does.
 *
 * @example
 * ```ts
 * sdk.start(); // an SDK of your own, after the boxes were made
 * followProviders();
 * ```
 */
export const followProviders = (): void => {
  const provider = metrics.getMeterProvider();
  if (provider !== followed) rebind(provider);
};

const rebind = (provider: MeterProvider): void => {
  const left = followed;
  followed = provider; // If it throws, it is not asked again. Nothing is lost: counting goes on.
  if (state.binding?.provider === provider) return; // Another copy of this package was here first.
  if (state.binding?.provider === left) unbind();
  safely('the meter provider', () => {
    const meter = provider.getMeter(SCOPE_NAME); // A version would become a label.
    if (meter === createNoopMeter()) return; // Perhaps only this copy of the API has none: another's binding stays.
    unbind();
    state.binding = bind(provider, meter);
  });
  updateReaders(state);
};

const unbind = (): void => {
  const old = state.binding;
  state.binding = undefined;
  safely('the meter provider', () => old?.unbind());
};

const bind = (provider: MeterProvider, meter: Meter): Binding => {
  const observables = new Map<ExportedMetric, Observable>();
  for (const metric of readMetrics()) {
    const observable = createObservable(meter, metric);
    if (observable !== undefined) observables.set(metric, observable);
  }
  const callback = (result: BatchObservableResult): void => {
    if (!state.feedsSdk) return;
    retireIdle();
    for (const [metric, observable] of observables) {
      for (const { value, attributes } of readNumbers(metric)) result.observe(observable, value, attributes);
    }
  };
  const all = [...observables.values()];
  meter.addBatchObservableCallback(callback, all);
  let histogram: Histogram | undefined;
  return {
    provider,
    recordDuration(seconds: number, attributes: Attributes) {
      histogram ??= createHistogram(meter);
      histogram.record(seconds, attributes);
    },
    unbind() {
      meter.removeBatchObservableCallback(callback, all);
    },
  };
};

/** A histogram has none: it is recorded call by call, because buckets can't be observed. */
const OBSERVABLES = {
  counter: 'createObservableCounter',
  updowncounter: 'createObservableUpDownCounter',
  gauge: 'createObservableGauge',
  histogram: undefined,
} as const satisfies Record<ExportedMetric['kind'], keyof Meter | undefined>;

const createObservable = (meter: Meter, { kind, name, unit, description }: ExportedMetric): Observable | undefined => {
  const method = OBSERVABLES[kind];
  return method && meter[method](name, { unit, description });
};

const createHistogram = (meter: Meter): Histogram => {
  const { name, unit, description } = METRIC.duration;
  const advice = { explicitBucketBoundaries: [...DURATION_BUCKETS] };
  return meter.createHistogram(name, { unit, description, advice });
};

/**
 * Records the duration of an executed call, in seconds. If a reader wants exemplars, they are made from `span` and, for a failure,
 * from the outcome's series. The caller has asked whether an SDK or a reader wants it.
 */
export const recordDuration = (
  series: ToolSeries,
  category: ErrorCategory | undefined,
  seconds: number,
  span?: Span,
  failed?: Series,
): void => {
  if (series.level !== 'full' || !(seconds >= 0)) return;
  const measured = durationSeries(series, category);
  if (state.keepsDurations) {
    addDuration(measured, seconds);
    if (span !== undefined && state.keepsExemplars) keepExemplars(state.exemplars, measured, seconds, span, failed);
  }
  if (state.feedsSdk) recordWithSdk(seconds, measured.attributes);
};

const recordWithSdk = (seconds: number, attributes: Attributes): void => {
  try {
    state.binding?.recordDuration(seconds, attributes);
  } catch (error) {
    reportThrown('the duration histogram', error);
  }
};

const NOOP_TRACERS = new ProxyTracerProvider().getDelegate();
let bound: { readonly provider: TracerProvider; readonly tracer: Tracer | undefined } | undefined;

/** The tracer of the SDK that is registered now; undefined without one. */
export const currentTracer = (): Tracer | undefined => {
  const registered = trace.getTracerProvider();
  const provider = registered instanceof ProxyTracerProvider ? registered.getDelegate() : registered;
  if (provider === NOOP_TRACERS) return undefined;
  if (bound?.provider !== provider) {
    const tracer = safely('the tracer provider', () =>
      provider.getTracer(SCOPE_NAME, SCOPE_VERSION, { schemaUrl: SCHEMA_URL }),
    );
    bound = { provider, tracer };
  }
  return bound.tracer;
};

/** Whether an SDK for metrics or traces is registered, or another reader has read the metrics. */
export const hasReader = (): boolean => {
  followProviders();
  return state.binding !== undefined || state.durationsSinceMs > 0 || currentTracer() !== undefined;
};
