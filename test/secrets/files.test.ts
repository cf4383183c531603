/** Malicious snapshot and capability files: they cause an error of bounded size, or have no effect. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BreakerboxConfigError, createBreakerbox } from '@breakerbox/core';
import { formatReport, report } from '@breakerbox/core/report';
import { parseCapabilities } from '@breakerbox/core/scope';
import { restore, snapshot as snapshotOf } from '@breakerbox/core/snapshot';
import { loadCapabilities, parseCapabilitiesYaml } from '@breakerbox/instrumentation/capabilities';
import { afterEach, describe, expect, test } from 'vitest';

/** Most characters of an error, because a person reads it, and it goes to a log. */
const READABLE = 50_000;

const box = () => createBreakerbox({ agent: 'tester', tools: { a: { failureThreshold: 1 }, b: {} } });

/** As if it came from a file. */
const snapshot = () => {
  const session = box().session({ id: 'kept' });
  for (const tool of ['a', 'b']) session.acquire(tool).settle({ outcome: 'failure', category: 'network' });
  return JSON.parse(JSON.stringify(snapshotOf(session))) as Record<string, never[]> & { ledger: object };
};

const times = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index));

const rejection = async (run: () => unknown): Promise<BreakerboxConfigError> => {
  const error: unknown = await Promise.resolve()
    .then(run)
    .catch((one: unknown) => one);
  expect(error).toBeInstanceOf(BreakerboxConfigError);
  return error as BreakerboxConfigError;
};

const clean = { ...Object.getOwnPropertyDescriptors(Object.prototype) };
afterEach(() => expect(Object.getOwnPropertyDescriptors(Object.prototype)).toEqual(clean));

describe('C11: a hostile snapshot', () => {
  test.each([
    ['invalid entries', (kept: ReturnType<typeof snapshot>) => ({ ...kept, circuits: times(50_000, () => ({})) })],
    ['unknown keys', () => Object.fromEntries(times(50_000, (index) => [`key${index}`, index]))],
    ['one key of a megabyte', (kept) => ({ ...kept, ['k'.repeat(1_000_000)]: 1 })],
    ['a string of a megabyte', (kept) => ({ ...kept, agent: 'a'.repeat(1_000_000) })],
    ['endless nesting', (kept) => ({ ...kept, agent: JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) })],
  ] satisfies [string, (kept: ReturnType<typeof snapshot>) => unknown][])('C11: %s', async (_, change) => {
    const hostile = change(snapshot());
    const { message } = await rejection(() => restore(box(), hostile));
    expect(message.length).toBeLessThan(READABLE);
  });

  /** Counts how often the names of these entries are read. Comparing each pair of entries would take half a million reads. */
  const counted = (entries: readonly object[]) => {
    let reads = 0;
    const watched = entries.map((entry, index) =>
      Object.defineProperty({ ...entry }, 'tool', {
        enumerable: true,
        get: () => {
          reads += 1;
          return `tool ${index}`;
        },
      }),
    );
    return { watched, reads: () => reads };
  };

  test('C11: the cost of checking circuits and openings is linear', () => {
    const kept = snapshot();
    const circuits = counted(times(1_000, () => Object(kept.circuits?.[0])));
    const opening = { category: 'network', at: { step: 0, ageMs: 0 }, unixMs: 0 };
    const openings = counted(times(1_000, () => opening));
    const ledger = { ...kept.ledger, openings: openings.watched };
    restore(box(), { ...kept, circuits: circuits.watched, ledger });
    expect(circuits.reads()).toBeLessThan(20_000);
    expect(openings.reads()).toBeLessThan(20_000);
  });

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('C11: a tool may have the name %s', (name) => {
    const kept = JSON.parse(JSON.stringify(snapshot()).replaceAll('"a"', JSON.stringify(name))) as object;
    const named = createBreakerbox({ agent: 'tester', tools: {} });
    named.declare(name);
    const session = restore(named, kept);
    expect(session.acquire(name).decision).toBe('skip');
    expect(formatReport(report(session))).toContain(name);
    expect(JSON.stringify(snapshotOf(session))).toContain(JSON.stringify(name));
  });

  test.each(['', ',"circuits":{}', ',"ledger":{}'])(
    'C11: keys of a prototype have no effect: case %#',
    async (more) => {
      const hostile: unknown = JSON.parse(`{"version":1,"__proto__":{"agent":"tester","id":"x","polluted":1}${more}}`);
      await rejection(() => restore(box(), hostile));
      expect(({} as { polluted?: number }).polluted).toBeUndefined();
    },
  );
});

describe('R1, E6: a hostile capability file', () => {
  const wrongTools = (count: number): string =>
    JSON.stringify({
      tools: Object.fromEntries(times(count, (index) => [`tool_number_${index}`, { alternatives: [{ tool: 'x' }] }])),
    });

  test.each([
    ['faults that each name all tools', () => parseCapabilities(wrongTools(2_000))],
    [
      'unknown keys',
      () => parseCapabilities(JSON.stringify(Object.fromEntries(times(50_000, (index) => [`k${index}`, 1])))),
    ],
    ['a key of a megabyte', () => parseCapabilities(JSON.stringify({ tools: {}, ['k'.repeat(1_000_000)]: 1 }))],
    ['endless nesting', () => parseCapabilities(`{"tools":{"a":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}}`)],
    ['a truncated JSON text', () => parseCapabilities(`{"tools":{"a":"${'x'.repeat(1_000_000)}`)],
    ['YAML with faults in each line', () => parseCapabilitiesYaml(`tools:\n${'  a: {}\n'.repeat(5_000)}`)],
    ['endless YAML nesting', () => parseCapabilitiesYaml(`tools: ${'['.repeat(100_000)}`)],
    [
      'YAML that would construct objects',
      () => parseCapabilitiesYaml('tools: { a: { fallback: !!js/function "() => 1" } }'),
    ],
  ])('R1: %s', async (_, read) => {
    expect((await rejection(read)).message.length).toBeLessThan(READABLE);
  });

  test.each(['.yaml', '.json'])('R1: a file of 2 MB is not read to its end: %s', async (extension) => {
    const folder = await mkdtemp(join(tmpdir(), 'breakerbox-secrets-'));
    try {
      const path = join(folder, `map${extension}`);
      await writeFile(path, `{"tools": {"a": {"fallback": "${'x'.repeat(2_000_000)}"}}}`);
      expect((await rejection(() => loadCapabilities(path))).message).toMatch(/more than 128 KB/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test.each([
    ['JSON', () => parseCapabilities('{"tools": {"__proto__": {"fallback": "ask"}, "a": {"fallback": "ask"}}}')],
    ['YAML', () => parseCapabilitiesYaml('tools: { __proto__: { fallback: ask }, a: { fallback: ask } }')],
  ])('R1: __proto__ is an ordinary name in %s', (_, read) => {
    const { tools } = read();
    expect(Object.keys(tools)).toEqual(['__proto__', 'a']);
    expect(({} as { fallback?: string }).fallback).toBeUndefined();
    const made = createBreakerbox({ agent: 'tester', tools });
    expect(made.session().acquire('__proto__').decision).toBe('call');
  });
});
