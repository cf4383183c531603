import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Permit } from './permit.ts';
import type { Session } from './session.ts';
import { bench, type ManualClock, succeedOnce } from './test-support.ts';

/** What may happen to a session, in any order. */
type Happening =
  | { readonly kind: 'acquire'; readonly tool: string }
  | { readonly kind: 'settle'; readonly which: number; readonly how: 'success' | 'network' | 'server' | 'ignored' }
  | { readonly kind: 'step' | 'resume' | 'confirm' }
  | { readonly kind: 'wait'; readonly ms: number };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('acquire' as const), tool: fc.constantFrom('a', 'b', 'c') }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      which: fc.nat(20),
      how: fc.constantFrom(
        'success' as const,
        'network' as const,
        'network' as const,
        'server' as const,
        'ignored' as const,
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('step' as const, 'resume' as const, 'confirm' as const) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1, 999, 60_000, 400_000) }),
  },
);

const settle = (permit: Permit, how: (Happening & { kind: 'settle' })['how']): void => {
  if (how === 'success') permit.settle({ outcome: 'success' });
  else if (how === 'ignored') permit.settle({ outcome: 'ignored', category: 'cancelled' });
  else permit.settle({ outcome: 'failure', category: how });
};

interface Run {
  readonly session: Session;
  readonly clock: ManualClock;
  /** Permits that let a call through and have not settled. */
  readonly underWay: Permit[];
}

const happen = ({ session, clock, underWay }: Run, what: Happening): Permit | undefined => {
  switch (what.kind) {
    case 'acquire': {
      const permit = session.acquire(what.tool);
      if (permit.decision === 'call' || permit.decision === 'probe') underWay.push(permit);
      return permit;
    }
    case 'settle': {
      const [permit] = underWay.splice(what.which % Math.max(1, underWay.length), 1);
      if (permit) settle(permit, what.how);
      return undefined;
    }
    case 'step':
      session.step();
      return undefined;
    case 'resume':
      session.resume();
      return undefined;
    case 'confirm':
      session.confirmRecovered();
      return undefined;
    case 'wait':
      clock.advance(what.ms);
      return undefined;
  }
};

const runOf = (probes: number): Run => {
  const { session, clock } = bench({ tools: { a: {}, b: {}, c: {} }, defaults: { probes } });
  return { session, clock, underWay: [] };
};

describe('whatever happens', () => {
  const everything = (check: (run: Run, happenings: readonly Happening[], probes: number) => void) =>
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 120 }), fc.integer({ min: 1, max: 3 }), (happenings, probes) =>
        check(runOf(probes), happenings, probes),
      ),
      { numRuns: 2_000 },
    );

  test('C6: never more than `probes` probes of one half-open circuit are on their way', () => {
    everything((run, happenings, probes) => {
      // Probes by the generation that let them through: the circuit's, right after.
      const generations = new Map<Permit, number>();
      for (const one of happenings) {
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
    everything((run, happenings) => {
      for (const one of happenings) {
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

  test('B1: what is left is what was granted less what was consumed', () => {
    everything((run, happenings) => {
      let last = run.session.view().budget;
      for (const one of happenings) {
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
    everything((run, happenings) => {
      for (const one of happenings) {
        const { state } = run.session.view();
        const permit = happen(run, one);
        if (permit && state === 'paused_systemic') expect(permit.reason).toBe('systemic');
      }
    });
  });

  test('a tool that recovers is closed again once nobody holds it up', () => {
    everything((run, happenings, probes) => {
      for (const one of happenings) happen(run, one);
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
