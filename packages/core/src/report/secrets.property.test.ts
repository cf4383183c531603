import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLedger, type Ledger } from '../budget/ledger.ts';
import { createStrictBudget } from '../budget/strict.ts';
import { systemicEvent } from '../budget/systemic.ts';
import { createWindowBudget, withCharges } from '../budget/window.ts';
import { TRIPS } from '../circuit/trip-policies/trip-policies.ts';
import { ERROR_CATEGORIES } from '../classify/taxonomy.ts';
import { FRESHNESS_KINDS } from '../freshness/freshness.ts';
import type { IgnoredFor } from '../outcome.ts';
import { REASONS, type Reason } from '../reasons.ts';
import type { Route, ScopePlan } from '../routing/route.ts';
import type { ToolTally } from '../session-tools.ts';
import type { CircuitView } from '../view.ts';
import { formatPlanReport, formatReport, formatStateTable, formatSystemicReport } from './format.ts';
import { buildReport, type ReportFacts } from './report.ts';

const name = fc.oneof(
  fc.constantFrom(
    'search',
    'fetch',
    'group:web',
    'group:a\u001bb',
    'group:',
    '__proto__',
    'constructor',
    '',
    ' ',
    'a\nb',
    '検索',
  ),
  fc.string({ unit: 'binary', maxLength: 80 }),
);
const times = fc.nat({ max: 2_000 });
const category = fc.constantFrom(...ERROR_CATEGORIES);
const reason = fc.constantFrom(...(Object.keys(REASONS) as Reason[]));
const at = fc.record({ ms: fc.double({ min: 0, max: 1e9, noNaN: true }), step: times, stepMs: times });
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });

const circuit: fc.Arbitrary<CircuitView> = fc.record({
  tool: name,
  group: maybe(fc.constantFrom('web', '', 'a\u001bb')),
  state: fc.constantFrom('closed', 'open', 'half_open', 'forced_open', 'disabled', 'observe_only'),
  generation: times,
  failures: times,
  category: maybe(category),
  trip: maybe(fc.constantFrom(...TRIPS)),
  openForMs: maybe(fc.double({ min: -10, max: 1e10, noNaN: true })),
  nextProbe: maybe(
    fc
      .record({
        steps: maybe(fc.integer({ min: -9, max: 99 })),
        ms: maybe(fc.integer({ min: -9, max: 1e7 })),
        causes: times,
      })
      .map(({ steps, ms, causes }) => ({
        ...(steps !== undefined && { steps }),
        ...(ms !== undefined && { ms }),
        notBeforeMs: causes,
      })),
  ),
  openKeys: times,
  failedKeys: times,
});

/** What a report must not contain is where the engine might leave it: in a result, a function, an extra property. */
const routes = (secret: string) =>
  ({
    alternative: {
      kind: 'alternative',
      tool: 'fetch',
      method: undefined,
      degradation: 'high',
      note: 'older',
      adapt: () => secret,
    },
    manual: { kind: 'manual', fallback: 'ask' },
    stale: { kind: 'stale', result: { secret }, label: { kind: 'stale', retrievedUnixMs: 0 } },
    defer: { kind: 'defer' },
  }) as const satisfies Record<Route['kind'], Route>;

const tally = (secret: string) =>
  fc
    .record({
      decisions: fc.dictionary(reason, times),
      succeeded: times,
      failed: times,
      ignored: times,
      ignoredBy: fc.array(
        fc.record({
          category: fc.oneof(category, fc.constant('key' as const)),
          ignoredFor: fc.constantFrom<IgnoredFor | undefined>('nested', 'caller', undefined),
          times,
        }),
      ),
      tokensWasted: times,
      routes: fc.dictionary(fc.constantFrom<Route['kind']>('alternative', 'manual', 'stale', 'defer'), times),
      alternatives: fc.dictionary(name, times),
      freshness: fc.dictionary(fc.constantFrom(...FRESHNESS_KINDS), times),
    })
    .map((one): ToolTally => Object.assign(one, { arguments: secret, lastResult: { secret } }));

const charge = (secret: string) =>
  fc.record({ tool: name, category, at, tokens: times }).map((one) => Object.assign(one, { error: secret }));

const openings = fc.array(fc.record({ tool: name, category, at, unixMs: fc.maxSafeInteger() }), {
  minLength: 1,
  maxLength: 6,
});

/** Of either rule. */
const ledger = (secret: string): fc.Arbitrary<Ledger> =>
  fc
    .oneof(strictLedger(secret), windowLedger(secret))
    .chain((ledgerPair) => fc.boolean().map((exhausted) => ({ ...ledgerPair, exhausted })));

const strictLedger = (secret: string): fc.Arbitrary<Ledger> =>
  fc
    .record({
      charges: fc.array(charge(secret), { maxLength: 8 }),
      provisional: fc.array(charge(secret), { maxLength: 3 }),
      consumed: times,
      tokenLimit: maybe(times),
    })
    .map(({ provisional, ...budget }) =>
      createLedger({
        ...createStrictBudget(5),
        ...budget,
        provisional: provisional.map((one) => ({ ...one, anchor: { tool: one.tool, at: one.at } })),
      }),
    );

const windowLedger = (secret: string): fc.Arbitrary<Ledger> =>
  fc
    .record({
      charges: fc.array(
        fc
          .tuple(
            charge(secret),
            fc.boolean(),
            fc.constantFrom<object>({}, { event: true }, { uncapped: true, count: 7 }),
          )
          .map(([one, provisional, more]) => ({ ...one, provisional, ...more })),
        { maxLength: 8 },
      ),
      spent: fc.array(fc.record({ at, tokens: times }), { maxLength: 3 }),
      consumed: times,
      tokenLimit: maybe(times),
    })
    .map((budget) => createLedger(withCharges({ ...createWindowBudget({ limit: 5 }), ...budget })));

const event = fc
  .tuple(openings, maybe(name), maybe(name))
  .map(([list, dependency, group]) =>
    systemicEvent(list, { sharedDependency: () => dependency, sharedGroup: () => group }),
  );

const scope = (secret: string): fc.Arbitrary<ScopePlan> => {
  const { alternative, ...others } = routes(secret);
  const route = fc.constantFrom(others.manual, others.stale, others.defer);
  return fc.record({
    decision: fc.constantFrom('proceed', 'reduce', 'pause'),
    achievable: fc.array(
      fc.record({ task: name, degraded: fc.array(fc.record({ tool: name, route: fc.constant(alternative) })) }),
      { maxLength: 3 },
    ),
    deferred: fc.array(
      fc.record({
        task: name,
        blockers: fc.array(fc.record({ tool: name, reason, route, unblock: fc.constant('a probe succeeds') })),
      }),
      { maxLength: 3 },
    ),
  });
};

const factsWith = (secret: string): fc.Arbitrary<ReportFacts> =>
  fc.record({
    id: name,
    agent: name,
    unixMs: fc.nat(),
    at,
    circuits: fc.array(circuit, { maxLength: 5 }),
    tallies: fc.array(fc.tuple(name, tally(secret)), { maxLength: 5 }).map((entries) => new Map(entries)),
    ledger: ledger(secret),
    event: maybe(event),
    eventProbe: maybe(fc.record({ ms: fc.integer({ min: -9, max: 1e7 }), notBeforeMs: fc.constant(0) })),
    systemicDecision: fc.constantFrom('pause', 'skip'),
    plan: maybe(scope(secret)),
    done: fc.array(name, { maxLength: 3 }),
  });

const SECRET = 'sk-live-51H8-CANARY';

const write = [formatReport, formatStateTable, formatPlanReport, formatSystemicReport] as const;

describe('Q2: reports hold no arguments, results or secrets', () => {
  test('Q2: other data in the facts enters neither the data nor the text', () => {
    fc.assert(
      fc.property(factsWith(SECRET), (facts) => {
        const report = buildReport(facts);
        const all = [JSON.stringify(report), ...write.map((format) => format(report))].join('\n');
        expect(all).not.toContain('CANARY');
      }),
    );
  });

  test('Q1: any report is plain JSON, and its text throws nothing', () => {
    fc.assert(
      fc.property(factsWith(SECRET), (facts) => {
        const report = buildReport(facts);
        expect(JSON.parse(JSON.stringify(report))).toEqual(report);
        for (const format of write) expect(format(report)).not.toMatch(/[^\P{Cc}\n]/u);
      }),
    );
  });
});
