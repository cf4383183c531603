import { expect, test } from 'vitest';
import type { LiveSession } from './overview.ts';
import { changeWords, circuitWords, duration, list, probeWords, processName, suspectWords } from './words.ts';

test.each([
  [{ steps: 3, notBeforeMs: 0 }, 'in 3 steps'],
  [{ steps: 1, ms: 30_000, notBeforeMs: 0 }, 'in 1 step or 30 s'],
  [{ ms: 300_000, notBeforeMs: 600_000 }, 'in 5 min, not before 10 min'],
  [{ steps: 0, ms: 5_000, notBeforeMs: 0 }, 'at the next call'],
  [{ steps: -1, notBeforeMs: 20_000 }, 'in 20 s'],
  [undefined, undefined],
])('A8: the next probe %o is %s', (nextProbe, words) => {
  expect(probeWords(nextProbe)).toBe(words);
});

test.each([
  [{ openKeys: 1 }, 'closed, but 1 of its targets is not available'],
  [{ failedKeys: 1 }, 'closed, 1 target failed in a row'],
  [{ openKeys: 2, failedKeys: 6 }, 'closed, but 2 of its targets are not available, 6 targets failed in a row'],
  [{ state: 'open', category: 'network', failedKeys: 8 }, 'open, network'],
] as const)('A8, C14: a circuit with %o is: %s', (more, words) => {
  expect(circuitWords({ tool: 'fetch', state: 'closed', generation: 0, failures: 0, openKeys: 0, ...more })).toBe(
    words,
  );
});

test('A8: a paused session sends no probe, so none is promised', () => {
  const open = { tool: 'fetch', state: 'open', category: 'network', generation: 1, failures: 0, openKeys: 0 } as const;
  const circuit = { ...open, nextProbe: { ms: 7_000, notBeforeMs: 0 } };
  expect([circuitWords(circuit), circuitWords(circuit, true)]).toEqual([
    'open, network, next probe in 7 s',
    'open, network',
  ]);
});

test('A8: durations, lists and processes are written for people', () => {
  expect([500, 119_000, 120_000, 7_200_000, 200_000_000].map(duration)).toEqual([
    '1 s',
    '119 s',
    '2 min',
    '2 h',
    '2 days',
  ]);
  expect([list([]), list(['a']), list(['a', 'b', 'c'])]).toEqual(['', 'a', 'a, b and c']);
  const state = { pid: 7, startedUnixMs: 0, role: 'view', boxes: [] } as const;
  expect([
    processName({ id: 'unix:/run/7.sock', state: { ...state, boxes: [] } }),
    processName({ id: 'http://host:1', state: { ...state, boxes: [] } }),
    processName({ id: 'unix:/run/8.sock' }),
  ]).toEqual(['process 7', 'process 7 at host:1', '8']);
});

test.each([
  ['network', 'the network'],
  ['unknown', undefined],
  ['__proto__', '__proto__'],
  ['constructor', 'constructor'],
])('A8: the layer %s of an event is shown as %s, whatever an endpoint sends', (layer, words) => {
  const session = { event: { id: 'e', layer, tools: [] } } as unknown as LiveSession['session'];
  expect(suspectWords({ session } as LiveSession)).toBe(words);
});

test('A8: states that this version does not know are shown as they are', () => {
  const change = { kind: 'circuit.transition', agent: 'a', endpoint: 'e', unixMs: 0, tool: 'fetch' } as const;
  expect(changeWords({ ...change, from: 'half_open', to: 'constructor' })).toBe('fetch: half open to constructor');
});
