import { test } from 'vitest';
import { finish, happen } from './drive.ts';
import { newWorld } from './world.ts';

type World = Parameters<typeof newWorld>[0];
type Happening = Parameters<typeof happen>[1];

const unexplained = { digest: 'one', ofTool: true };
const UNEXPLAINED = { says: undefined, verdict: { category: 'unknown', unexplained } } as const;
const UNEXPLAINED_ANSWER = { says: undefined, verdict: { category: 'tool_error', unexplained } } as const;
const KEY_FAILS = { outcome: 'failure', category: 'network', blames: 'key' } as const;

/** Cases in which engine and model once disagreed. */
const FOUND: readonly (readonly [name: string, config: World, all: readonly Happening[]])[] = [
  [
    'R5, S5: the advice of a call whose tool was declared meanwhile is of the circuit that it has now',
    {
      tools: { a: {} },
      allowedTools: ['a', 'late'],
      scope: 'process',
      systemic: { recovery: { probeAfterMs: 1 } },
      checked: [],
    },
    [
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'acquire', slot: 0, tool: 'late' },
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 2 },
      { kind: 'declare', slot: 0, tool: 'late' },
      { kind: 'call', slot: 0, tool: 'late', how: { outcome: 'failure', category: 'network' }, times: 3 },
      { kind: 'wait', ms: 30_000 },
      { kind: 'settle', which: 0, how: { outcome: 'failure', category: 'network', blames: 'key' } },
    ],
  ],
  [
    'B1, B3: the charge of an opening leaves when its calls have passed, also if it was merged before at the same time',
    {
      tools: { a: { cooldownMs: 1 } },
      allowedTools: ['a'],
      budget: { failures: 1, windowCalls: 5 },
      scope: 'process',
      checked: [],
    },
    [
      { kind: 'call', slot: 0, tool: 'a', how: UNEXPLAINED, times: 1 },
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'unusable' }, times: 1 },
      { kind: 'restart', slot: 0 },
      { kind: 'call', slot: 0, tool: 'a', how: UNEXPLAINED_ANSWER, times: 3 },
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'unusable' }, times: 1 },
      { kind: 'wait', ms: 60_000 },
      { kind: 'call', slot: 0, tool: 'a', how: UNEXPLAINED_ANSWER, times: 1 },
    ],
  ],
  [
    'C14, C15: the group of a probe hears of its end before the tool, which opens by its keys',
    {
      tools: { a: { group: 'g', keysThreshold: 2 }, b: { group: 'g' } },
      groups: { g: { failureThreshold: 1, groupThreshold: 1, cooldownMs: 1 } },
      scope: 'process',
      checked: [],
    },
    [
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'wait', ms: 1 },
      { kind: 'call', slot: 0, tool: 'a', key: 'k', how: KEY_FAILS, times: 1 },
      { kind: 'wait', ms: 600_000 },
      { kind: 'call', slot: 0, tool: 'a', key: 'm', how: KEY_FAILS, times: 1 },
    ],
  ],
  [
    'C11, C13: a mode of a group is restored once a tool of the group is declared, whichever it is',
    { tools: { a: {} }, groups: { g: {} }, allowedTools: ['a', 'late'], checked: [] },
    [
      { kind: 'declare', slot: 0, tool: 'late', group: 'g' },
      { kind: 'control', slot: 0, tool: 'group:g', mode: 'forced_open' },
      { kind: 'restart', slot: 0 },
      { kind: 'declare', slot: 0, tool: 'a', group: 'g' },
      { kind: 'acquire', slot: 0, tool: 'a' },
    ],
  ],
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
  [
    'C9, C12: the session of a probe whose lease ends too late hears of the event that pauses it',
    {
      tools: { a: { group: 'g', alternatives: [{ tool: 'c' }] }, b: { group: 'g' }, c: { group: 'h' } },
      groups: { g: {} },
      systemic: { pause: 'all' },
      checked: [],
      loopGuard: false,
      scope: 'process',
      chainBackoffMs: 1e12,
      budget: { failures: 10 },
    },
    [
      {
        kind: 'call',
        slot: 0,
        tool: 'a',
        how: { outcome: 'failure', category: 'network', blames: 'key' },
        times: 3,
        key: 'k',
      },
      { kind: 'call', slot: 0, tool: 'c', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'wait', ms: 600_000 },
      { kind: 'call', slot: 0, tool: 'c', how: { outcome: 'failure', category: 'network' }, times: 2 },
      { kind: 'acquire', slot: 0, tool: 'a', key: 'k' },
      { kind: 'call', slot: 1, tool: 'a', how: { outcome: 'failure', category: 'network', blames: 'group' }, times: 1 },
      { kind: 'wait', ms: 600_000 },
      { kind: 'step', slot: 1, count: 1 },
      { kind: 'call', slot: 1, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 1 },
    ],
  ],
  [
    'C1: a probe of an automatic tool takes no slot of a group that is only observed',
    {
      tools: { a: { group: 'g' }, b: { group: 'g' }, c: { group: 'g' } },
      groups: { g: { mode: 'observe_only' } },
      checked: [],
      budget: 'strict',
      scope: 'session',
    },
    [
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'network', blames: 'group' }, times: 1 },
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'wait', ms: 60000 },
      { kind: 'acquire', slot: 0, tool: 'a' },
    ],
  ],
  [
    'C11, C12: a look ahead settles the hung probe of another session in that session',
    {
      tools: {
        a: { failureThreshold: 1, probeAfterSteps: 1, group: 'g' },
        b: { group: 'g' },
        c: { cooldownMs: 1, group: 'g' },
      },
      checked: [],
      budget: { failures: 1 },
      scope: 'process',
    },
    [
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'call', slot: 0, tool: 'b', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'step', slot: 0, count: 1 },
      { kind: 'acquire', slot: 1, tool: 'a' },
      { kind: 'wait', ms: 60000 },
    ],
  ],
  [
    'C11, K3: a look ahead past the end of an event keeps the scores of pre-call checks',
    {
      tools: { a: {}, b: {}, c: {} },
      checked: ['a', 'b'],
      budget: { failures: 1 },
      scope: 'session',
      systemic: { sharedFailures: 2, sharedTools: 2, recovery: { afterMs: 1 } },
    },
    [
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'rate_limit' }, times: 1 },
      { kind: 'call', slot: 0, tool: 'c', how: { outcome: 'failure', category: 'rate_limit' }, times: 1 },
      { kind: 'wait', ms: 300000 },
      { kind: 'call', slot: 1, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 2 },
    ],
  ],
  [
    'O6: the category of an opening by rate is that of a failure which counts in the rate',
    {
      tools: { a: {}, b: {}, c: { failureRate: { rate: 0.01, minimumCalls: 2, windowCalls: 3 } } },
      checked: [],
      scope: 'process',
    },
    [
      { kind: 'call', slot: 0, tool: 'c', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'call', slot: 0, tool: 'c', how: { outcome: 'failure', category: 'unknown' }, times: 1 },
      { kind: 'call', slot: 0, tool: 'c', how: { outcome: 'success' }, times: 1 },
    ],
  ],
  [
    'S5, C8: the probe of an event returns its slot when its tool is observed meanwhile',
    {
      tools: { a: {}, b: {}, c: { cooldownMs: 1 } },
      checked: [],
      budget: { rule: 'strict', failures: 40 },
      scope: 'process',
      systemic: { windowMs: 1 },
    },
    [
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'call', slot: 0, tool: 'c', how: { outcome: 'failure', category: 'network' }, times: 3 },
      { kind: 'call', slot: 0, tool: 'b', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'wait', ms: 3600001 },
      { kind: 'acquire', slot: 0, tool: 'a' },
      { kind: 'control', slot: 0, tool: 'a', mode: 'observe_only' },
      { kind: 'settle', which: 0, how: { outcome: 'failure', category: 'network' } },
      { kind: 'call', slot: 0, tool: 'b', how: { outcome: 'failure', category: 'network' }, times: 1 },
    ],
  ],
  [
    "C11, C13: a group in an operator's hands decides before its first use, and explain() says so",
    {
      tools: { a: { group: 'g' }, b: { group: 'g' }, c: {} },
      groups: { g: { mode: 'forced_open' } },
      checked: [],
      scope: 'session',
    },
    [{ kind: 'acquire', slot: 0, tool: 'a' }],
  ],
  [
    'S3, C15: an event whose tools are all replaced by their group has still cost its one',
    {
      tools: { a: { group: 'g' }, b: { group: 'g' }, c: { group: 'g' } },
      checked: [],
      budget: { failures: 1 },
      scope: 'session',
    },
    [
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'call', slot: 0, tool: 'c', how: { outcome: 'failure', category: 'permission' }, times: 2 },
      { kind: 'call', slot: 0, tool: 'b', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'permission' }, times: 2 },
      { kind: 'wait', ms: 60000 },
      { kind: 'acquire', slot: 0, tool: 'a' },
      { kind: 'call', slot: 0, tool: 'c', how: { outcome: 'failure', category: 'permission' }, times: 1 },
      { kind: 'wait', ms: 70000 },
    ],
  ],
  [
    'C12: the gauges of a session follow when another session ends the event',
    {
      tools: { a: { cooldownMs: 1 }, b: {}, c: {} },
      systemic: { pause: 'all' },
      checked: [],
      loopGuard: false,
      scope: 'process',
      budget: { failures: 10 },
    },
    [
      { kind: 'call', slot: 1, tool: 'c', how: { outcome: 'success' }, times: 1 },
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'call', slot: 0, tool: 'c', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'call', slot: 0, tool: 'b', how: { outcome: 'failure', category: 'network' }, times: 3 },
      { kind: 'acquire', slot: 1, tool: 'a' },
      { kind: 'wait', ms: 300000 },
      { kind: 'call', slot: 0, tool: 'c', how: { outcome: 'success' }, times: 1 },
      { kind: 'call', slot: 1, tool: 'c', how: { outcome: 'success' }, times: 1 },
    ],
  ],
  [
    'B1: what one use takes and gives back again is no fall to one left',
    { tools: { a: {}, b: {}, c: { failureThreshold: 2 } }, checked: [], budget: { failures: 3 }, scope: 'session' },
    [{ kind: 'call', slot: 0, tool: 'c', how: { outcome: 'failure', category: 'network' }, times: 2 }],
  ],
  [
    'C15, O3: the tool whose probe of a group failed with a Retry-After waits for it, and its own wait',
    {
      tools: { a: {}, b: { group: 'g' }, c: { group: 'g' } },
      groups: { g: { failureThreshold: 1, groupThreshold: 1, probeAfterSteps: 1, maxRetryAfterMs: 0 } },
      checked: [],
      scope: 'process',
    },
    [
      { kind: 'call', slot: 0, tool: 'c', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'step', slot: 0, count: 1 },
      {
        kind: 'call',
        slot: 0,
        tool: 'b',
        how: { outcome: 'failure', category: 'rate_limit', retryAfterMs: 70000 },
        times: 1,
      },
      { kind: 'step', slot: 0, count: 11 },
      { kind: 'call', slot: 0, tool: 'b', how: { outcome: 'failure', category: 'network' }, times: 1 },
    ],
  ],
  [
    'D3, D7: what a hung call was expected to use is spent from the next use of the session on',
    { tools: { a: { cooldownMs: 1 } }, checked: [], budget: 'strict', limits: { tokens: 100 }, systemic: false },
    [
      {
        kind: 'call',
        slot: 1,
        tool: 'a',
        how: { outcome: 'failure', category: 'network', tokens: 50 },
        times: 1,
      },
      { kind: 'call', slot: 1, tool: 'a', how: { outcome: 'failure', category: 'network', tokens: 1 }, times: 2 },
      { kind: 'wait', ms: 45_000 },
      { kind: 'acquire', slot: 1, tool: 'a' },
      { kind: 'wait', ms: 60_000 },
      { kind: 'call', slot: 1, tool: 'a', how: { outcome: 'success' }, times: 1 },
    ],
  ],
  [
    'C9, C11: a probe that has settled does not hang, whatever became of its circuits since',
    {
      tools: { a: { group: 'g' }, b: { group: 'g' }, c: { group: 'g' } },
      groups: { g: {} },
      checked: [],
      budget: { rule: 'strict', failures: 1 },
      scope: 'process',
      systemic: false,
    },
    [
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'network', blames: 'group' }, times: 1 },
      { kind: 'wait', ms: 3_600_000 },
      { kind: 'acquire', slot: 1, tool: 'a' },
      { kind: 'control', slot: 0, tool: 'group:g', mode: 'observe_only' },
      { kind: 'settle', which: 0, how: { outcome: 'success' } },
      { kind: 'wait', ms: 60_000 },
    ],
  ],
  [
    'C9, C11, G4: the granted probe of an event that hangs has used up the grant for the other tools of the event, too',
    {
      tools: { a: { probeLeaseMs: 1 }, b: {}, c: {} },
      defaults: { share: 'fleet' },
      checked: [],
      budget: { failures: 10 },
      scope: 'process',
      fleet: { join: () => {} },
    },
    [
      {
        kind: 'order',
        slot: 0,
        name: 'a',
        order: { order: 'hold', category: 'network', ageMs: 0, waitMs: 1_000 },
      },
      { kind: 'call', slot: 0, tool: 'c', how: { outcome: 'failure', category: 'network' }, times: 1 },
      {
        kind: 'order',
        slot: 0,
        name: 'c',
        order: { order: 'hold', category: 'network', ageMs: 0, waitMs: 1_000 },
      },
      { kind: 'order', slot: 0, name: 'event:systemic', order: { order: 'grant', forMs: 60_000 } },
      { kind: 'acquire', slot: 0, tool: 'a' },
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'wait', ms: 1 },
    ],
  ],
  [
    'B1, B3: charges that grew old during a pause leave the window when an opening ends the pause',
    {
      tools: { a: {}, b: {} },
      checked: [],
      budget: { failures: 3, windowSteps: 2 },
    },
    [
      { kind: 'call', slot: 0, tool: 'b', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 2 },
      { kind: 'acquire', slot: 0, tool: 'a' },
      { kind: 'wait', ms: 239_999 },
      { kind: 'step', slot: 0, count: 3 },
      { kind: 'settle', which: 0, how: { outcome: 'failure', category: 'network' } },
      { kind: 'acquire', slot: 0, tool: 'a' },
    ],
  ],
  [
    'C9, G4: the granted probe of an event by a tool that depends on its tools has used up the grant for them, too',
    {
      tools: { a: { dependsOn: ['db'] }, b: { dependsOn: ['a'] }, c: { dependsOn: ['db'] } },
      defaults: { share: 'fleet' },
      checked: [],
      budget: { failures: 10 },
      scope: 'process',
      fleet: { join: () => {} },
    },
    [
      { kind: 'order', slot: 0, name: 'c', order: { order: 'hold', category: 'network', ageMs: 0, waitMs: 1_000 } },
      { kind: 'call', slot: 0, tool: 'c', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'order', slot: 0, name: 'a', order: { order: 'hold', category: 'network', ageMs: 0, waitMs: 1_000 } },
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'order', slot: 0, name: 'event:systemic', order: { order: 'grant', forMs: 1 } },
      { kind: 'call', slot: 0, tool: 'b', how: { outcome: 'failure', category: 'network' }, times: 1 },
    ],
  ],
  [
    'L2: an operator forces the mode of a model where tools keep no circuits',
    {
      tools: { a: {}, b: {}, c: {} },
      checked: [],
      chainBackoffMs: 1e12,
      scope: 'none',
    },
    [
      { kind: 'force', slot: 0, tool: 'model:p/x', owner: 'ada', mode: 'forced_open', expiresInMs: 60_000 },
      { kind: 'ask', process: 0, model: 'p/x', times: 1, how: { outcome: 'success' } },
    ],
  ],
  [
    'L3: the second refusal in a row opens a model, also one with a fallback and a higher threshold',
    {
      tools: { a: {}, b: {}, c: {} },
      checked: [],
      chainBackoffMs: 1e12,
      models: { 'p/x': { failureThreshold: 5 } },
    },
    [{ kind: 'ask', process: 0, model: 'p/x', times: 3, how: { outcome: 'failure', category: 'permission' } }],
  ],
  [
    'L3, O3: a success ends the wait that a failure before it asked for',
    {
      tools: { a: {}, b: {}, c: {} },
      checked: [],
      chainBackoffMs: 1e12,
      models: { 'p/x': { failureThreshold: 3 } },
    },
    [
      {
        kind: 'ask',
        process: 0,
        model: 'p/x',
        times: 1,
        how: { outcome: 'failure', category: 'rate_limit', retryAfterMs: 100_000_000 },
      },
      { kind: 'ask', process: 0, model: 'p/x', times: 1, how: { outcome: 'success' } },
      { kind: 'ask', process: 0, model: 'p/x', times: 3, how: { outcome: 'failure', category: 'permission' } },
      { kind: 'wait', ms: 60_000 },
      { kind: 'ask', process: 0, model: 'p/x', times: 1, how: { outcome: 'success' } },
    ],
  ],
  [
    'C11, D2: a restored run knows at once whether its tools are only observed',
    {
      tools: { a: {}, b: {}, c: {} },
      defaults: { mode: 'observe_only' },
      checked: [],
      limits: { durationMs: 60_000 },
      scope: 'session',
    },
    [
      { kind: 'control', slot: 0, tool: 'a', mode: 'automatic' },
      { kind: 'wait', ms: 54_000 },
      { kind: 'restart', slot: 0 },
    ],
  ],
  [
    'C1, D3: a limit pauses an undeclared tool, and says so, where all that are declared are only observed',
    {
      tools: { a: {}, b: { mode: 'observe_only' }, c: {} },
      defaults: {},
      checked: [],
      allowedTools: ['a', 'b', 'c', 'late', 'made_up'],
      limits: { calls: 5 },
      scope: 'session',
    },
    [
      { kind: 'force', slot: 0, tool: 'c', owner: 'ada', mode: 'observe_only', expiresInMs: 60_000 },
      { kind: 'force', slot: 0, tool: 'a', owner: 'ada', mode: 'observe_only', expiresInMs: 60_000 },
      { kind: 'acquire', slot: 0, tool: 'a' },
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'network', blames: 'key' }, times: 3 },
      { kind: 'acquire', slot: 0, tool: 'late' },
      { kind: 'settle', which: 1, how: { outcome: 'ignored', category: 'unknown' } },
    ],
  ],
  [
    'C1, D7: that a limit pauses nothing any more is told by the next call',
    {
      tools: { a: {}, b: { mode: 'automatic' }, c: {} },
      defaults: { mode: 'observe_only' },
      checked: [],
      budget: { rule: 'strict', failures: 1 },
      limits: { calls: 5 },
      scope: 'process',
    },
    [
      { kind: 'call', slot: 1, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 3 },
      { kind: 'call', slot: 1, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 2 },
      { kind: 'force', slot: 0, tool: 'b', owner: 'ada', mode: 'observe_only', expiresInMs: 60_000 },
      { kind: 'call', slot: 1, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 1 },
    ],
  ],
  [
    'C1, D7: or by the next use that is no call, and the gauges show it from then on',
    {
      tools: { a: {}, b: {}, c: { cooldownMs: 1, mode: 'automatic' } },
      defaults: { mode: 'observe_only' },
      checked: [],
      budget: { failures: 1 },
      limits: { tokens: 100 },
      scope: 'session',
    },
    [
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'network', tokens: 30 }, times: 1 },
      { kind: 'call', slot: 0, tool: 'a', how: { outcome: 'failure', category: 'network' }, times: 3 },
      { kind: 'force', slot: 0, tool: 'c', owner: 'ada', mode: 'observe_only', expiresInMs: 60_000 },
      { kind: 'resume', slot: 0 },
    ],
  ],
  [
    'B1, S5: after an event that has ended by time, charges leave also if a call that fails is settled before the next use',
    {
      tools: { a: {}, b: {} },
      checked: [],
      budget: { failures: 40, windowSteps: 2 },
      systemic: { sharedTools: 2, mixedFailures: 2, recovery: { afterMs: 1 } },
      scope: 'session',
    },
    [
      { kind: 'acquire', slot: 0, tool: 'a' },
      { kind: 'acquire', slot: 0, tool: 'a' },
      { kind: 'settle', which: 0, how: { outcome: 'failure', category: 'network' } },
      { kind: 'call', slot: 0, tool: 'b', how: { outcome: 'failure', category: 'network' }, times: 1 },
      { kind: 'step', slot: 0, count: 11 },
      { kind: 'wait', ms: 1 },
      { kind: 'settle', which: 0, how: { outcome: 'failure', category: 'timeout' } },
      { kind: 'acquire', slot: 0, tool: 'a' },
    ],
  ],
];

test.each(FOUND)('%s', (_, config, all) => {
  const world = newWorld(config);
  for (const one of all) happen(world, one);
  finish(world);
});
