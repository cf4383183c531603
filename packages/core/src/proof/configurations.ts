import fc from 'fast-check';
import {
  type BreakerboxConfig,
  byHost,
  CIRCUIT_MODES,
  type CircuitMode,
  type KeyOf,
  type LimitsOptions,
  type ModelConfig,
  type ResultJudge,
  type SessionToolConfig,
  type ToolConfig,
} from '../index.ts';
import type { OwnTools } from './model.ts';
import type { Returned } from './model-judge.ts';

const threshold = fc.constantFrom(1, 2, 3);
const failureRate = fc.record(
  {
    rate: fc.constantFrom(0.01, 0.5, 0.66, 1),
    minimumCalls: fc.constantFrom(1, 2, 3),
    windowCalls: fc.constantFrom(3, 4),
  },
  { requiredKeys: ['rate', 'windowCalls'] },
);
const modes = fc.constantFrom<CircuitMode>('automatic', 'automatic', 'automatic', 'automatic', ...CIRCUIT_MODES);

const tool: fc.Arbitrary<ToolConfig> = fc.oneof(
  fc.constant({}),
  fc.record(
    {
      profile: fc.constantFrom('default', 'fast', 'slow', 'provider'),
      failureThreshold: threshold,
      probes: fc.constantFrom(1, 2, 3),
      probeAfterSteps: fc.constantFrom<NonNullable<ToolConfig['probeAfterSteps']>>(1, 2, 4, [2, 1, 5]),
      probeLeaseMs: fc.constantFrom(45_000, 60_000, 1),
      maxRetryAfterMs: fc.constantFrom(0, 45_000, 300_000),
      maxInFlight: fc.constantFrom(1, 2),
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
      mode: modes,
    },
    { requiredKeys: ['cooldownMs'] },
  ),
);

/** What tools have in common: a group, something that they depend on, or nothing. */
const ties = fc.constantFrom<Readonly<Record<'a' | 'b' | 'c', ToolConfig>>>(
  { a: {}, b: {}, c: {} },
  { a: {}, b: { dependsOn: ['a'] }, c: {} },
  { a: { dependsOn: ['db'] }, b: { dependsOn: ['a'] }, c: { dependsOn: ['db'] } },
  { a: { group: 'g' }, b: { group: 'g' }, c: {} },
  { a: { group: 'g' }, b: { group: 'g' }, c: { group: 'g' } },
  { a: { group: 'g' }, b: { group: 'g' }, c: { dependsOn: ['a'] } },
  { a: { alternatives: [{ tool: 'c' }] }, b: {}, c: {} },
  { a: { group: 'g', alternatives: [{ tool: 'c' }] }, b: { group: 'g' }, c: { group: 'h' } },
  { a: { group: false }, b: { group: 'g' }, c: { group: 'h' } },
);

/** What the arguments name: some of those of the cases, and the host of a URL (C14). */
const keyOf: KeyOf = (input) => {
  if (typeof input === 'object') return byHost()(input);
  return input === 'x' ? 'k' : undefined;
};

/** O7. */
const isFailure: ResultJudge = (result) => (result as Returned).says;

/** What a tool says of its calls and results. */
const judging = fc.constantFrom<ToolConfig>(
  {},
  {},
  { failureThreshold: 5 },
  { failureThreshold: false, failureRate: { rate: 1, minimumCalls: 4, windowCalls: 4 } },
  { key: keyOf },
  { key: false },
  { isFailure },
  { key: keyOf, isFailure },
  { key: keyOf, keysThreshold: 2 },
  { keysThreshold: 2 },
  { keysThreshold: 3, failureThreshold: 5 },
);

const tools = fc
  .record({ a: tool, b: tool, c: tool, judging: fc.tuple(judging, judging), ties })
  .map(({ a, b, c, judging: [one, other], ties: of }) => ({
    a: { ...a, ...one, ...of.a },
    b: { ...b, ...other, ...of.b },
    c: { ...c, ...of.c },
  }));

const group = fc.oneof(
  fc.constant({}),
  fc.record(
    {
      failureThreshold: threshold,
      groupThreshold: fc.constantFrom(1, 2),
      probes: fc.constantFrom(1, 2),
      probeAfterSteps: fc.constantFrom(1, 3),
      cooldownMs: fc.constantFrom(1, 30_000, 60_000),
      maxRetryAfterMs: fc.constantFrom(0, 45_000),
      maxInFlight: fc.constantFrom(1, 3),
      mode: modes,
    },
    { requiredKeys: [] },
  ),
);

/** L2: models of two providers. A model has few settings of its own. */
const model = fc
  .oneof(
    { weight: 3, arbitrary: fc.constant({}) },
    fc.record(
      {
        failureThreshold: fc.constantFrom(1, 2, 3, 5),
        cooldownMs: fc.constantFrom(1, 30_000, 60_000),
        maxCooldownMs: fc.constantFrom(60_000, 120_000),
        probes: fc.constantFrom(1, 2),
        probeLeaseMs: fc.constantFrom(45_000, 1),
        maxRetryAfterMs: fc.constantFrom(0, 45_000),
        mode: modes,
      },
      { requiredKeys: [] },
    ),
  )
  .filter(({ cooldownMs = 60_000, maxCooldownMs = 300_000 }: ModelConfig) => cooldownMs <= maxCooldownMs);
const models = fc.record({ 'p/x': model, 'p/y': model, 'q/z': model }, { requiredKeys: [] });

/** The configuration of a case. */
export interface CaseConfig extends Omit<BreakerboxConfig, 'agent' | 'clock'> {
  readonly tools: Readonly<Record<string, ToolConfig>>;
  /** Tools with a pre-call check. */
  readonly checked: readonly string[];
  /** C18: settings of tools of the sessions, in turn. */
  readonly ofSessions?: readonly (OwnTools | undefined)[];
}

const EVERY_TOOL = ['a', 'b', 'c', 'late', 'made_up'];

const limits = {
  failures: fc.constantFrom(1, 3, 5, 5, 12, 12, 40, 40),
  tokens: fc.constantFrom(50, 1_500, 2_000),
};
const budget: fc.Arbitrary<NonNullable<BreakerboxConfig['budget']>> = fc.oneof(
  { weight: 1, arbitrary: fc.constant('strict' as const) },
  {
    weight: 3,
    arbitrary: fc.record({ rule: fc.constant('strict' as const), ...limits }, { requiredKeys: ['rule', 'failures'] }),
  },
  {
    weight: 6,
    arbitrary: fc.record(
      {
        rule: fc.constant('window' as const),
        ...limits,
        windowSteps: fc.integer({ min: 2, max: 20 }),
        windowMs: fc.constantFrom(1, 60_000, 300_000),
        windowCalls: fc.constantFrom(1, 3, 5, 20),
      },
      { requiredKeys: ['failures'] },
    ),
  },
);

/** D2: small enough that cases reach them. */
const limit = (...sizes: number[]) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...sizes) },
    fc.record({ limit: fc.constantFrom(...sizes), mode: fc.constantFrom('observe' as const, 'advise' as const) }),
  );
const limitsOfRun: fc.Arbitrary<LimitsOptions> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  fc.record(
    { calls: limit(5, 20), steps: limit(4, 12), tokens: limit(100, 3_000), durationMs: limit(60_000, 600_000) },
    { requiredKeys: [] },
  ),
);

const sharing = {
  sameCategory: fc.constantFrom(2, 3, 3, 4),
  sameCategorySteps: fc.constantFrom(1, 3, 20),
  anyCategory: fc.constantFrom(2, 3, 4),
  sharedFailures: fc.constantFrom(2, 3, 5),
  sharedTools: fc.constantFrom(2, 3),
  mixedFailures: fc.constantFrom(2, 4, 7),
  windowSteps: fc.constantFrom(1, 2, 3),
  windowMs: fc.constantFrom(1, 45_000, 60_000),
};
const afterMs = fc.constantFrom(1, 60_000, 120_000);
const probeAfterMs = fc.constantFrom(1, 45_000, 300_000);

const ofSession = fc.record({ ...sharing, recovery: fc.record({ afterMs }) }, { requiredKeys: [] });
const pause = fc.constantFrom<'all' | 'affected'>('all', 'affected');
const byProbe = fc.record({ probeAfterMs, maxProbeAfterMs: fc.constant(300_000) }, { requiredKeys: ['probeAfterMs'] });
const ofProcess = fc.record(
  {
    ...sharing,
    pause,
    recovery: fc.oneof(fc.record({ afterMs }), fc.record({ afterMs, probeAfterMs }), byProbe),
  },
  { requiredKeys: [] },
);

const inScope = (scope: 'session' | 'process' | 'none', own: typeof ofSession | typeof ofProcess) =>
  fc.record({
    scope: fc.constant(scope),
    ofSessions: ownTools(scope === 'process' ? ownKey : ownTool),
    systemic: fc.oneof(
      { weight: 1, arbitrary: fc.constant(false as const) },
      { weight: 5, arbitrary: fc.constant({}) },
      { weight: 3, arbitrary: own },
    ),
  });

/** C18: none of them contradicts settings of the tools above. */
const ownTool: fc.Arbitrary<SessionToolConfig> = fc.record(
  {
    profile: fc.constantFrom('default', 'fast'),
    failureThreshold: threshold,
    keysThreshold: fc.constantFrom<number | false>(2, false),
    probes: fc.constantFrom(1, 2),
    probeAfterSteps: fc.constantFrom(1, 2),
    cooldownMs: fc.constantFrom(1, 30_000, 60_000),
    maxInFlight: fc.constantFrom(1, 2),
    mode: modes,
    key: fc.constantFrom(keyOf, false as const),
  },
  { requiredKeys: [] },
);
const ownKey = fc.record({ key: fc.constantFrom(keyOf, false as const) }, { requiredKeys: [] });
/** A call of a tool that is declared before it ends is judged by the settings of an undeclared one: there the two differ. */
const withoutMode = (own: fc.Arbitrary<SessionToolConfig>) => own.map(({ mode: _, ...rest }) => rest);

const ownTools = (own: fc.Arbitrary<SessionToolConfig>) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant([undefined]) },
    fc.array(
      fc.oneof(
        fc.constant(undefined),
        fc.record({ a: own, b: own, late: withoutMode(own), made_up: own }, { requiredKeys: [] }),
      ),
      { minLength: 1, maxLength: 3 },
    ),
  );

const anyScope = fc.oneof(
  { weight: 4, arbitrary: inScope('session', ofSession) },
  { weight: 3, arbitrary: inScope('process', ofProcess) },
  { weight: 1, arbitrary: inScope('none', ofSession) },
);

/** Configurations, the default one among them often enough. */
export const configs: fc.Arbitrary<CaseConfig> = fc
  .record({
    own: fc.record({
      tools,
      groups: fc.record({ g: group, 'model:p': group }, { requiredKeys: ['g'] }),
      models,
      defaults: fc.oneof(
        { weight: 9, arbitrary: fc.constant({}) },
        fc.record({ mode: fc.constantFrom(...CIRCUIT_MODES) }),
      ),
      checked: fc.constantFrom<string[]>([], [], ['a'], ['a', 'b']),
      allowedTools: fc.oneof(
        { weight: 8, arbitrary: fc.constant(EVERY_TOOL) },
        fc.constantFrom(['a', 'b', 'late'], ['b']),
      ),
      loopGuard: fc.constantFrom<NonNullable<BreakerboxConfig['loopGuard']>>(
        {},
        { repeats: 1 },
        { circles: true },
        { repeats: 2, circles: true },
        false,
      ),
      budget,
      limits: limitsOfRun,
    }),
    anyScope,
  })
  // P4 is no part of the model: chains of tools may wait as long as they like.
  .map(({ own, anyScope: scoped }) => ({ ...own, ...scoped, chainBackoffMs: 1e12 }));

/** Sessions that share their circuits, and can pay for many events: those end by probes (S5). */
export const sharedConfigs: fc.Arbitrary<CaseConfig> = fc
  .record({
    tools,
    groups: fc.record({ g: group }),
    systemic: fc.record({ ...sharing, pause, recovery: byProbe }, { requiredKeys: [] }),
    limits: fc.record(limits, { requiredKeys: ['failures'] }),
  })
  .map(({ limits: own, ...rest }) => ({
    ...{ ...rest, checked: [], loopGuard: false as const, scope: 'process' as const, chainBackoffMs: 1e12 },
    budget: { ...own, failures: own.failures * 10 },
  }));

/** Limits and repeated calls that a few calls reach, and nothing that pauses before. */
export const tightConfigs: fc.Arbitrary<CaseConfig> = fc
  .record({ own: configs, repeats: fc.constantFrom(1, 2), tokens: fc.constantFrom(100, 400) })
  .map(({ own, repeats, tokens }) => ({
    ...own,
    ...{ checked: [], loopGuard: { repeats }, limits: { tokens }, systemic: false as const },
    budget: { failures: 100 },
  }));

const share = fc.constantFrom<NonNullable<ToolConfig['share']>>('fleet', 'fleet', 'fleet', 'box');

/** Processes of a fleet: circuits that it shares, and others (G2). */
export const fleetConfigs: fc.Arbitrary<CaseConfig> = fc
  .record({
    own: sharedConfigs,
    systemic: fc.oneof(
      fc.constant(false as const),
      { weight: 3, arbitrary: fc.constant({}) },
      { weight: 3, arbitrary: fc.record({ ...sharing, pause, recovery: byProbe }, { requiredKeys: [] }) },
    ),
    shares: fc.record({ a: share, b: share, c: share, g: share, defaults: share }),
    isObserved: fc.constantFrom(false, false, false, false, true),
  })
  .map(({ own, systemic, shares, isObserved }) => ({
    ...own,
    systemic,
    fleet: { join: () => {} },
    defaults: { share: shares.defaults, ...(isObserved && { mode: 'observe_only' as const }) },
    groups: { ...own.groups, g: { ...own.groups?.g, share: shares.g } },
    tools: Object.fromEntries(
      Object.entries(own.tools).map(([name, tool]) => [name, { ...tool, share: shares[name as 'a' | 'b' | 'c'] }]),
    ),
  }));

/** Budgets that a few calls do not empty. */
export const largeBudgets: fc.Arbitrary<CaseConfig> = fc.record({
  tools: fc.constant({ a: { failureThreshold: 3 }, b: { failureThreshold: 3 }, c: { failureThreshold: 250 } }),
  checked: fc.constant([]),
  budget: fc.record({
    rule: fc.constantFrom('window', 'strict'),
    failures: fc.constantFrom(500, 5_000),
    tokens: fc.constantFrom(3_000, 1_000_000),
  }),
});
