import { expect, test } from 'vitest';
import { CIRCUIT_MODES, type CircuitMode } from './circuit/circuit.ts';
import { circuitNameOf, countsForGroup, groupNameOf } from './circuit/policy.ts';
import { ERROR_CATEGORIES } from './classify/taxonomy.ts';
import { feeds, keyPassOf, NO_PASSES, type Pass, rejects } from './passes.ts';
import type { TrackedCircuit } from './tracked-circuit.ts';

/** Modes of a tool for which it is so, beside a group in each mode. */
const table = (check: (group: TrackedCircuit, mode: CircuitMode) => boolean) =>
  Object.fromEntries(
    CIRCUIT_MODES.map((mode) => {
      const group = { mode } as TrackedCircuit;
      return [mode, CIRCUIT_MODES.filter((one) => check(group, one))];
    }),
  );

test('C15: a call that no other circuit lets through passes no circuit', () => {
  expect(NO_PASSES).toEqual([]);
});

test('C14: the pass of a key is found beside the pass of a group', () => {
  const group: Pass = { of: 'group', generation: 0, lease: undefined };
  const key: Pass = { of: 'key', key: 'k', generation: 0, lease: undefined };
  expect([keyPassOf([group, key]), keyPassOf([group])]).toEqual([key, undefined]);
});

test("C1, C13: modes of tools that change a group's circuit: observed tools change only observed groups", () => {
  expect(table(feeds)).toEqual({
    automatic: ['automatic'],
    forced_open: [],
    disabled: [],
    observe_only: ['automatic', 'observe_only'],
  });
});

test('C1, C13: modes of tools that a group may reject: an observed group affects only observed tools', () => {
  // What a disabled group says is asked by nothing: its circuit is closed.
  expect(table(rejects)).toMatchObject({
    automatic: CIRCUIT_MODES,
    forced_open: CIRCUIT_MODES,
    observe_only: ['observe_only'],
  });
});

test('C13: categories that a closed group counts', () => {
  expect(ERROR_CATEGORIES.filter(countsForGroup)).toEqual(['network', 'timeout', 'server', 'resource']);
});

test('C13: the circuit of a group has a name that no tool has', () => {
  expect(circuitNameOf('github')).toBe('group:github');
  expect(['group:github', 'group:', 'github', 'my group:x', undefined].map(groupNameOf)).toEqual([
    'github',
    '',
    undefined,
    undefined,
    undefined,
  ]);
});
