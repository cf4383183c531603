import { defineConfig } from 'vitest/config';

const conditions = ['breakerbox-source'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['packages/*/src/**/*.test.ts', '{dashboards,alerts,stack,test}/**/*.test.ts'],
    // Tests that start servers share two cores in CI.
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
