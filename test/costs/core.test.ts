import { readFileSync } from 'node:fs';
import { createBreakerbox } from '@breakerbox/core';
import { report } from '@breakerbox/core/report';
import { planScope } from '@breakerbox/core/scope';
import { restore, snapshot } from '@breakerbox/core/snapshot';
import { describe, expect, test } from 'vitest';
import { CORE_ENTRIES, failing } from './core-entries.ts';
import { type CostCase, expectLinear } from './cost.ts';

/** Exported functions and methods that take nothing from outside, or only what the package made itself. */
const TAKES_NOTHING: readonly string[] = [
  'followProviders',
  'onNewBox',
  'Breakerbox.precheck',
  ...['beginTask', 'confirmRecovered', 'end', 'note', 'resume', 'step', 'unavailable', 'view'].map(
    (name) => `Session.${name}`,
  ),
  'Operator.modes',
  'Operator.sessions',
  'Permit.toJSON',
];

/** What an API report says is exported: functions, and the methods of the objects that they return. */
const exportsOf = (entry: string): readonly string[] => {
  const text = readFileSync(new URL(`../../packages/core/api/${entry}.api.md`, import.meta.url), 'utf8');
  const functions = [...text.matchAll(/^export (?:function (\w+)|const (\w+): (?:\(|<|Format;))/gm)].map(
    ([, one, other]) => one ?? other ?? '',
  );
  const methods = ['Breakerbox', 'Operator', 'Session', 'Permit'].flatMap((owner) => {
    const [, body = ''] = new RegExp(`^export interface ${owner} \\{\\n([^]*?)^\\}`, 'm').exec(text) ?? [];
    return [...body.matchAll(/^ {4}(\w+)[<(]/gm)].map(([, name]) => `${owner}.${name}`);
  });
  return [...functions, ...methods];
};

test('every exported function and method is a cost case, or takes nothing from outside', () => {
  const exported = new Set(['index', 'control', 'report', 'scope', 'snapshot'].flatMap(exportsOf));
  expect(exported.size).toBeGreaterThan(30);
  expect([...Object.keys(CORE_ENTRIES), ...TAKES_NOTHING].sort()).toEqual([...exported].sort());
});

const text = (size: number): string => 'ab '.repeat(size * 8);

/** Parts of the error texts that patterns look for, over and over. */
const errorText = (size: number): string => 'Error: connect ECONNREFUSED status 503, retry after 5 '.repeat(size);

const wide = (size: number): object => Object.fromEntries(Array.from({ length: size }, (_, key) => [`k${key}`, key]));

const many = (size: number): object[] =>
  Array.from({ length: size }, (_, index) => ({ name: `t${index}`, tools: ['search'] }));

/** Hostile input that every entry gets: long text, an error of long text, many keys, many elements. */
const SHAPES: Readonly<Record<string, (size: number) => unknown>> = {
  'long text': text,
  'a long error': (size) => new Error(errorText(size)),
  'many keys': wide,
  'many elements': many,
};

const cases = Object.entries(CORE_ENTRIES).flatMap(([entry, run]) =>
  Object.entries(SHAPES).map(
    ([shape, make]): CostCase<unknown> => ({ entry: `${entry}, ${shape}`, from: 512, make, run }),
  ),
);

const named = (size: number) =>
  Object.fromEntries(Array.from({ length: size }, (_, index) => [`tool ${index}`, { fallback: 'wait' }]));

const boxOf = (size: number) => createBreakerbox({ agent: 'agent', tools: named(size) as never });

const opened = (size: number) => {
  const session = boxOf(size).session({ budget: { failures: 1e9 } });
  for (const tool of Object.keys(named(size))) {
    for (let call = 0; call < 3; call += 1) session.acquire(tool).settle({ outcome: 'failure', category: 'server' });
  }
  return session;
};

/** Keeps the type of the input between `make` and `run`. */
const sizedCase = <Input>(one: CostCase<Input>): CostCase<unknown> => one as CostCase<unknown>;

const sized: readonly CostCase<unknown>[] = [
  sizedCase({
    entry: 'createBreakerbox, many tools',
    from: 32,
    make: named,
    run: (tools) => createBreakerbox({ agent: 'agent', tools: tools as never }),
  }),
  sizedCase({ entry: 'Session.note, many open tools', from: 16, make: opened, run: (session) => session.note() }),
  sizedCase({ entry: 'Session.view, many open tools', from: 16, make: opened, run: (session) => session.view() }),
  sizedCase({
    entry: 'Session.confirmRecovered, many open tools',
    from: 16,
    make: opened,
    run: (session) => session.confirmRecovered(),
  }),
  sizedCase({ entry: 'report, many open tools', from: 16, make: opened, run: (session) => report(session) }),
  sizedCase({ entry: 'snapshot, many open tools', from: 16, make: opened, run: (session) => snapshot(session) }),
  sizedCase({
    entry: 'restore, many open tools',
    from: 16,
    make: (size: number) => ({ box: boxOf(size), kept: snapshot(opened(size)) }),
    run: ({ box, kept }) => restore(box, kept),
  }),
  sizedCase({
    entry: 'planScope, many tasks',
    from: 256,
    make: many,
    run: (tasks) => planScope(failing(), tasks as never),
  }),
];

describe('E5: the CPU time grows in proportion to hostile input', () => {
  test.each([...cases, ...sized].map((one) => [one.entry, one] as const))('%s', async (_, one) => {
    await expectLinear(one);
  });
});
