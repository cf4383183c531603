import { configDefaults, defineConfig } from 'vitest/config';

const conditions = ['breakerbox-source'];
const resolve = { resolve: { conditions }, ssr: { resolve: { conditions, externalConditions: conditions } } };

export default defineConfig({
  test: {
    globalSetup: 'test/temporary.ts',
    projects: [
      {
        ...resolve,
        test: {
          name: 'parts',
          include: [
            'packages/*/src/**/*.test.ts',
            '{dashboards,alerts,stack,docs,examples,bench,test/frameworks,test/hostile,test/hostile-telemetry,test/secrets}/**/*.test.ts',
          ],
          // Tests that start servers and tools share two cores in CI.
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // From 1: what has no order of its own, which is 0, runs last where there is a single worker.
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...resolve,
        test: {
          name: 'whole',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, 'test/{frameworks,hostile,hostile-telemetry,secrets}/**'],
          // Prometheus, Alertmanager and a fleet of agents in real time: one after the other, with the machine to themselves.
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
