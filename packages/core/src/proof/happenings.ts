import fc from 'fast-check';
import { type Availability, CIRCUIT_MODES, type CircuitMode } from '../index.ts';
import type { Ended } from './model.ts';
import type { How, Returned } from './model-judge.ts';
import { EVENT, type ModelOrder } from './model-wish.ts';

/** What may happen, in any order. Numbers choose among what is there at that time, so that every sequence makes sense. */
export type Happening =
  | {
      readonly kind: 'acquire';
      readonly slot: number;
      readonly tool: string;
      readonly input?: string;
      readonly key?: string;
    }
  /** Calls, one after the other, each of which settles before anything else happens. */
  | {
      readonly kind: 'call';
      readonly slot: number;
      readonly tool: string;
      readonly input?: string;
      /** What an adapter says of its key (C14); `each`: another one for each of the calls. */
      readonly key?: string;
      readonly how: How;
      readonly times: number;
    }
  /** Of the permits under way, in any order. */
  | { readonly kind: 'settle'; readonly which: number; readonly how: How }
  /** Of those that have settled before, or never had anything to settle. */
  | { readonly kind: 'settle_again'; readonly which: number; readonly how: How }
  | { readonly kind: 'wait'; readonly ms: number }
  /** What the tool's pre-call check says from now on. */
  | { readonly kind: 'health'; readonly tool: string; readonly availability: Availability }
  | { readonly kind: 'step'; readonly slot: number; readonly count: number }
  /** `begin`: another session takes the slot, the old one goes on for those who hold its permits. */
  | { readonly kind: 'resume' | 'confirm' | 'end' | 'begin'; readonly slot: number }
  /** Another process restores the session after a wait. `elapsedMs`: how long that is said to have been. */
  | { readonly kind: 'restart'; readonly slot: number; readonly waitMs?: number; readonly elapsedMs?: number }
  /** `group`: the hint of an adapter. */
  | { readonly kind: 'declare'; readonly slot: number; readonly tool: string; readonly group?: string }
  | { readonly kind: 'control'; readonly slot: number; readonly tool: string; readonly mode: CircuitMode }
  /** Two operators of the box of the session (A3). Without a mode, the owner's is released. */
  | {
      readonly kind: 'force';
      readonly slot: number;
      readonly tool: string;
      readonly owner: 'ada' | 'bob';
      readonly mode?: Exclude<CircuitMode, 'automatic'>;
      readonly expiresInMs: number;
    }
  /** The fleet says something to the box of the session (G1). */
  | { readonly kind: 'order'; readonly slot: number; readonly name: string; readonly order: ModelOrder }
  | OfModels;

/** The models of a process (L2). Calls of them settle as those of tools do. */
export type OfModels =
  /** `begin`: it settles later. */
  | {
      readonly kind: 'ask' | 'begin_ask';
      readonly process: number;
      readonly model: string;
      readonly how: Ended;
      readonly times: number;
      /** Whose key the call uses (C14). */
      readonly tenant?: string;
    }
  /** A call under way waits for its model, which may take so long. */
  | { readonly kind: 'extend'; readonly which: number; readonly forMs: number }
  /** A list of models is made: those before the last one have a fallback from now on. */
  | { readonly kind: 'list'; readonly process: number; readonly models: readonly string[] };

/** Sessions that are looked at at the same time. */
export const SLOTS = 2;

/** `late` is declared in the middle, `made_up` never. */
const tool = fc.constantFrom('a', 'a', 'b', 'b', 'c', 'late', 'made_up');
const slot = fc.constantFrom(0, 0, 1);

const network = { outcome: 'failure', category: 'network' } as const;
const server = { outcome: 'failure', category: 'server', tokens: 7 } as const;
const success = { outcome: 'success' } as const;
const unknown = { outcome: 'failure', category: 'unknown' } as const;
// Mostly failures, and mostly alike: what is worth looking at begins with an opening.
const ended = fc.constantFrom<Ended>(
  network,
  network,
  network,
  network,
  network,
  { ...network, tokens: 1_000 },
  { ...network, tokens: 30 },
  server,
  server,
  { ...network, blames: 'group' },
  unknown,
  unknown,
  { outcome: 'failure', category: 'timeout' },
  { outcome: 'failure', category: 'permission' },
  { outcome: 'failure', category: 'rate_limit', retryAfterMs: 70_000 },
  { outcome: 'failure', category: 'rate_limit', retryAfterMs: 5_000_000 },
  success,
  success,
  { outcome: 'ignored', category: 'cancelled' },
  { outcome: 'ignored', category: 'network' },
  { outcome: 'ignored', category: 'tool_error' },
  { outcome: 'ignored', category: 'tool_error' },
  { outcome: 'ignored', category: 'unknown' },
);

/** Failures that blame the key of the call (C14). */
const ofKey = fc.constantFrom<Ended>(
  { ...network, blames: 'key' },
  { ...network, blames: 'key' },
  { ...unknown, blames: 'key', tokens: 9 },
  { outcome: 'ignored', category: 'tool_error', blames: 'key' },
  { outcome: 'failure', category: 'cancelled', blames: 'key' },
  { outcome: 'failure', category: 'rate_limit', retryAfterMs: 70_000, blames: 'key' },
  { outcome: 'failure', category: 'permission', blames: 'key' },
);

/** Results, of which the tool's isFailure says something, or an executor has read something (O7). */
const returned: fc.Arbitrary<Returned> = fc.record(
  {
    says: fc.constantFrom<Returned['says']>(true, false, 'network', 'tool_error', undefined),
    verdict: fc.constantFrom<Returned['verdict']>(
      undefined,
      null,
      { category: 'server' },
      { category: 'timeout', blames: 'key' },
      { category: 'denied', blames: 'key' },
      { category: 'tool_error', blames: 'tool' },
      { category: 'tool_error', unexplained: { digest: 'one', ofTool: true } },
      { category: 'tool_error', answered: true },
    ),
    blames: fc.constantFrom(undefined, undefined, 'group' as const),
  },
  { requiredKeys: ['says'] },
);

const how: fc.Arbitrary<How> = fc.oneof(
  { weight: 20, arbitrary: ended },
  { weight: 5, arbitrary: ofKey },
  { weight: 2, arbitrary: returned },
);

/** Around every limit that there is: cooldowns and their doubles, leases, windows, the Retry-After above. */
const LIMITS = [1, 30_000, 45_000, 60_000, 70_000, 120_000, 240_000, 300_000, 600_000, 3_600_000];
const wait = fc.oneof(
  fc.constantFrom(...LIMITS.flatMap((limit) => [limit - 1, limit, limit + 1])),
  fc.integer({ min: 0, max: 130_000 }),
);

const waitMs = fc.constantFrom(0, 1, 60_000, 600_001);

const kind = <Kind extends Happening['kind']>(...some: Kind[]) => fc.constantFrom(...some);

const input = fc.constantFrom('x', 'x', 'x', 'y');
const times = fc.constantFrom(1, 1, 2, 3);
const key = fc.constantFrom('k', 'k', 'l', 'm');
const keys = fc.oneof({ weight: 5, arbitrary: key }, fc.constant('each'));

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 24,
    arbitrary: fc.record(
      { kind: kind('call'), slot, tool, how, times, input, key: keys },
      { requiredKeys: ['kind', 'slot', 'tool', 'how', 'times'] },
    ),
  },
  {
    weight: 14,
    arbitrary: fc.record({ kind: kind('acquire'), slot, tool, input, key }, { requiredKeys: ['kind', 'slot', 'tool'] }),
  },
  { weight: 10, arbitrary: fc.record({ kind: kind('settle'), which: fc.nat(20), how }) },
  { weight: 9, arbitrary: fc.record({ kind: kind('wait'), ms: wait }) },
  { weight: 6, arbitrary: fc.record({ kind: kind('step'), slot, count: fc.constantFrom(1, 1, 2, 3, 11) }) },
  { weight: 5, arbitrary: fc.record({ kind: kind('resume', 'resume', 'confirm'), slot }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('begin', 'begin', 'end'), slot }) },
  {
    weight: 1,
    arbitrary: fc.record(
      { kind: kind('restart'), slot, waitMs, elapsedMs: waitMs },
      { requiredKeys: ['kind', 'slot'] },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: kind('control'),
      slot,
      tool: fc.oneof(tool, fc.constant('group:g')),
      mode: fc.constantFrom(...CIRCUIT_MODES),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        kind: kind('force'),
        slot,
        tool: fc.oneof({ weight: 4, arbitrary: tool }, fc.constant('group:g')),
        owner: fc.constantFrom('ada' as const, 'bob' as const),
        mode: fc.constantFrom('forced_open' as const, 'disabled' as const, 'observe_only' as const),
        expiresInMs: fc.constantFrom(60_000, 600_000),
      },
      { requiredKeys: ['kind', 'slot', 'tool', 'owner', 'expiresInMs'] },
    ),
  },
  { weight: 1, arbitrary: fc.record({ kind: kind('settle_again'), which: fc.nat(20), how }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: kind('health'),
      tool: fc.constantFrom('a', 'b'),
      availability: fc.constantFrom<Availability>('available', 'degraded', 'unavailable'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record(
      { kind: kind('declare'), slot, tool: fc.constantFrom('late', 'a'), group: fc.constant('g') },
      { requiredKeys: ['kind', 'slot', 'tool'] },
    ),
  },
);

/** What answers of models come to (L3). */
const ofModel = fc.constantFrom<Ended>(
  success,
  network,
  server,
  unknown,
  { outcome: 'failure', category: 'timeout' },
  { outcome: 'failure', category: 'rate_limit' },
  { outcome: 'failure', category: 'rate_limit', retryAfterMs: 70_000 },
  { outcome: 'failure', category: 'rate_limit', retryAfterMs: 100_000_000 },
  { outcome: 'failure', category: 'resource', retryAfterMs: 300_000, blames: 'group' },
  { outcome: 'failure', category: 'permission', blames: 'group' },
  { outcome: 'failure', category: 'permission' },
  { outcome: 'failure', category: 'permission' },
  { outcome: 'failure', category: 'unusable', retryAfterMs: 300_000 },
  { outcome: 'ignored', category: 'invalid_input' },
  { outcome: 'ignored', category: 'cancelled' },
);
const ofTenant = fc.constantFrom<Ended>(
  success,
  server,
  { outcome: 'failure', category: 'permission', blames: 'key' },
  { outcome: 'failure', category: 'resource', retryAfterMs: 300_000, blames: 'key' },
  { outcome: 'failure', category: 'rate_limit', retryAfterMs: 70_000, blames: 'key' },
);
const modelName = fc.constantFrom('p/x', 'p/x', 'p/y', 'q/z');
const ask = {
  kind: kind('ask', 'ask', 'begin_ask'),
  process: fc.constantFrom(0, 0, 0, 1),
  model: modelName,
  times: fc.constantFrom(1, 1, 2, 5),
};

/** Calls of models, and what happens to them. */
const happeningOfModels: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 20, arbitrary: fc.record({ ...ask, how: ofModel }) },
  { weight: 6, arbitrary: fc.record({ ...ask, how: ofTenant, tenant: key }) },
  { weight: 5, arbitrary: fc.record({ kind: kind('settle'), which: fc.nat(20), how: ofModel }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: kind('extend'), which: fc.nat(20), forMs: fc.constantFrom(1, 60_000, 300_000) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: kind('list'),
      process: fc.constantFrom(0, 1),
      models: fc.shuffledSubarray(['p/x', 'p/y', 'q/z'], { minLength: 1 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record(
      {
        kind: kind('force'),
        slot,
        tool: fc.constantFrom('model:p/x', 'model:q/z', 'group:model:p'),
        owner: fc.constantFrom('ada' as const, 'bob' as const),
        mode: fc.constantFrom('forced_open' as const, 'disabled' as const, 'observe_only' as const),
        expiresInMs: fc.constantFrom(60_000, 600_000),
      },
      { requiredKeys: ['kind', 'slot', 'tool', 'owner', 'expiresInMs'] },
    ),
  },
);

/** Models that fail, recover and are probed, while their run does what runs do (L2, L3, L5). */
export const asks: fc.Arbitrary<readonly Happening[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: happeningOfModels },
    { weight: 3, arbitrary: fc.record({ kind: kind('wait'), ms: wait }) },
    { weight: 2, arbitrary: happening },
  ),
  { minLength: 5, maxLength: 80, size: 'max' },
);

/** Up to 100 happenings. */
export const happenings = fc.array(
  fc.oneof({ weight: 14, arbitrary: happening }, { weight: 1, arbitrary: happeningOfModels }),
  { maxLength: 100, size: 'max' },
);

/** Events that begin, join and end: tools that fail together, waits as long as the gate of an event, and successes. */
export const events: fc.Arbitrary<readonly Happening[]> = fc.array(
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record(
        {
          kind: kind('call'),
          slot,
          tool: fc.constantFrom('a', 'b', 'c'),
          how: fc.constantFrom<Ended>(
            network,
            network,
            network,
            server,
            unknown,
            { ...network, blames: 'group' },
            success,
          ),
          times,
          key,
        },
        { requiredKeys: ['kind', 'slot', 'tool', 'how', 'times'] },
      ),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: kind('call'),
        slot,
        tool: fc.constantFrom('a', 'b'),
        how: ofKey,
        times: fc.constant(3),
        key: fc.constant('k'),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: kind('call'),
        slot,
        tool: fc.constantFrom('a', 'b', 'c'),
        how: fc.constant(success),
        times: fc.constant(1),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record(
        { kind: kind('acquire'), slot, tool: fc.constantFrom('a', 'b', 'c'), key: fc.constant('k') },
        { requiredKeys: ['kind', 'slot', 'tool'] },
      ),
    },
    { weight: 3, arbitrary: fc.record({ kind: kind('settle'), which: fc.nat(20), how }) },
    {
      weight: 5,
      arbitrary: fc.record({ kind: kind('wait'), ms: fc.constantFrom(1, 45_000, 60_001, 300_000, 600_000) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: kind('step'), slot, count: fc.constantFrom(1, 3) }) },
    { weight: 1, arbitrary: fc.record({ kind: kind('restart', 'begin', 'end', 'confirm'), slot }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: kind('control'),
        slot,
        tool: fc.constantFrom('a', 'b', 'group:g'),
        mode: fc.constantFrom<CircuitMode>('automatic', 'automatic', 'observe_only'),
      }),
    },
  ),
  { minLength: 5, maxLength: 60, size: 'max' },
);

const unexplained = (category: 'tool_error' | 'unknown', digest: string): Returned => ({
  says: undefined,
  verdict: { category, unexplained: { digest, ofTool: digest === 'one' } },
});

/** Tools that fail with errors that nothing explains (O8), in several sessions and processes; few calls succeed. */
export const mysteries: fc.Arbitrary<readonly Happening[]> = fc.array(
  fc.oneof(
    {
      weight: 24,
      arbitrary: fc.record(
        {
          kind: kind('call'),
          slot,
          tool: fc.constantFrom('a', 'a', 'a', 'b', 'late', 'made_up'),
          how: fc.constantFrom<How>(
            ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map(() => unexplained('tool_error', 'one')),
            unexplained('tool_error', 'other'),
            unexplained('unknown', 'one'),
            { ...unexplained('tool_error', 'one'), blames: 'group' },
            { outcome: 'ignored', category: 'tool_error' },
            { outcome: 'failure', category: 'unusable' },
            network,
          ),
          input: fc.constantFrom('v', 'w', 'x', 'y', 'z'),
          times: fc.constantFrom(1, 1, 2),
        },
        { requiredKeys: ['kind', 'slot', 'tool', 'how', 'times'] },
      ),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: kind('call'), slot, tool, how: fc.constant(success), times: fc.constant(1) }),
    },
    { weight: 5, arbitrary: happening },
    { weight: 5, arbitrary: fc.record({ kind: kind('wait'), ms: fc.constantFrom(60_000, 300_000) }) },
    { weight: 2, arbitrary: fc.record({ kind: kind('begin', 'restart'), slot }) },
  ),
  { minLength: 20, maxLength: 60, size: 'max' },
);

/** A probe of tool `a` whose lease ends, while someone may switch the tool off and on again. */
const hanging: fc.Arbitrary<readonly Happening[]> = fc
  .record({ slot, isSwitched: fc.boolean() })
  .map(({ slot: of, isSwitched }): readonly Happening[] => [
    { kind: 'wait', ms: 60_000 },
    { kind: 'acquire', slot: of, tool: 'a', input: 'x' },
    ...(isSwitched ? (['disabled', 'automatic'] as const) : []).map(
      (mode): Happening => ({ kind: 'control', slot: of, tool: 'a', mode }),
    ),
    { kind: 'wait', ms: 60_000 },
  ]);

/** Probes that never settle, beside limits and calls that are made again (C9, D3, O5). */
export const hangings: fc.Arbitrary<readonly Happening[]> = fc
  .array(
    fc.oneof(
      { weight: 2, arbitrary: hanging },
      {
        weight: 6,
        arbitrary: fc
          .record({
            kind: kind('call'),
            slot,
            tool: fc.constantFrom('a', 'a', 'b'),
            how: fc.constantFrom<Ended>(
              { outcome: 'failure', category: 'timeout' },
              { outcome: 'failure', category: 'timeout', tokens: 1 },
              { outcome: 'success', tokens: 60 },
            ),
            times,
          })
          .map((one): readonly Happening[] => [one]),
      },
      { weight: 2, arbitrary: happening.map((one): readonly Happening[] => [one]) },
    ),
    { minLength: 5, maxLength: 20, size: 'max' },
  )
  .map((all) => all.flat());

const order: fc.Arbitrary<ModelOrder> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      order: fc.constant('hold' as const),
      category: fc.constantFrom('network' as const, 'network' as const, 'timeout' as const, 'server' as const),
      ageMs: fc.constantFrom(0, 1_000, 50_000, 200_000),
      waitMs: fc.constantFrom(1_000, 45_000, 60_000, 240_000),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ order: fc.constant('grant' as const), forMs: fc.constantFrom(1, 10_000, 60_000) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      order: fc.constant('recover' as const),
      dueInMs: fc.constantFrom(0, 1, 500),
      ageMs: fc.constantFrom(0, 30_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ order: fc.constant('let_go' as const), notBeforeMs: fc.constantFrom(0, 1, 60_000) }),
  },
);

/** Orders of a fleet among all else that happens (G1 to G8). */
export const orders: fc.Arbitrary<readonly Happening[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: happening },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: kind('order'),
        slot,
        name: fc.constantFrom('a', 'a', 'b', 'b', 'c', 'late', 'group:g', 'group:g', EVENT, EVENT),
        order,
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: kind('call'),
        slot,
        tool: fc.constantFrom('a', 'b', 'c'),
        how: fc.constantFrom<Ended>(network, success, success, { outcome: 'ignored', category: 'cancelled' }),
        times: fc.constantFrom(1, 1, 3),
      }),
    },
    // Tools that fail together: without these, few cases reach an event.
    {
      weight: 2,
      arbitrary: fc.record({
        kind: kind('call'),
        slot,
        tool: fc.constantFrom('a', 'b', 'c'),
        how: fc.constant(network),
        times: fc.constant(3),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: kind('wait'), ms: fc.constantFrom(1, 500, 10_000, 60_000) }) },
  ),
  { maxLength: 100, size: 'max' },
);

/** Failures by the hundred, and tools that open among them. */
export const floods: fc.Arbitrary<readonly Happening[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: kind('call'),
        slot: fc.constant(0),
        tool: fc.constantFrom('c', 'made_up'),
        how: fc.constantFrom<Ended>(network, network, { ...network, tokens: 30 }, server),
        times: fc.constantFrom(10, 90, 150, 230),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: kind('call'),
        slot: fc.constant(0),
        tool: fc.constantFrom('a', 'b'),
        how: fc.constantFrom<Ended>(network, network, network, { outcome: 'success' }),
        times: fc.constantFrom(1, 3),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: kind('wait'), ms: fc.constantFrom(1, 60_000, 130_000) }) },
    { weight: 2, arbitrary: fc.record({ kind: kind('step'), slot: fc.constant(0), count: fc.constantFrom(1, 3, 11) }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: kind('resume', 'confirm', 'confirm', 'restart'), slot: fc.constant(0) }),
    },
  ),
  { minLength: 5, maxLength: 20 },
);
