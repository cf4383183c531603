import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Permit } from './permit.ts';
import { restore } from './snapshot/restore.ts';
import { snapshot as snapshotOf } from './snapshot/snapshot.ts';
import {
  controlledHappenings,
  type Happening,
  happen,
  happenings,
  type Run,
  runConfig,
  runOf,
  type Setup,
  settle,
  setups,
  sideBySide,
} from './test-support.happenings.ts';
import { bench, succeedOnce } from './test-support.ts';
import type { SessionView } from './view.ts';

describe('rules that hold for any run', { timeout: 60_000 }, () => {
  const everything = (check: (run: Run, all: readonly Happening[], setup: Setup) => void) =>
    fc.assert(
      fc.property(happenings, setups, (all, setup) => check(runOf(setup), all, setup)),
      { numRuns: 300 },
    );

  test('C6: a half-open circuit never has more than `probes` probes under way', () => {
    everything((run, all, { probes }) => {
      // Probes by the circuit that they test, and its generation right after.
      const generations = new Map<Permit, string>();
      for (const one of all) {
        const permit = happen(run, one);
        if (permit?.decision !== 'probe') continue;
        const name = permit.reason === 'group_probe_due' ? `group:${permit.group}` : permit.tool;
        const generation = `${name} ${run.session.peek(name)?.generation}`;
        generations.set(permit, generation);
        const beside = run.underWay.filter((other) => generations.get(other) === generation);
        expect(beside.length).toBeLessThanOrEqual(probes);
      }
    });
  });

  test('C5, B3: a skip or a pause changes nothing', () => {
    everything((run, all) => {
      for (const one of all) {
        happen(run, one);
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

  test('B1: the budget left is between 0 and the limit; the consumed budget only grows', () => {
    everything((run, all) => {
      let last = run.session.view().budget;
      for (const one of all) {
        happen(run, one);
        run.session.beginTask(); // What time has brought is settled by any use; readers only foresee it.
        const { budget, state } = run.session.view();
        expect(budget.remaining).toBeGreaterThanOrEqual(0);
        expect(budget.remaining).toBeLessThanOrEqual(budget.limit);
        expect(budget.consumed).toBeGreaterThanOrEqual(last.consumed);
        if (state === 'paused_budget') expect(budget.remaining).toBe(0);
        if (one.kind === 'resume') expect(budget.remaining).toBe(budget.limit);
        last = budget;
      }
    });
  });

  test('S2: during a systemic pause every decision is a pause', () => {
    everything((run, all) => {
      for (const one of all) {
        const { state } = run.session.view();
        const permit = happen(run, one);
        if (permit && state === 'paused_systemic') expect(permit.reason).toBe('systemic');
      }
    });
  });

  test('C6: the circuit of a tool that works again closes again, and so does its group', () => {
    everything((run, all, { probes }) => {
      for (const one of all) happen(run, one);
      const { session, clock } = run;
      clock.advance(60_000); // Hung probes lose their slots.
      session.step();
      session.confirmRecovered();
      session.resume();
      clock.advance(400_000);
      for (let i = 0; i < probes; i += 1) succeedOnce(session, 'a');
      expect([session.peek('a')?.state, session.peek('group:g')?.state ?? 'closed']).toEqual(['closed', 'closed']);
      expect(succeedOnce(session, 'a')).toBe('call');
    });
  });
});

describe('two sessions side by side', { timeout: 60_000 }, () => {
  test('C1: an observed tool reports exactly the decision that would have been made', () => {
    fc.assert(
      fc.property(happenings, setups, (all, setup) => {
        const automatic = runOf(setup);
        const defaults = { probes: setup.probes, mode: 'observe_only' } as const;
        const observed = bench({ ...runConfig(setup), defaults });
        sideBySide(automatic, { ...observed, underWay: [] }, all, (real, trial) => {
          expect(trial.wouldDecide).toBe(real.decision);
          expect(['call', 'probe']).toContain(trial.decision);
        });
        expect(observed.session.view()).toMatchObject({ state: 'active', budget: { remaining: 5, consumed: 0 } });
      }),
      { numRuns: 300 },
    );
  });

  test('C1: an observed tool changes nothing for the other tools', () => {
    fc.assert(
      fc.property(happenings, setups, (all, setup) => {
        const of = setup.grouped ? { group: 'g' } : {};
        const config = runConfig(setup);
        const without = bench({ ...config, tools: { a: of, b: of, c: { ...of, mode: 'disabled' } } });
        const observed = bench({ ...config, tools: { a: of, b: of, c: { ...of, mode: 'observe_only' } } });
        sideBySide({ ...without, underWay: [] }, { ...observed, underWay: [] }, all, (one, other) => {
          if (one.tool !== 'c') expect(factsOf(other)).toEqual(factsOf(one));
        });
        expect(observed.session.view().budget).toEqual(without.session.view().budget);
      }),
      { numRuns: 300 },
    );
  });

  const factsOf = ({ decision, reason, state, wouldDecide, caution, message, budgetRemaining }: Permit) => ({
    decision,
    reason,
    state,
    wouldDecide,
    caution,
    message,
    budgetRemaining,
  });

  /** A view without the points in time, which differ between clocks. */
  const timeless = ({ systemic, ...view }: SessionView) => ({
    ...view,
    systemic: systemic && {
      ...systemic,
      began: undefined,
      openings: systemic.openings.map(({ tool, category }) => ({ tool, category })),
    },
  });

  test('C11: after the same time, a session restored elsewhere decides like the one that continued', () => {
    const times = fc.constantFrom(0, 999, 60_000, 400_000);
    fc.assert(
      fc.property(controlledHappenings, controlledHappenings, setups, times, (before, after, setup, elapsedMs) => {
        const original = runOf(setup);
        for (const one of before) happen(original, one);
        for (const permit of original.underWay) if (permit.decision === 'probe') settle(permit, 'ignored');
        original.session.beginTask(); // What time has brought is settled by any use; a snapshot only foresees it.
        const view = original.session.view();
        const snapshot: unknown = JSON.parse(JSON.stringify(snapshotOf(original.session)));
        expect(original.session.view()).toEqual(view);
        original.clock.advance(elapsedMs);

        const elsewhere = bench(runConfig(setup));
        elsewhere.clock.advance(1e9); // Another process: its clock has another origin.
        const restored = { ...elsewhere, session: restore(elsewhere.box, snapshot, { elapsedMs }), underWay: [] };
        expect(timeless(restored.session.view())).toEqual(timeless(original.session.view()));
        const { unixMs, ...kept } = snapshotOf(restored.session);
        expect(kept).toEqual({ ...snapshotOf(original.session), unixMs: undefined });
        sideBySide(original, restored, after, (one, other) => expect(factsOf(other)).toEqual(factsOf(one)));
        expect(timeless(restored.session.view())).toEqual(timeless(original.session.view()));
      }),
      { numRuns: 300 },
    );
  });
});
