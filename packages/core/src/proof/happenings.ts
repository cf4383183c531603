import fc from 'fast-check';
import {
  type Availability,
  type BreakerboxConfig,
  CIRCUIT_MODES,
  type CircuitMode,
  type ToolConfig,
} from '../index.ts';
import type { Ended } from './model.ts';

/** What may happen, in any order. Numbers choose among what is there at that time, so that every sequence makes sense. */
export type Happening =
  | { readonly kind: 'acquire'; readonly slot: number; readonly tool: string; readonly input?: string }
  /** Calls, one after the other, each of which settles before anything else happens. */
  | {
      readonly kind: 'call';
      readonly slot: number;
      readonly tool: string;
      readonly input?: string;
      readonly how: Ended;
      readonly times: number;
    }
  /** Of the permits under way, in any order. */
  | { readonly kind: 'settle'; readonly which: number; readonly how: Ended }
  /** Of those that have settled before, or never had anything to settle. */
  | { readonly kind: 'settle_again'; readonly which: number; readonly how: Ended }
  | { readonly kind: 'wait'; readonly ms: number }
  /** What the tool's pre-call check says from now on. */
  | { readonly kind: 'health'; readonly tool: string; readonly availability: Availability }
  | { readonly kind: 'step'; readonly slot: number; readonly count: number }
  /** `begin`: another session takes the slot, the old one goes on for those who hold its permits. */
  | { readonly kind: 'resume' | 'confirm' | 'restart' | 'end' | 'begin'; readonly slot: number }
  | { readonly kind: 'declare'; readonly slot: number; readonly tool: string }
  | { readonly kind: 'control'; readonly slot: number; readonly tool: string; readonly mode: CircuitMode };

/** Sessions that are looked at at a time. */
export const SLOTS = 2;

/** `late` is declared in the middle, `made_up` never. */
const tool = fc.constantFrom('a', 'a', 'b', 'b', 'c', 'late', 'made_up');
const slot = fc.constantFrom(0, 0, 1);

const network = { outcome: 'failure', category: 'network' } as const;
const server = { outcome: 'failure', category: 'server', tokens: 7 } as const;
// Mostly failures, and mostly alike: what is worth looking at begins with an opening.
const how = fc.constantFrom<Ended>(
  network,
  network,
  network,
  network,
  network,
  { ...network, tokens: 1_000 },
  { ...network, tokens: 30 },
  server,
  server,
  { outcome: 'failure', category: 'permission' },
  { outcome: 'failure', category: 'rate_limit', retryAfterMs: 70_000 },
  { outcome: 'failure', category: 'rate_limit', retryAfterMs: 5_000_000 },
  { outcome: 'success' },
  { outcome: 'success' },
  { outcome: 'ignored', category: 'cancelled' },
  { outcome: 'ignored', category: 'network' },
);

/** Around every limit that there is: cooldowns and their doubles, leases, windows, the Retry-After above. */
const LIMITS = [1, 30_000, 45_000, 60_000, 70_000, 120_000, 240_000, 300_000, 3_600_000];
const wait = fc.oneof(
  fc.constantFrom(...LIMITS.flatMap((limit) => [limit - 1, limit, limit + 1])),
  fc.integer({ min: 0, max: 130_000 }),
);

const kind = <Kind extends Happening['kind']>(...some: Kind[]) => fc.constantFrom(...some);

const input = fc.constantFrom('x', 'x', 'x', 'y');
const times = fc.constantFrom(1, 1, 2, 3);

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 24,
    arbitrary: fc.record(
      { kind: kind('call'), slot, tool, how, times, input },
      { requiredKeys: ['kind', 'slot', 'tool', 'how', 'times'] },
    ),
  },
  {
    weight: 14,
    arbitrary: fc.record({ kind: kind('acquire'), slot, tool, input }, { requiredKeys: ['kind', 'slot', 'tool'] }),
  },
  { weight: 10, arbitrary: fc.record({ kind: kind('settle'), which: fc.nat(20), how }) },
  { weight: 9, arbitrary: fc.record({ kind: kind('wait'), ms: wait }) },
  { weight: 6, arbitrary: fc.record({ kind: kind('step'), slot, count: fc.constantFrom(1, 1, 2, 3, 11) }) },
  { weight: 5, arbitrary: fc.record({ kind: kind('resume', 'resume', 'confirm'), slot }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('restart', 'restart', 'begin', 'begin', 'begin', 'end'), slot }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('control'), slot, tool, mode: fc.constantFrom(...CIRCUIT_MODES) }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('settle_again'), which: fc.nat(20), how }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: kind('health'),
      tool: fc.constantFrom('a', 'b'),
      availability: fc.constantFrom<Availability>('available', 'degraded', 'unavailable'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: kind('declare'), slot, tool: fc.constantFrom('late', 'a') }) },
);

/** Up to 100 happenings. */
export const happenings = fc.array(happening, { maxLength: 100, size: 'max' });

const threshold = fc.constantFrom(1, 2, 3);
const failureRate = fc.record(
  {
    rate: fc.constantFrom(0.01, 0.5, 0.66, 1),
    minimumCalls: fc.constantFrom(1, 2, 3),
    windowCalls: fc.constantFrom(3, 4),
  },
  { requiredKeys: ['rate', 'windowCalls'] },
);
const tools: fc.Arbitrary<ToolConfig> = fc.oneof(
  fc.constant({}),
  fc.record(
    {
      profile: fc.constantFrom('default', 'fast', 'slow', 'provider'),
      failureThreshold: threshold,
      probes: fc.constantFrom(1, 2, 3),
      probeAfterSteps: fc.constantFrom(1, 2, 4),
      probeLeaseMs: fc.constantFrom(45_000, 60_000, 1),
      maxRetryAfterMs: fc.constantFrom(0, 45_000, 300_000),
    },
    { requiredKeys: [] },
  ),
  fc.record(
    {
      failureThreshold: threshold,
      cooldownMs: fc.constantFrom(1, 30_000, 60_000),
      maxCooldownMs: fc.constantFrom(60_000, 70_000, 120_000),
      probeAfterSteps: fc.constantFrom(1, 3),
      failureRate,
      mode: fc.constantFrom<CircuitMode>('automatic', 'automatic', 'automatic', 'automatic', ...CIRCUIT_MODES),
    },
    { requiredKeys: ['cooldownMs'] },
  ),
);

/** The configuration of a case. */
export interface CaseConfig extends Omit<BreakerboxConfig, 'agent' | 'clock'> {
  readonly tools: Readonly<Record<string, ToolConfig>>;
  /** Tools with a pre-call check. */
  readonly checked: readonly string[];
}

const SCOPES = ['session', 'session', 'session', 'session', 'process', 'process', 'process', 'none'] as const;
const EVERY_TOOL = ['a', 'b', 'c', 'late', 'made_up'];

/** Configurations, the default one among them often enough. */
export const configs: fc.Arbitrary<CaseConfig> = fc.record({
  tools: fc.record({ a: tools, b: tools, c: tools }),
  defaults: fc.oneof({ weight: 9, arbitrary: fc.constant({}) }, fc.record({ mode: fc.constantFrom(...CIRCUIT_MODES) })),
  checked: fc.constantFrom<string[]>([], [], ['a'], ['a', 'b']),
  allowedTools: fc.oneof({ weight: 8, arbitrary: fc.constant(EVERY_TOOL) }, fc.constantFrom(['a', 'b', 'late'], ['b'])),
  loopGuard: fc.constantFrom<NonNullable<BreakerboxConfig['loopGuard']>>({}, { repeats: 1 }, { repeats: 2 }, false),
  scope: fc.constantFrom<NonNullable<BreakerboxConfig['scope']>>(...SCOPES),
  budget: fc.record(
    { failures: fc.constantFrom(1, 3, 5, 5, 12, 12, 40, 40), tokens: fc.constantFrom(50, 1_500, 2_000) },
    { requiredKeys: ['failures'] },
  ),
  systemic: fc.oneof(
    { weight: 1, arbitrary: fc.constant(false as const) },
    { weight: 5, arbitrary: fc.constant({}) },
    {
      weight: 3,
      arbitrary: fc.record(
        {
          sameCategory: fc.constantFrom(2, 3),
          anyCategory: fc.constantFrom(2, 3, 4),
          windowSteps: fc.constantFrom(1, 2, 3),
          windowMs: fc.constantFrom(1, 45_000, 60_000),
          recovery: fc.record({ afterMs: fc.constantFrom(1, 60_000, 120_000) }),
        },
        { requiredKeys: [] },
      ),
    },
  ),
});

/** Budgets that a few calls don't empty. */
export const largeBudgets: fc.Arbitrary<CaseConfig> = fc.record({
  tools: fc.constant({ a: { failureThreshold: 3 }, b: { failureThreshold: 3 }, c: { failureThreshold: 250 } }),
  checked: fc.constant([]),
  budget: fc.record({ failures: fc.constantFrom(500, 5_000), tokens: fc.constantFrom(3_000, 1_000_000) }),
});

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
