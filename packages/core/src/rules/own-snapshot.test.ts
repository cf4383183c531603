import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBreakerbox } from '../breakerbox.ts';
import { BreakerboxConfigError } from '../checks/checks.ts';
import type { BreakerboxConfig } from '../config/config.ts';
import { restore } from '../snapshot/restore.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { manualClock, trip } from '../test-support.ts';

const big = fc.oneof(fc.double({ min: 0, noNaN: true }), fc.maxSafeNat(), fc.nat(100));

test('C11, E6: every configuration is either rejected or gives sessions that can be restored', () => {
  fc.assert(
    fc.property(big, big, big, big, fc.constantFrom(Number.NaN, -5, 0, 1e12), (a, b, c, d, unixMs) => {
      const clock = { ...manualClock(), unixNow: () => unixMs };
      const config: BreakerboxConfig = {
        agent: 'tester',
        tools: { a: { cooldownMs: a, maxCooldownMs: b, maxRetryAfterMs: c } },
        budget: { failures: Math.round(d), tokens: Math.round(c) },
        clock,
      };
      try {
        const box = createBreakerbox(config);
        const session = box.session();
        trip(session, 'a');
        session.acquire('a').settle({ outcome: 'failure', retryAfterMs: c, tokens: c });
        const restored = restore(box, JSON.parse(JSON.stringify(snapshot(session))));
        expect(restored.view().budget).toEqual(session.view().budget);
      } catch (error) {
        if (!(error instanceof BreakerboxConfigError && error.message.includes('configuration'))) throw error;
      }
    }),
    { numRuns: 500 },
  );
});
