import { afterAll, describe, expect, test } from 'vitest';
import type { BudgetOptions } from '../budget/budget.ts';
import { DEFAULT_SYSTEMIC } from '../budget/systemic.ts';
import { type CircuitPolicy, resolvePolicy } from '../circuit/policy.ts';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import { type Walked, walk } from './walk.ts';
import { circuitEdges, roundsToClose } from './walk-circuit.ts';
import { circuitStart } from './walk-circuit-state.ts';
import { groupEdges, groupRecovers } from './walk-group.ts';
import { groupStart } from './walk-group-state.ts';
import { keyEdges, keysRecover } from './walk-keys.ts';
import { type How, type Key, keyStart } from './walk-keys-state.ts';
import { type LedgerRules, ledgerEdges, ledgerStart, recovers } from './walk-ledger.ts';

const BASE = { ...resolvePolicy({}), probeLeaseMs: 2 };

/** Waits of a few milliseconds and steps: what comes after them is reached in as many turns. */
const SCHEDULES: Readonly<Record<string, Partial<CircuitPolicy>>> = {
  steps: { schedule: 'steps', probeAfterSteps: [2, 3], cooldownMs: 1, maxCooldownMs: 4 },
  time: { schedule: 'time', cooldownMs: 1, maxCooldownMs: 4 },
  either: { schedule: 'either', probeAfterSteps: [2, 1], cooldownMs: 1, maxCooldownMs: 3 },
  auto: { schedule: 'auto', probeAfterSteps: [2, 3], cooldownMs: 1, maxCooldownMs: 3 },
};

const total = { states: 0, transitions: 0 };
const add = ({ states, transitions }: Walked): void => {
  total.states += states;
  total.transitions += transitions;
};

afterAll(() => {
  process.stdout.write(`walk: ${total.states} states visited by ${total.transitions} transitions\n`);
});

/** Every invariant is asserted on the way; from each state, a tool that has recovered is called again. */
const walkCircuit = (policy: CircuitPolicy, events: boolean): void => {
  const walked = walk(
    circuitStart,
    (state) => circuitEdges(state, policy, events),
    (state) => {
      expect(roundsToClose(state, policy, true), 'rounds to close, stepping').toBeDefined();
      if (policy.schedule === 'steps') return;
      expect(roundsToClose(state, policy, false), 'rounds to close, by time alone').toBeDefined();
    },
  );
  add(walked);
};

describe('proof: every state of a circuit within small bounds', { timeout: 400_000 }, () => {
  for (const [name, schedule] of Object.entries(SCHEDULES)) {
    test.each([
      [1, 1],
      [2, 1],
      [3, 1],
      [1, 2],
      [3, 2],
    ])(`C5 to C9, P1, P2: probing by ${name}, failureThreshold %i, probes %i`, (failureThreshold, probes) => {
      walkCircuit({ ...BASE, ...schedule, failureThreshold, probes }, false);
    });
  }

  test.each([
    ['steps', { probeAfterSteps: [3, 4], cooldownMs: 1, maxCooldownMs: 4 }],
    ['auto', { probeAfterSteps: [2], cooldownMs: 1, maxCooldownMs: 1 }],
  ] as const)('P3: with the ends of systemic events in between, probing by %s', (schedule, waits) => {
    walkCircuit({ ...BASE, ...waits, schedule, failureThreshold: 1, probes: 1 }, true);
  });
});

describe('proof: every state of two circuits and their ledger within small bounds', { timeout: 400_000 }, () => {
  const alike: readonly ErrorCategory[] = ['network'];
  const unlike: readonly ErrorCategory[] = ['network', 'server'];
  const walkLedger = (budget: BudgetOptions, failureThreshold: number, rules: Omit<LedgerRules, 'policy'>) => {
    const policy = { ...BASE, schedule: 'time', failureThreshold, cooldownMs: 1, maxCooldownMs: 1 } as const;
    const walked = walk(
      ledgerStart(budget),
      (state) => ledgerEdges(state, { ...rules, policy }),
      (state) => expect(recovers(state, { ...rules, policy }), 'both tools are called again').toBe(true),
    );
    add(walked);
  };
  const systemic = { ...DEFAULT_SYSTEMIC, windowSteps: 1, windowMs: 1, joinsAll: true };

  test.each([
    [3, 1, alike],
    [3, 2, alike],
    [2, 1, unlike],
  ])(
    'B6, S3: rule strict, a budget of %i, failureThreshold %i: one event costs one',
    (failures, threshold, categories) => {
      walkLedger({ rule: 'strict', failures }, threshold, { systemic, categories });
    },
  );

  test.each([
    [3, 1, alike],
    [3, 2, alike],
    [2, 1, unlike],
  ])(
    'B1, B3, S3: rule window, a budget of %i, failureThreshold %i: one event costs one',
    (failures, threshold, categories) => {
      walkLedger({ failures, windowMs: 2 }, threshold, { systemic, categories });
    },
  );

  test('S1: rule window, with events that failures make while no circuit is open', () => {
    const shared = { ...systemic, sharedFailures: 3, sharedTools: 2 };
    walkLedger({ failures: 3, windowMs: 2 }, 3, { systemic: shared, categories: alike });
  });
});

describe('proof: every state of a group of two tools within small bounds', { timeout: 400_000 }, () => {
  const time = { ...BASE, schedule: 'time', cooldownMs: 1, maxCooldownMs: 2 } as const;
  test.each([
    [2, 2, 1],
    [3, 2, 1],
    [2, 1, 1],
    [2, 2, 2],
  ])(
    'C13, C15: a group with failureThreshold %i, groupThreshold %i, probes %i',
    (failureThreshold, distinctTools, probes) => {
      const group = { ...time, failureThreshold, distinctTools, probes, prefersOthers: true };
      const rules = { group, tool: { ...time, failureThreshold: 2, probes: 1 } };
      const walked = walk(
        groupStart,
        (state) => groupEdges(state, rules),
        (state) => expect(groupRecovers(state, rules), 'both tools are called again').toBe(true),
      );
      add(walked);
    },
  );
});

describe('proof: every state of a tool and its keys within small bounds', { timeout: 400_000 }, () => {
  const time = { ...BASE, schedule: 'time', cooldownMs: 1 } as const;
  const hows: readonly How[] = ['success', 'key fails', 'tool fails', 'ignored'];
  const two: readonly Key[] = ['k', 'l'];
  const three: readonly Key[] = ['k', 'l', 'm'];
  test.each([
    [1, 1, 1, 'two keys', Infinity, two, hows],
    [2, 1, 1, 'two keys', Infinity, two, hows],
    [2, 2, 1, 'two keys', Infinity, two, hows],
    [1, 1, 2, 'two keys', Infinity, two, hows],
    [3, 1, 1, 'two keys, which open the tool', 2, two, hows],
    [
      5,
      2,
      1,
      'three keys, none of them blamed',
      Infinity,
      three,
      ['success', 'tool fails', 'ignored'] as readonly How[],
    ],
  ])(
    'C14, C15: failureThreshold %i, maxCooldownMs %i, probes %i, %s',
    (failureThreshold, maxCooldownMs, probes, _, keysThreshold, keys, ways) => {
      const policy = { ...time, failureThreshold, maxCooldownMs, probes, keysThreshold };
      const rules = { keys, hows: ways, tool: policy, key: policy };
      const walked = walk(
        keyStart,
        (state) => keyEdges(state, rules),
        (state) => expect(keysRecover(state, rules), 'the tool is called again for each key').toBe(true),
      );
      add(walked);
    },
  );
});
