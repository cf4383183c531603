import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const conditions = ['breakerbox-source'];

/** Tests of many random cases, and those that drive a whole session. */
const SLOW = [
  /\/src\/(?!counted-errors|failure-ledgers|passes|probes|tally|view)[\w.-]+$/,
  /\/(?:proof|report|rules|telemetry)\//,
  /property/,
];

/** Vitest begins with the longest, which a mutant that any quick test kills would wait for. */
class QuickestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const cost = ({ moduleId }: TestSpecification) => SLOW.findLastIndex((slow) => slow.test(moduleId));
    return files.sort((a, b) => cost(a) - cost(b));
  }
}

/**
 * The tests that judge a mutant: core's own, by unit and by property. Left out are those that reach none of the mutated
 * files (`classify/`, the README's, `warnings/`, which reads a page of docs), and those that every survivor would wait for: the 10,000 cases against the model, and
 * the exhaustive walk.
 */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['src/**/*.test.ts'],
    // Tests that go through a million parts take their time where each mutant's hits are counted.
    testTimeout: 60_000,
    sequence: { sequencer: QuickestFirst },
    exclude: ['src/classify/**', 'src/{readme,warnings/warnings}.test.ts', 'src/proof/{model,walk}.test.ts'],
  },
});
