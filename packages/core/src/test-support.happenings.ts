import fc from 'fast-check';
import { CIRCUIT_MODES, type CircuitMode } from './circuit/circuit.ts';
import type { Permit } from './permit.ts';
import type { Session } from './session-api.ts';
import { bench, type ManualClock } from './test-support.ts';

/** The outcome of a call. */
type How = 'success' | 'network' | 'server' | 'ignored';

/** What may happen to a session, in any order. */
export type Happening =
  | { readonly kind: 'acquire'; readonly tool: string }
  | { readonly kind: 'settle'; readonly which: number; readonly how: How }
  /** A call that settles before anything else happens. */
  | { readonly kind: 'call'; readonly tool: string; readonly how: How }
  | { readonly kind: 'resume' | 'confirm' }
  | { readonly kind: 'step'; readonly count: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'control'; readonly tool: string; readonly mode: CircuitMode };

const tool = fc.constantFrom('a', 'b', 'c');
// Mostly failures of the same kind, because the interesting cases begin with an opening.
const how = fc.constantFrom<How>('network', 'network', 'network', 'network', 'server', 'server', 'success', 'ignored');
const kind = <Kind extends Happening['kind']>(one: Kind) => fc.constant(one);

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: kind('call'), tool, how }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('acquire'), tool }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('settle'), which: fc.nat(20), how }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('step'), count: fc.constantFrom(1, 3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('resume' as const, 'confirm' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('wait'), ms: fc.constantFrom(1, 999, 60_000, 400_000) }) },
);

const control = fc.record({ kind: kind('control'), tool, mode: fc.constantFrom(...CIRCUIT_MODES) });

/** Up to 100 happenings. */
export const happenings = fc.array(happening, { maxLength: 100, size: 'max' });

/** The same, with an operator who controls circuits. */
export const controlledHappenings = fc.array(
  fc.oneof({ weight: 12, arbitrary: happening }, { weight: 1, arbitrary: control }),
  { maxLength: 100, size: 'max' },
);

/** Options of a run. */
export interface Setup {
  /** Number of probes in half-open. */
  readonly probes: number;
  readonly rule: 'window' | 'strict';
  /** Two of the tools are one group (C13). */
  readonly grouped: boolean;
}

export const setups: fc.Arbitrary<Setup> = fc.record({
  probes: fc.integer({ min: 1, max: 3 }),
  rule: fc.constantFrom('window', 'strict'),
  grouped: fc.boolean(),
});

export const settle = (permit: Permit, how: How): void => {
  if (how === 'success') permit.settle({ outcome: 'success' });
  else if (how === 'ignored') permit.settle({ outcome: 'ignored', category: 'cancelled' });
  else permit.settle({ outcome: 'failure', category: how });
};

export interface Run {
  readonly session: Session;
  readonly clock: ManualClock;
  /** Permits that let a call through and have not settled. */
  readonly underWay: Permit[];
}

/** Tools, defaults and budget of a run. */
export const runConfig = ({ probes, rule, grouped }: Setup) => ({
  tools: grouped ? { a: { group: 'g' }, b: { group: 'g' }, c: {} } : { a: {}, b: {}, c: {} },
  defaults: { probes },
  budget: { rule },
});

/** A session of three tools for happenings. */
export const runOf = (setup: Setup): Run => {
  const { session, clock } = bench(runConfig(setup));
  return { session, clock, underWay: [] };
};

/** Runs a happening, and returns the permit that it gave. */
export const happen = ({ session, clock, underWay }: Run, what: Happening): Permit | undefined => {
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
    case 'call': {
      const permit = session.acquire(what.tool);
      settle(permit, what.how);
      return permit;
    }
    case 'step':
      for (let i = 0; i < what.count; i += 1) session.step();
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
    case 'control':
      session.control(what.tool, what.mode);
      return undefined;
  }
};

/** Runs the same for both, call by call. A call that only one of them lets through is settled in both. */
export const sideBySide = (
  left: Run,
  right: Run,
  all: readonly Happening[],
  check: (left: Permit, right: Permit) => void,
): void => {
  const underWay: [Permit, Permit][] = [];
  for (const one of all) {
    if (one.kind === 'acquire' || one.kind === 'call') {
      const pair: [Permit, Permit] = [left.session.acquire(one.tool), right.session.acquire(one.tool)];
      check(...pair);
      if (one.kind === 'acquire') underWay.push(pair);
      else for (const permit of pair) settle(permit, one.how);
    } else if (one.kind === 'settle') {
      const [pair] = underWay.splice(one.which % Math.max(1, underWay.length), 1);
      for (const permit of pair ?? []) settle(permit, one.how);
    } else for (const run of [left, right]) happen(run, one);
  }
};
