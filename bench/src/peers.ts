import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { type CircuitBreakerPolicy, ConsecutiveBreaker, circuitBreaker, handleAll, type IBreaker } from 'cockatiel';
import CircuitBreaker from 'opossum';
import PrometheusMetrics from 'opossum-prometheus';
import type { Registry } from 'prom-client';
import type { Racer } from './race.ts';
import { HOUR_MS, TOOL, tool } from './tool.ts';

/** Three failures in a row, like ours; nothing listens to its events. */
export const cockatielCircuit = (breaker: IBreaker = new ConsecutiveBreaker(3)): CircuitBreakerPolicy =>
  circuitBreaker(handleAll, { halfOpenAfter: HOUR_MS, breaker });

/**
 * One for all circuits instead of a timer for each, as opossum's documentation advises. Its buckets turn between batches. With a timer
 * they would turn once a second, but a loop that never rests keeps that timer from firing.
 */
const buckets = new EventEmitter().setMaxListeners(0);
const turnBuckets = (): void => {
  buckets.emit('rotate');
};

export type Opossum = CircuitBreaker<[number], number>;
type OpossumOptions = ConstructorParameters<typeof CircuitBreaker>[1];

/** opossum's features that no case uses are off: time-outs, percentiles of latencies, snapshots. */
export const opossumCircuit = (action = tool, options: OpossumOptions = {}): Opossum =>
  new CircuitBreaker(action, {
    name: TOOL,
    timeout: false,
    resetTimeout: HOUR_MS,
    enableSnapshots: false,
    rollingPercentilesEnabled: false,
    rotateBucketController: buckets,
    ...options,
  });

/** Its defaults, except for the time-out: with percentiles, snapshots and timers of its own. */
export const opossumByDefault = (action = tool, options: OpossumOptions = {}): Opossum =>
  new CircuitBreaker(action, { name: TOOL, timeout: false, resetTimeout: HOUR_MS, ...options });

/** opossum-prometheus depends on an old prom-client, and its metrics need a registry of that version. */
const oldPromClient = createRequire(createRequire(import.meta.url).resolve('opossum-prometheus'))('prom-client') as {
  Registry: new () => Registry;
};

/** On a registry of its own, without the metrics of the process. Counters and latency summary, which is its default. */
export const opossumMetrics = (circuits: readonly Opossum[] = []): PrometheusMetrics =>
  new PrometheusMetrics({ circuits, registry: new oldPromClient.Registry() });

/** Both peers in a race, given one call of each. */
export const opossumRacers = (plain: Racer['run'], measured: Racer['run']): readonly Racer[] => [
  { id: 'opossum', title: 'opossum', by: 'opossum', run: plain, before: turnBuckets },
  {
    id: 'opossum-prometheus',
    title: 'opossum + opossum-prometheus',
    by: 'opossum-prometheus',
    run: measured,
    before: turnBuckets,
  },
];

/** One call in every way that the benchmark compares. */
interface Ways {
  readonly bare: Racer['run'];
  readonly cockatiel: Racer['run'];
  readonly opossum: Racer['run'];
  /** opossum with metrics. */
  readonly measured: Racer['run'];
  readonly hand: Racer['run'];
  readonly inContext: Racer['run'];
  readonly guarded: Racer['run'];
}

export const callRacers = (ways: Ways): readonly Racer[] => [
  { id: 'bare', title: 'the call alone', by: 'bare', run: ways.bare },
  { id: 'cockatiel', title: 'cockatiel, ConsecutiveBreaker', by: 'cockatiel', run: ways.cockatiel },
  ...opossumRacers(ways.opossum, ways.measured),
  { id: 'hand', title: 'Breakerbox, acquire and settle', by: 'breakerbox', run: ways.hand },
  { id: 'hand-context', title: 'Breakerbox, the same in its context', by: 'breakerbox', run: ways.inContext },
  { id: 'guard', title: 'Breakerbox, guard()', by: 'breakerbox', run: ways.guarded },
];
