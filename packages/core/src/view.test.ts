import { expect, test } from 'vitest';
import { closedCircuit, fail } from './circuit/circuit.ts';
import { resolvePolicy } from './circuit/policy.ts';
import type { CircuitSpec, ToolSpec } from './tool.ts';
import type { TrackedCircuit } from './tracked-circuit.ts';
import { type CircuitView, viewCircuit } from './view.ts';

const policy = resolvePolicy({ failureThreshold: 2, probeAfterSteps: 3 });
const at = (ms: number, step = 0) => ({ ms, step, stepMs: 0 });
const failure = { category: 'network', durationMs: 5, tokens: 0 } as const;
const first = fail(closedCircuit(), closedCircuit(), failure, policy, at(10));

const box = { tool: () => undefined };

const tracked = (circuit: TrackedCircuit['circuit']): TrackedCircuit => ({
  tool: { name: 'search', policy } as ToolSpec,
  mode: 'automatic',
  circuit,
  openedBy: undefined,
  keys: undefined,
});

test('C11: a closed circuit shows its failures in a row, and no opening', () => {
  expect(viewCircuit(tracked(first), at(50), box)).toEqual({
    tool: 'search',
    group: undefined,
    state: 'closed',
    generation: 0,
    failures: 1,
    failedKeys: 0,
    category: undefined,
    trip: undefined,
    openForMs: undefined,
    nextProbe: undefined,
    openKeys: 0,
  });
});

test('C11: an open circuit shows why it opened, for how long, and when its probe is due', () => {
  const open = fail(first, first, failure, policy, at(20));
  expect(viewCircuit(tracked(open), at(50, 1), box)).toEqual({
    tool: 'search',
    group: undefined,
    state: 'open',
    generation: 1,
    failures: 0,
    failedKeys: 0,
    category: 'network',
    trip: 'consecutive',
    openForMs: 30,
    nextProbe: { steps: 2, ms: 299_970, notBeforeMs: 0 },
    openKeys: 0,
  });
});

test('C13: a tool shows the name of its group, and the circuit of a group has the prefix', () => {
  const group = { name: 'group:github', policy } as CircuitSpec;
  const box = { tool: (name: string) => (name === 'search' ? ({ group } as ToolSpec) : undefined) };
  const of = ({ tool, group }: CircuitView) => [tool, group];
  expect(of(viewCircuit(tracked(first), at(50), box))).toEqual(['search', 'github']);
  expect(of(viewCircuit({ ...tracked(first), tool: group }, at(50), box))).toEqual(['group:github', undefined]);
});
