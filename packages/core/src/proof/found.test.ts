import { test } from 'vitest';
import { finish, happen, newWorld } from './drive.ts';

type World = Parameters<typeof newWorld>[0];
type Happening = Parameters<typeof happen>[1];

/** Cases in which engine and model once disagreed. */
const FOUND: readonly (readonly [name: string, config: World, all: readonly Happening[]])[] = [
  [
    'C1, C12: a tool is observed from its first use on, also where that is a control() of another session',
    {
      tools: {
        a: {},
        b: { cooldownMs: 1, failureRate: { rate: 0.01, minimumCalls: 1, windowCalls: 3 } },
        c: { failureThreshold: 1, cooldownMs: 1, mode: 'observe_only' },
      },
      defaults: {},
      checked: [],
      allowedTools: ['a', 'b', 'c', 'late', 'made_up'],
      loopGuard: {},
      scope: 'process',
      budget: { failures: 12 },
      systemic: { recovery: { afterMs: 1 } },
    },
    [
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'control', slot: 1, tool: 'c', mode: 'observe_only' },
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'acquire', slot: 0, tool: 'c' },
      { kind: 'call', slot: 0, tool: 'b', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'settle', which: 0, how: { outcome: 'failure', category: 'network' } },
      { kind: 'wait', ms: 29999 },
      { kind: 'call', slot: 1, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 1 },
    ],
  ],
];

test.each(FOUND)('%s', (_, config, all) => {
  const world = newWorld(config);
  for (const one of all) happen(world, one);
  finish(world);
});
