import { defineConfig } from 'vitest/config';

const conditions = ['breakerbox-source'];

/** Judges a mutant of the classifier by `all.test.ts`. Tests that make real libraries fail and those that measure time are left out. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: { include: ['mutation/all.test.ts'], testTimeout: 60_000 },
});
