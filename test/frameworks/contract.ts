import { afterEach, describe } from 'vitest';
import { stopTracing } from '../../packages/instrumentation/src/test-support/tracing.ts';
import { calls } from './contract-calls.ts';
import { circuits } from './contract-circuits.ts';
import { groups } from './contract-groups.ts';
import { judging } from './contract-judging.ts';
import { spans } from './contract-spans.ts';
import { suiteOf } from './contract-suite.ts';
import type { Harness } from './harness.ts';

/**
 * The same behaviour in each framework: every adapter runs these in the framework's own agent loop. What the framework has
 * no place for is told by the harness, and shown in the list of tests with its reason.
 */
export const contract = (harness: Harness): void => {
  const suite = suiteOf(harness);

  afterEach(stopTracing);

  describe(harness.framework, () => {
    calls(suite);
    circuits(suite);
    groups(suite);
    judging(suite);
    spans(suite);
  });
};
