import { describe, expect, test } from 'vitest';
import type { ToolConfig } from '../config/config.ts';
import type { Session } from '../session-api.ts';
import { restore } from '../snapshot/restore.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { bench, failOnce, steps, succeedOnce, trip } from '../test-support.ts';
import { bringDown } from './test-support.rules.ts';

/** The calls that a dead tool gets, if the agent wants it at every so many steps. */
const callsIntoDeadTool = (every: number, ofSteps: number): number => {
  const { session } = bench();
  let calls = 0;
  for (let step = 0; step < ofSteps; step += 1) {
    if (step % every === 0 && failOnce(session, 'a') !== 'skip') calls += 1;
    session.step();
  }
  return calls;
};

/** Probes that fail, each as soon as it is due; returns how many steps each waited. */
const failedProbes = (session: Session, count: number): readonly number[] =>
  Array.from({ length: count }, () => {
    for (let waited = 0; waited < 100; waited += 1) {
      if (failOnce(session, 'a') === 'probe') return waited;
      session.step();
    }
    return Number.NaN;
  });

describe('P1: waits by steps grow while probes fail', () => {
  test.each([
    [1, 60, 10],
    [1, 300, 22],
    [5, 60, 8],
  ])('P1: a dead tool that is wanted at every %i. step of %i gets %i calls', (every, ofSteps, calls) => {
    expect(callsIntoDeadTool(every, ofSteps)).toBe(calls);
  });

  test('P1: closing starts the waits again', () => {
    const { session } = bench();
    trip(session, 'a');
    expect(failedProbes(session, 5)).toEqual([3, 3, 3, 6, 6]);
    steps(session, 12);
    succeedOnce(session, 'a');
    trip(session, 'a');
    expect(failedProbes(session, 4)).toEqual([3, 3, 3, 6]);
  });

  test('P1: a list of waits is used as it is, and its last one repeats', () => {
    const { session } = bench({ tools: { a: { probeAfterSteps: [2, 5] } } });
    trip(session, 'a');
    expect(failedProbes(session, 3)).toEqual([2, 5, 5]);
  });

  test.each<ToolConfig>([{}, { probeAfterSteps: 3 }, { probeAfterSteps: [3, 30] }])(
    'P1, O3: with %j, a wait by steps ends after maxCooldownMs at the latest, but not before a Retry-After',
    (config) => {
      const { session, clock } = bench({ tools: { a: { ...config, maxCooldownMs: 100_000 } } });
      trip(session, 'a');
      steps(session, 3);
      failOnce(session, 'a', 'network', 150_000);
      for (const [ms, decision] of [
        [99_999, 'skip'],
        [50_000, 'skip'],
        [1, 'probe'],
        [99_999, 'skip'],
        [1, 'probe'],
      ] as const) {
        clock.advance(ms);
        if (ms < 50_000) session.step(); // Time alone would not count while steps advance.
        expect([ms, failOnce(session, 'a')]).toEqual([ms, decision]);
      }
    },
  );

  test('P1, P3: after an event, the ladder begins with the first wait, and replaces the others', () => {
    const tools = { a: { probeAfterSteps: [2, 9] }, b: {} };
    const { session } = bench({ tools, systemic: { sameCategory: 2 } });
    bringDown(session);
    session.confirmRecovered();
    expect(failedProbes(session, 3)).toEqual([2, 4, 8]);
  });

  test('P1, C11: a snapshot carries the place among the waits; one without it starts with the first wait', () => {
    const { session, box } = bench();
    trip(session, 'a');
    failedProbes(session, 4);
    const kept = JSON.parse(JSON.stringify(snapshot(session)));
    expect(failedProbes(restore(box, kept), 3)).toEqual([6, 12, 12]);
    delete kept.circuits[0].outage.rung;
    expect(failedProbes(restore(box, kept), 4)).toEqual([3, 3, 3, 6]);
    kept.circuits[0].outage.rung = 1_000; // Written by a box with a longer list.
    expect(failedProbes(restore(box, kept), 1)).toEqual([20]);
  });
});
