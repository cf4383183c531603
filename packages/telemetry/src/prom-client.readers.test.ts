/** Who reads the cells has durations kept for it, and exemplars too if it wants them: nobody should longer than it serves them. */
import { openMetricsContentType, Registry, type RegistryContentType } from 'prom-client';
import { expect, test } from 'vitest';
import { registerBreakerboxMetrics } from './prom-client.ts';

const readers = (): { readonly exemplars: boolean }[] => {
  const shared = Reflect.get(globalThis, Symbol.for('@breakerbox/core:telemetry')) as {
    readonly readers: Set<{ readonly exemplars: boolean }>;
  };
  return [...shared.readers];
};

test('exemplars are kept for a registry that can write them, and for no other', () => {
  const registry: Registry<RegistryContentType> = new Registry();
  const off = registerBreakerboxMetrics(registry);
  expect(readers().map(({ exemplars }) => exemplars)).toEqual([false]);
  off();
  registry.setContentType(openMetricsContentType);
  const offAgain = registerBreakerboxMetrics(registry);
  expect(readers().map(({ exemplars }) => exemplars)).toEqual([true]);
  offAgain();
  expect(readers()).toEqual([]);
});

test('who registers anew on a registry that was cleared takes the place of the reader before', () => {
  const registry = new Registry();
  registerBreakerboxMetrics(registry);
  registry.clear();
  const off = registerBreakerboxMetrics(registry);
  expect(readers()).toHaveLength(1);
  off();
  expect(readers()).toEqual([]);
});
