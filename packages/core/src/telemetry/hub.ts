import {
  type BatchObservableResult,
  createNoopMeter,
  type Histogram,
  type Meter,
  type MeterProvider,
  metrics,
  type Observable,
} from '@opentelemetry/api';
import type { ErrorCategory } from '../outcome/taxonomy.ts';
import {
  AGENT_READINGS,
  type AgentCells,
  createAgentCells,
  durationAttributes,
  TOOL_READINGS,
  type ToolCells,
} from './metrics.ts';
import { reportThrown, safely } from './safely.ts';
import { DURATION_BUCKETS, METRIC, type MetricDefinition, SCOPE_NAME } from './semconv.ts';

/** A session that counts in the gauges until it ends or idles. */
export interface LiveSession {
  /** Takes the session out of the gauges if it has idled past its limit; true if it did. */
  retireIfIdle(): boolean;
}

interface Binding {
  readonly provider: MeterProvider;
  readonly duration: Histogram;
  /** Whether a real SDK listens. */
  readonly active: boolean;
  unbind(): void;
}

/**
 * Joins the cells of all boxes of the process to whichever meter provider is registered. There is one for the process,
 * because two boxes of one agent share their series, and observables of one name must be read in one place.
 */
const agents = new Map<string, AgentCells>();
const live = new Set<LiveSession>();
let binding: Binding | undefined;

/** Sessions that are looked at for each one that comes: where nobody collects metrics, idle ones leave nevertheless. */
const LOOKED_AT = 2;

/** The cells of an agent; boxes of one agent share them. */
export const agentCells = (agent: string): AgentCells => {
  const cells = agents.get(agent) ?? createAgentCells(agent);
  agents.set(agent, cells);
  return cells;
};

/** Makes a session known, so that it leaves the gauges when it idles. */
export const enlist = (session: LiveSession): void => {
  let looks = LOOKED_AT;
  for (const one of live) {
    if (looks === 0) break;
    looks -= 1;
    live.delete(one);
    if (!one.retireIfIdle()) live.add(one); // To the end of the line: every one has its turn.
  }
  live.add(session);
};

/** Forgets a session that ended. */
export const delist = (session: LiveSession): void => {
  live.delete(session);
};

const sweep = (): void => {
  for (const session of live) if (session.retireIfIdle()) live.delete(session);
};

/**
 * Binds the metrics of all boxes to the OpenTelemetry SDK that is registered now. Every use of a box does so too, for the
 * price of a comparison, since instruments taken from an earlier provider would stay silent for ever: call it only to have
 * the series, zeros and all, before the first decision after an SDK was registered late. `@breakerbox/telemetry` does.
 *
 * @example
 * ```ts
 * sdk.start(); // an SDK of your own, after the boxes were made
 * followProviders();
 * ```
 */
export const followProviders = (): void => {
  const provider = metrics.getMeterProvider();
  if (binding?.provider !== provider) rebind(provider);
};

const rebind = (provider: MeterProvider): void => {
  const old = binding;
  // A provider that throws is not asked again, and nothing is lost: the cells go on counting.
  binding = { provider, active: false, duration: createNoopMeter().createHistogram(''), unbind: () => {} };
  safely('the meter provider', () => old?.unbind());
  safely('the meter provider', () => {
    const meter = provider.getMeter(SCOPE_NAME);
    if (meter !== createNoopMeter()) binding = bind(provider, meter);
  });
};

const bind = (provider: MeterProvider, meter: Meter): Binding => {
  const observable = Object.fromEntries(
    Object.entries(METRIC).map(([key, definition]) => [key, createObservable(meter, definition)]),
  ) as Record<keyof typeof METRIC, Observable>;
  const callback = (result: BatchObservableResult) => observeAll(result, observable);
  const observables = Object.values(observable).filter((one) => one !== undefined);
  meter.addBatchObservableCallback(callback, observables);
  const { name, unit, description } = METRIC.duration;
  return {
    provider,
    active: true,
    duration: meter.createHistogram(name, {
      unit,
      description,
      advice: { explicitBucketBoundaries: [...DURATION_BUCKETS] },
    }),
    unbind: () => meter.removeBatchObservableCallback(callback, observables),
  };
};

const createObservable = (
  meter: Meter,
  { kind, name, unit, description }: MetricDefinition,
): Observable | undefined => {
  const options = { unit, description };
  switch (kind) {
    case 'counter':
      return meter.createObservableCounter(name, options);
    case 'updowncounter':
      return meter.createObservableUpDownCounter(name, options);
    case 'gauge':
      return meter.createObservableGauge(name, options);
    case 'histogram': // Recorded call by call: its buckets can't be observed.
      return undefined;
  }
};

type Keys<T> = (keyof T)[];

const observeAll = (result: BatchObservableResult, observable: Record<keyof typeof METRIC, Observable>): void => {
  sweep();
  for (const agent of agents.values()) {
    for (const key of Object.keys(AGENT_READINGS) as Keys<typeof AGENT_READINGS>) {
      for (const { value, attributes } of AGENT_READINGS[key](agent))
        result.observe(observable[key], value, attributes);
    }
    for (const tool of agent.tools.values()) {
      for (const key of Object.keys(TOOL_READINGS) as Keys<typeof TOOL_READINGS>) {
        for (const { value, attributes } of TOOL_READINGS[key](tool))
          result.observe(observable[key], value, attributes);
      }
    }
  }
};

/** Whether durations are worth measuring. */
export const metricsActive = (): boolean => binding?.active === true;

/** Records how long an executed call took, in seconds. */
export const recordDuration = (cells: ToolCells, category: ErrorCategory | undefined, seconds: number): void => {
  const histogram = binding?.duration;
  if (histogram === undefined) return;
  try {
    histogram.record(seconds, durationAttributes(cells, category));
  } catch (error) {
    reportThrown('the duration histogram', error);
  }
};
