import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Permit } from './permit.ts';
import {
  controlledHappenings,
  type Happening,
  happen,
  happenings,
  probeCounts,
  type Run,
  runConfig,
  runOf,
  settle,
  sideBySide,
} from './test-support.happenings.ts';
import { bench, succeedOnce } from './test-support.ts';
import type { SessionView } from './view.ts';

describe('whatever happens', { timeout: 60_000 }, () => {
  const everything = (check: (run: Run, all: readonly Happening[], probes: number) => void) =>
    fc.assert(
      fc.property(happenings, probeCounts, (all, probes) => check(runOf(probes), all, probes)),
      { numRuns: 1_000 },
    );

  test('C6: never more than `probes` probes of one half-open circuit are on their way', () => {
    everything((run, all, probes) => {
      // Probes by the generation that let them through: the circuit's, right after.
      const generations = new Map<Permit, number>();
      for (const one of all) {
        const permit = happen(run, one);
        if (permit?.decision !== 'probe') continue;
        const generation = run.session.peek(permit.tool)?.generation ?? -1;
        generations.set(permit, generation);
        const beside = run.underWay.filter(
          (other) => other.tool === permit.tool && generations.get(other) === generation,
        );
        expect(beside.length).toBeLessThanOrEqual(probes);
      }
    });
  });

  test('C5, B3: a skip or a pause changes nothing', () => {
    everything((run, all) => {
      for (const one of all) {
        happen(run, one);
        run.session.acquire('nobody'); // What time has brought is settled by any call, held up or not.
        const before = run.session.view();
        const permit = run.session.acquire('b');
        if (permit.decision === 'call' || permit.decision === 'probe') {
          run.underWay.push(permit);
          continue;
        }
        permit.settle({ outcome: 'failure', category: 'network' });
        // The first look at a tool makes its circuit; apart from that nothing may differ.
        const known = new Set(before.circuits.map(({ tool }) => tool));
        const { circuits, ...after } = run.session.view();
        expect({ ...after, circuits: circuits.filter(({ tool }) => known.has(tool)) }).toEqual(before);
        expect(permit.message).not.toBe('');
      }
    });
  });

  test('B1: what is left is what was granted less what was consumed', () => {
    everything((run, all) => {
      let last = run.session.view().budget;
      for (const one of all) {
        happen(run, one);
        const budget = run.session.view().budget;
        expect(budget.remaining).toBe(Math.max(0, budget.granted - budget.consumed));
        expect(budget.remaining).toBeLessThanOrEqual(budget.limit);
        expect(budget.granted).toBeGreaterThanOrEqual(last.granted);
        expect(budget.consumed).toBeGreaterThanOrEqual(last.consumed);
        last = budget;
      }
    });
  });

  test('S2: while systemic, nothing but a pause is decided', () => {
    everything((run, all) => {
      for (const one of all) {
        const { state } = run.session.view();
        const permit = happen(run, one);
        if (permit && state === 'paused_systemic') expect(permit.reason).toBe('systemic');
      }
    });
  });

  test('a tool that recovers is closed again once nobody holds it up', () => {
    everything((run, all, probes) => {
      for (const one of all) happen(run, one);
      const { session, clock } = run;
      clock.advance(60_000); // Hung probes lose their places.
      session.step();
      session.confirmRecovered();
      session.resume();
      clock.advance(400_000);
      for (let i = 0; i < probes; i += 1) succeedOnce(session, 'a');
      expect(session.peek('a')?.state).toBe('closed');
      expect(succeedOnce(session, 'a')).toBe('call');
    });
  });
});

describe('two that go side by side', { timeout: 60_000 }, () => {
  test('C1: an observed tool says what would have been decided, exactly', () => {
    fc.assert(
      fc.property(happenings, probeCounts, (all, probes) => {
        const bitten = runOf(probes);
        const observed = bench({ ...runConfig(probes), defaults: { probes, mode: 'observe_only' } });
        sideBySide(bitten, { ...observed, underWay: [] }, all, (real, trial) => {
          expect(trial.observed).toBe(real.decision);
          expect(['call', 'probe']).toContain(trial.decision);
        });
        expect(observed.session.view()).toMatchObject({ state: 'active', budget: { remaining: 5, consumed: 0 } });
      }),
      { numRuns: 1_000 },
    );
  });

  test('C1: a trial of one tool changes nothing for the others', () => {
    fc.assert(
      fc.property(happenings, (all) => {
        const tools = { a: {}, b: {} };
        const without = bench({ tools: { ...tools, c: { mode: 'disabled' } } });
        const observed = bench({ tools: { ...tools, c: { mode: 'observe_only' } } });
        sideBySide({ ...without, underWay: [] }, { ...observed, underWay: [] }, all, (one, other) => {
          if (one.tool !== 'c') expect(factsOf(other)).toEqual(factsOf(one));
        });
        // What time has brought is settled by any call: a paused permit of the disabled tool makes none when it is settled.
        for (const { session } of [without, observed]) session.acquire('nobody');
        expect(observed.session.view().budget).toEqual(without.session.view().budget);
      }),
      { numRuns: 1_000 },
    );
  });

  const factsOf = ({ decision, reason, state, observed, caution, message, budgetRemaining }: Permit) => ({
    decision,
    reason,
    state,
    observed,
    caution,
    message,
    budgetRemaining,
  });

  /** A view without the points in time, which differ between clocks. */
  const timeless = ({ systemic, ...view }: SessionView) => ({
    ...view,
    systemic: systemic && {
      ...systemic,
      openings: systemic.openings.map(({ tool, category }) => ({ tool, category })),
    },
  });

  test('C11: a session that was restored elsewhere decides as the one that went on', () => {
    fc.assert(
      fc.property(controlledHappenings, controlledHappenings, probeCounts, (before, after, probes) => {
        const original = runOf(probes);
        for (const one of before) happen(original, one);
        for (const permit of original.underWay) if (permit.decision === 'probe') settle(permit, 'ignored');
        const view = original.session.view();
        const snapshot: unknown = JSON.parse(JSON.stringify(original.session.snapshot()));
        expect(original.session.view()).toEqual(view);

        const elsewhere = bench(runConfig(probes));
        elsewhere.clock.advance(1e9); // Another process: its clock has another origin.
        const restored = { ...elsewhere, session: elsewhere.box.restore(snapshot), underWay: [] };
        expect(timeless(restored.session.view())).toEqual(timeless(view));
        expect(restored.session.snapshot()).toEqual(snapshot);
        sideBySide(original, restored, after, (one, other) => expect(factsOf(other)).toEqual(factsOf(one)));
        expect(timeless(restored.session.view())).toEqual(timeless(original.session.view()));
      }),
      { numRuns: 1_000 },
    );
  });
});
