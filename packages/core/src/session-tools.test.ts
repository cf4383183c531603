import { expect, test } from 'vitest';
import { report } from './report/report.ts';
import { createTally, SessionTools } from './session-tools.ts';
import { snapshot } from './snapshot/snapshot.ts';
import { OTHER_TOOL } from './telemetry/semconv.ts';
import { bench } from './test-support.ts';
import type { ToolSpec } from './tool.ts';
import type { TrackedCircuit } from './tracked-circuit.ts';

/** The tools that a session of a box with these has called. */
const toolsOf = (declared: ReadonlyMap<string, ToolSpec>): SessionTools =>
  new SessionTools({ tool: (name) => declared.get(name) });
const spec = (name: string): ToolSpec => ({ name }) as ToolSpec;

test('Q1: a tool has one entry, and the tallies are in the order of the first calls', () => {
  const entries = toolsOf(new Map([['search', spec('search')]]));
  expect(entries.find('search')).toBeUndefined();
  const search = entries.make('search', undefined, undefined);
  const made = entries.make('made_up', undefined, undefined);
  expect([entries.find('search'), entries.find('made_up')]).toEqual([search, made]);
  expect([...entries.tallies().keys()]).toEqual(['search', 'made_up']);
});

test('W2: countless names share one tally, and no tool loses its own tally', () => {
  const entries = toolsOf(new Map([['late', spec('late')]]));
  const own = Array.from({ length: 200 }, (_, index) => entries.make(`tool_${index}`, undefined, undefined));
  expect(new Set(own.map(({ tally }) => tally)).size).toBe(200);
  const other = entries.make('made_up', undefined, undefined);
  expect(entries.find('made_up')).toBeUndefined(); // Nothing is kept of it.
  expect(entries.make('made_up_too', undefined, undefined).tally).toBe(other.tally);
  expect(entries.make('late', undefined, undefined)).toBe(entries.find('late')); // A declared one is found again.
  expect(entries.find('tool_0')).toBe(own[0]);
  expect(entries.tallies().size).toBe(201);
  expect([...entries.tallies().keys()].at(-1)).toBe(OTHER_TOOL);
});

test('W2: a tool with exactly that name shares the tally, whenever it is called', () => {
  const entries = toolsOf(new Map());
  const named = entries.make(OTHER_TOOL, undefined, undefined);
  for (let index = 1; index < 200; index += 1) entries.make(`tool_${index}`, undefined, undefined);
  expect(entries.make('made_up', undefined, undefined).tally).toBe(named.tally);
  expect(entries.tallies().get(OTHER_TOOL)).toMatchObject({ succeeded: createTally().succeeded });
  expect(entries.tallies().size).toBe(200);
});

test('C2: a tool that is declared after its first call gets another entry, and keeps its tally', () => {
  const declared = new Map<string, ToolSpec>();
  const entries = toolsOf(declared);
  const before = entries.make('search', undefined, undefined);
  declared.set('search', spec('search'));
  expect(entries.find('search')).toBeUndefined();
  const after = entries.make('search', undefined, undefined);
  expect(after).toMatchObject({ tool: 'search', spec: spec('search') });
  expect(after.tally).toBe(before.tally);
  expect(before.spec).toBeUndefined();
});

test('C13: a tool that gets a group later also gets another entry, and keeps its tally', () => {
  const search = spec('search');
  const entries = toolsOf(new Map([['search', search]]));
  const before = entries.make('search', undefined, undefined);
  const group = { tool: { name: 'group:g' } } as TrackedCircuit;
  search.group = group.tool;
  expect(entries.find('search')).toBeUndefined();
  const after = entries.make('search', undefined, group);
  expect(entries.find('search')).toBe(after);
  expect(after).toMatchObject({ group, tally: before.tally });
});

test('C2: a call under way when its tool is declared ends as it began: without a circuit', () => {
  const { box, session } = bench();
  const permit = session.acquire('late');
  box.declare('late');
  expect(session.acquire('late').reason).toBe('closed');
  permit.settle({ outcome: 'failure', category: 'network' });
  expect(session.peek('late')).toMatchObject({ state: 'closed', failures: 0 });
  expect(session.view().budget.consumed).toBe(1);
});

test('Q2: names that a model invents are cut, and untyped ones are shown', () => {
  const { session } = bench();
  const book = 'x'.repeat(1_000_000);
  const permit = session.acquire(book);
  expect(permit.tool).toBe(`${'x'.repeat(255)}…`);
  permit.settle({ outcome: 'failure', category: 'network' });
  expect(session.acquire(`${book}y`).tool).toBe(permit.tool);
  expect(report(session).tools.map(({ tool, calls }) => [tool, calls.made])).toEqual([[permit.tool, 2]]);
  expect(JSON.stringify([report(session), snapshot(session), session.view()])).not.toContain('x'.repeat(256));
  expect(session.acquire(5 as never).tool).toBe('5');
  expect(session.acquire({ toString: () => book } as never).tool).toBe('an object');
});
