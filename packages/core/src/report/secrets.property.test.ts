import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createStrictBudget } from '../budget/strict.ts';
import { createWindowBudget, withCharges } from '../budget/window.ts';
import { DEGRADATIONS } from '../capability/map.ts';
import type { Route } from '../capability/route.ts';
import type { ScopePlan } from '../capability/scope.ts';
import { TRIPS } from '../circuit/trips/counts.ts';
import { FRESHNESS_KINDS } from '../freshness.ts';
import { createLedger, type Ledger } from '../ledger.ts';
import { ERROR_CATEGORIES } from '../outcome/taxonomy.ts';
import { REASONS, type Reason } from '../reasons.ts';
import { systemicEvent } from '../systemic.ts';
import type { ToolTally } from '../tally.ts';
import type { CircuitView } from '../view.ts';
import { buildReport, type ReportFacts } from './report.ts';
import { formatReport, formatScopeReport, formatStateTable, formatSystemicReport } from './text.ts';
import { widthOf } from './width.ts';

const name = fc.oneof(
  fc.constantFrom('search', 'fetch', 'group:web', 'group:', '__proto__', 'constructor', '', ' ', 'a\nb', '検索'),
  fc.string({ unit: 'binary', maxLength: 80 }),
);
const times = fc.nat({ max: 2_000 });
const category = fc.constantFrom(...ERROR_CATEGORIES);
const reason = fc.constantFrom(...(Object.keys(REASONS) as Reason[]));
const at = fc.record({ ms: fc.double({ min: 0, max: 1e9, noNaN: true }), step: times, stepMs: times });
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });

const circuit: fc.Arbitrary<CircuitView> = fc.record({
  tool: name,
  group: maybe(fc.constantFrom('web', '', 'a\nb')),
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
        held: times,
      })
      .map(({ steps, ms, held }) => ({
        ...(steps !== undefined && { steps }),
        ...(ms !== undefined && { ms }),
        notBeforeMs: held,
      })),
  ),
  openKeys: times,
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
    .chain((books) => fc.boolean().map((exhausted) => ({ ...books, exhausted })));

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

const event = fc.tuple(openings, maybe(name), maybe(name)).map(([list, dependency, group]) =>
  systemicEvent(
    list,
    () => dependency,
    () => group,
  ),
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
    circuits: maybe(fc.array(circuit, { maxLength: 5 })),
    tallies: maybe(fc.array(fc.tuple(name, tally(secret)), { maxLength: 5 }).map((entries) => new Map(entries))),
    ledger: maybe(ledger(secret)),
    event: maybe(event),
    eventProbe: maybe(fc.record({ ms: fc.integer({ min: -9, max: 1e7 }), notBeforeMs: fc.constant(0) })),
    systemicDecision: maybe(fc.constantFrom('pause', 'skip')),
    scope: maybe(scope(secret)),
    done: maybe(fc.array(name, { maxLength: 3 })),
  });

const SECRET = 'sk-live-51H8-CANARY';

const write = [formatReport, formatStateTable, formatScopeReport, formatSystemicReport] as const;

/** Words that a report may hold beside names: those of the code, and those of the configuration above. */
const VOCABULARY: ReadonlySet<string> = new Set([
  ...ERROR_CATEGORIES,
  ...Object.keys(REASONS),
  ...DEGRADATIONS,
  ...TRIPS,
  ...FRESHNESS_KINDS,
  ...['network', 'filesystem', 'permissions', 'upstream', 'dependency', 'group', 'unknown'], // Layers.
  ...['active', 'paused_budget', 'paused_systemic', 'proceed', 'reduce', 'pause', 'skip'],
  ...['closed', 'open', 'half_open', 'forced_open', 'disabled', 'observe_only'],
  ...['window', 'strict', 'charged', 'provisional', 'systemic', 'held_up', 'deferred', 'degraded', 'label'],
  ...['older', 'ask', 'fetch', 'a probe succeeds'],
]);

const namesOf = ({
  id,
  agent,
  circuits,
  tallies,
  ledger: books,
  event: one,
  scope: plan,
  done,
}: ReportFacts): Set<string> =>
  new Set([
    id,
    agent,
    ...(circuits ?? []).flatMap(({ tool, group }) => [tool, tool.replace(/^group:/, ''), group ?? '']),
    ...[...(tallies ?? [])].flatMap(([tool, { alternatives }]) => [tool, ...Object.keys(alternatives)]),
    ...(books?.budget.charges ?? []).map(({ tool }) => tool),
    ...(books?.budget.rule === 'strict' ? books.budget.provisional : []).map(({ tool }) => tool),
    ...(one ? [...one.openings.map(({ tool }) => tool), one.dependency ?? '', one.group ?? ''] : []),
    ...(plan?.achievable ?? []).flatMap(({ task, degraded }) => [task, ...degraded.map(({ tool }) => tool)]),
    ...(plan?.deferred ?? []).flatMap(({ task, blockers }) => [task, ...blockers.map(({ tool }) => tool)]),
    ...(done ?? []),
  ]);

const leaves = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [value];

describe('Q2: reports hold no arguments, results or secrets', () => {
  test('Q2: what else is in the facts gets neither into the data nor into the text', () => {
    fc.assert(
      fc.property(factsWith(SECRET), (facts) => {
        const report = buildReport(facts);
        const all = [JSON.stringify(report), ...write.map((format) => format(report))].join('\n');
        expect(all).not.toContain('CANARY');
      }),
    );
  });

  test('Q2: beside sentences, every text of a report is a name or a word of the code, and all else a count or a time', () => {
    fc.assert(
      fc.property(factsWith(SECRET), (facts) => {
        const { headline: _, next: __, ...data } = buildReport(facts);
        const names = namesOf(facts);
        for (const leaf of leaves(data)) {
          if (typeof leaf === 'string') expect(names.has(leaf) || VOCABULARY.has(leaf), leaf).toBe(true);
          else expect(leaf === null || typeof leaf === 'boolean' || Number.isFinite(leaf), String(leaf)).toBe(true);
        }
      }),
    );
  });

  test('Q1: any report is plain JSON, and any text of it fits and throws nothing', () => {
    fc.assert(
      fc.property(factsWith(SECRET), fc.integer({ min: 20, max: 140 }), fc.boolean(), (facts, columns, colour) => {
        const report = buildReport(facts);
        expect(JSON.parse(JSON.stringify(report))).toEqual(report);
        for (const format of write) {
          const lines = format(report, { columns, colour: false }).split('\n');
          expect(lines.filter((line) => widthOf(line) > columns)).toEqual([]);
          expect(format(report, { columns, colour })).not.toBe('');
        }
      }),
    );
  });
});
