import { afterEach, describe } from 'vitest';
import { stopTracing } from '../../packages/instrumentation/src/test-support/tracing.ts';
import { advice } from './contract-advice.ts';
import { calls } from './contract-calls.ts';
import { circuits } from './contract-circuits.ts';
import { groups } from './contract-groups.ts';
import { judging } from './contract-judging.ts';
import { limits } from './contract-limits.ts';
import { spans } from './contract-spans.ts';
import { suiteOf } from './contract-suite.ts';
import type { Harness } from './harness.ts';

/**
 * The same behaviour in each framework: every adapter runs these tests in the framework's own agent loop. The harness names features
 * that the framework lacks, and the list of tests shows them with the reason.
 */
export const contract = (harness: Harness): void => {
  const suite = suiteOf(harness);

  afterEach(stopTracing);

  describe(harness.framework, () => {
    advice(suite);
    calls(suite);
    circuits(suite);
    groups(suite);
    judging(suite);
    limits(suite);
    spans(suite);
  });
};
