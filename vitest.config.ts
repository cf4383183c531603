import { configDefaults, defineConfig } from 'vitest/config';

const conditions = ['breakerbox-source'];
const resolve = { resolve: { conditions }, ssr: { resolve: { conditions, externalConditions: conditions } } };

export default defineConfig({
  test: {
    projects: [
      {
        ...resolve,
        test: {
          name: 'parts',
          include: [
            'packages/*/src/**/*.test.ts',
            '{dashboards,alerts,stack,docs,examples,bench,test/frameworks,test/hostile,test/hostile-telemetry,test/secrets}/**/*.test.ts',
          ],
          // Tests that start servers share two cores in CI.
          testTimeout: 30_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 0 },
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
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
