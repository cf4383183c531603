import { DURATION_BUCKETS, METRIC, SCOPE_NAME } from '@breakerbox/core';
import { type Meter, metrics } from '@opentelemetry/api';

/** Core binds instruments of the contract's names itself; another version of the scope keeps a test's apart from them. */
export const testMeter = (): Meter => metrics.getMeter(SCOPE_NAME, 'test');

/** Records one measurement of every metric of the contract, by OpenTelemetry's API alone. */
export function recordContract(): void {
  const meter = testMeter();
  for (const { name, unit, kind, description, attributes } of Object.values(METRIC)) {
    const options = { unit, description };
    const labels = Object.fromEntries(attributes.map((key) => [key, 'x']));
    if (kind === 'counter') meter.createCounter(name, options).add(1, labels);
    else if (kind === 'updowncounter') meter.createUpDownCounter(name, options).add(1, labels);
    else if (kind === 'gauge') meter.createGauge(name, options).record(1, labels);
    else {
      const advice = { explicitBucketBoundaries: [...DURATION_BUCKETS] };
      meter.createHistogram(name, { ...options, advice }).record(1, labels);
    }
  }
}
