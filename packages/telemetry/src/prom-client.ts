import { BreakerboxUsageError } from '@breakerbox/core';
import { openSeries, readMetrics } from '@breakerbox/core/internal';
import type { Metric, Registry, RegistryContentType } from 'prom-client';
import { type BridgedMetric, bridgedMetric, isOpenMetrics } from './bridged-metric.ts';

type AnyRegistry = Registry<RegistryContentType>;

/** The property of a registry that holds our metrics and the way to remove them. All copies of this package share it. */
const REGISTERED = Symbol.for('@breakerbox/telemetry:prom-client:1');
interface Registered {
  readonly metrics: readonly BridgedMetric[];
  unregister(): void;
}
type Bridged = AnyRegistry & { [REGISTERED]?: Registered };

const isRegistry = (value: unknown): value is AnyRegistry =>
  typeof (value as Partial<AnyRegistry> | null | undefined)?.registerMetric === 'function';

const metricOf = (registry: AnyRegistry, name: string): unknown => registry.getSingleMetric(name);

const assertFree = (registry: AnyRegistry): void => {
  const taken = readMetrics().filter(({ prometheus }) => metricOf(registry, prometheus) !== undefined);
  if (taken.length > 0) {
    const names = taken.map(({ prometheus }) => prometheus).join(', ');
    throw new BreakerboxUsageError(
      `registerBreakerboxMetrics(): this registry already has other metrics with Breakerbox's names: ${names}. Dashboards and alerts would mix the two, so nothing was registered. Rename those metrics, or give Breakerbox a registry of its own and serve it under another path.`,
    );
  }
};

/**
 * Adds Breakerbox's metrics to a prom-client registry that the application already serves. Names, types and labels are those of
 * `startTelemetry`'s endpoint, so dashboards and alerts work on it unchanged. The registry shows all boxes of the process, made
 * before or after this call, with everything they have counted. Durations are recorded only from this call on. No OpenTelemetry
 * SDK is needed, and you can have one as well. A second call for one registry replaces the first, so that a module that is loaded again
 * can call it again; durations are then counted from the second call on.
 *
 * On an OpenMetrics registry, buckets of the duration histogram and outcomes that are failures have exemplars. They link to the
 * traces of sampled spans. Set the content type before you register.
 *
 * @returns a function that removes the metrics and stops measuring for them. Call it too when you clear or drop the registry.
 * @throws BreakerboxUsageError if the registry has other metrics under the names of Breakerbox's.
 * @example
 * ```ts
 * import { registerBreakerboxMetrics } from '@breakerbox/telemetry/prom-client';
 * import { register } from 'prom-client';
 *
 * registerBreakerboxMetrics(register);
 * ```
 */
export function registerBreakerboxMetrics(registry: AnyRegistry): () => void {
  if (!isRegistry(registry)) {
    throw new BreakerboxUsageError(
      `registerBreakerboxMetrics(): ${registry === null ? 'null' : `this ${typeof registry}`} is not a registry of prom-client. Pass the registry that you serve: \`register\` of prom-client, or a \`new Registry()\`.`,
    );
  }
  const bridged: Bridged = registry;
  bridged[REGISTERED]?.unregister();
  assertFree(registry);
  const reader = openSeries({ insteadOfSdk: false, exemplars: isOpenMetrics(registry) });
  const metrics = reader.metrics().map((metric) => bridgedMetric(metric, reader, registry));
  // prom-client's types only allow its own four classes, but it uses only part of them.
  for (const metric of metrics) registry.registerMetric(metric as unknown as Metric);
  const names = metrics.map(({ name }) => name);
  const registered: Registered = {
    metrics,
    unregister() {
      reader.close();
      for (const [index, name] of names.entries()) {
        if (metricOf(registry, name) === metrics[index]) registry.removeSingleMetric(name);
      }
      if (bridged[REGISTERED] === registered) delete bridged[REGISTERED];
    },
  };
  bridged[REGISTERED] = registered;
  return registered.unregister;
}
