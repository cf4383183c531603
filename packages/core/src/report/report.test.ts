import { describe, expect, test } from 'vitest';
import { buildReport } from './report.ts';
import {
  charge,
  closed,
  earlier,
  facts,
  ledger,
  NOW,
  oneOpen,
  open,
  pausedOnBudget,
  pausedSystemic,
  scopeReduced,
  sessions,
  tally,
  UNIX_NOW,
  worked,
} from './test-support.ts';

const toolOf = (report: ReturnType<typeof buildReport>, name: string) => report.tools.find(({ tool }) => tool === name);

describe('Q1: reports as data', () => {
  test.each(Object.entries(sessions))('Q1: the report of %s is plain JSON', (_, given) => {
    const report = buildReport(given);
    expect(JSON.parse(JSON.stringify(report))).toStrictEqual(report);
  });

  test('Q1: a partial report beats none', () => {
    expect(buildReport({ id: 's', agent: 'a', unixMs: UNIX_NOW, at: NOW })).toStrictEqual({
      headline: 'No tool has been used yet.',
      agent: 'a',
      session: 's',
      unixMs: UNIX_NOW,
      step: 14,
      state: 'active',
      tools: [],
      budget: null,
      systemic: null,
      scope: null,
      done: [],
      leftOut: [],
      next: [],
    });
    const nothing = { circuits: undefined, tallies: undefined, ledger: undefined, scope: undefined, done: undefined };
    expect(buildReport(facts(nothing))).toEqual(buildReport(facts()));
  });

  test("Q1: each tool's health, and what became of its calls", () => {
    expect(toolOf(buildReport(oneOpen), 'web_search')).toStrictEqual({
      tool: 'web_search',
      state: 'open',
      category: 'timeout',
      trip: 'consecutive',
      openForMs: 38_000,
      nextProbe: { steps: 1, ms: 22_000, notBeforeMs: 0 },
      generation: 1,
      failuresInRow: 0,
      calls: { made: 12, succeeded: 9, failed: 3, ignored: 0 },
      heldUp: {
        skipped: 7,
        paused: 0,
        reasons: { open: 6, probe_in_flight: 1 },
        routes: { alternative: 5, stale: 1, manual: 1 },
        alternatives: [
          { tool: 'news_search', times: 4 },
          { tool: 'fetch_page', times: 1 },
        ],
      },
      wouldHaveBeenHeldUp: 0,
      tokensWasted: 3_600,
      labels: {},
    });
  });

  test('Q1, C1: of an observed tool, what would have been held up was not', () => {
    const observed = tally({ decisions: { closed: 2, would_skip: 3, would_pause: 1 }, succeeded: 6 });
    const report = buildReport(
      facts({ circuits: [{ ...closed('a'), state: 'observe_only' }], tallies: new Map([['a', observed]]) }),
    );
    expect(toolOf(report, 'a')).toMatchObject({
      calls: { made: 6 },
      wouldHaveBeenHeldUp: 4,
      heldUp: { skipped: 0, paused: 0 },
    });
    expect(report.leftOut).toEqual([]);
  });

  test('Q1, B5: a tool without a circuit is reported by its calls', () => {
    const report = buildReport(facts({ tallies: new Map([['a', worked(2)]]) }));
    expect(toolOf(report, 'a')).toMatchObject({
      state: null,
      generation: null,
      nextProbe: null,
      calls: { succeeded: 2 },
    });
  });

  test('Q1, B1: each failure charged, first to last, with the one of an event and those that may become one', () => {
    const merged = { ...charge('a', 'network', 90_000, 5), event: true as const };
    const pending = { ...charge('c', 'server', 60_000, 7), anchor: { tool: 'b', at: earlier(70_000, 6) } };
    const late = charge('b', 'server', 2_000.4, 14, 800);
    const { budget } = buildReport(
      facts({ ledger: ledger([merged, late], {}, { tokenLimit: 1_000, cycle: 2, provisional: [pending] }) }),
    );
    expect(budget).toStrictEqual({
      limit: 5,
      cycle: 2,
      earlier: null,
      remaining: 3,
      caution: true, // B4: one more failure as dear as the last one would be the last.
      exhausted: false,
      tokens: { limit: 1_000, remaining: 200 },
      charges: [
        { tool: 'a', category: 'network', step: 5, agoMs: 90_000, tokens: 0, standing: 'systemic' },
        { tool: 'c', category: 'server', step: 7, agoMs: 60_000, tokens: 0, standing: 'provisional' },
        { tool: 'b', category: 'server', step: 14, agoMs: 2_000, tokens: 800, standing: 'charged' },
      ],
    });
  });

  test('S4: the shared category, the tools, the suspected layer, and when each opened', () => {
    const { systemic, state } = buildReport(pausedSystemic);
    expect(state).toBe('paused_systemic');
    expect(systemic).toStrictEqual({
      category: 'network',
      layer: 'dependency',
      dependency: 'postgres-main',
      tools: [
        { tool: 'crm_lookup', category: 'network', unixMs: UNIX_NOW - 92_000 },
        { tool: 'order_status', category: 'network', unixMs: UNIX_NOW - 47_000 },
        { tool: 'invoice_search', category: 'network', unixMs: UNIX_NOW - 12_000 },
      ],
    });
  });

  test('W1: what is done is neither to be done nor deferred', () => {
    const both = buildReport({
      ...scopeReduced,
      done: ['collect sources', ...(scopeReduced.scope?.deferred ?? []).map(({ task }) => task)],
    });
    expect(both.scope?.achievable.map(({ task }) => task)).toEqual([
      'summarise the news of the week',
      'draft the letter',
    ]);
    expect(both.scope?.deferred).toEqual([]);
    expect(both.done).toHaveLength(2);
  });

  test('W2: each skip, deferral, degradation and label is in one list', () => {
    const scoped = buildReport(scopeReduced);
    expect(scoped.leftOut.map((one) => [one.kind, 'task' in one ? one.task.slice(0, 9) : one.tool])).toEqual([
      ['deferred', 'look up t'],
      ['degraded', 'summarise'],
      ['held_up', 'web_search'],
      ['held_up', 'crm_lookup'],
    ]);
    expect(scoped.leftOut[1]).toEqual({
      kind: 'degraded',
      task: 'summarise the news of the week',
      tool: 'web_search',
      alternative: 'news_search',
      degradation: 'low',
      note: 'recent items only',
    });
    expect(buildReport(oneOpen).leftOut).toContainEqual({
      kind: 'label',
      tool: 'fetch_page',
      label: 'cached',
      times: 3,
    });
  });
});

describe('Q1: what is the matter, and what to do next', () => {
  const headline = (given: Parameters<typeof facts>[0]) => buildReport(facts(given)).headline;
  const probing = { ...open('b', 'server', 1, 1), state: 'half_open' as const };
  const off = { ...closed('c'), state: 'forced_open' as const };

  test('Q1: the headline names what is out', () => {
    expect(headline({ circuits: [closed('a')] })).toBe('The only tool works.');
    expect(headline({ circuits: [closed('a'), open('b', 'server', 1, 1)] })).toBe('1 of 2 tools is out: b (server).');
    expect(headline({ circuits: [probing, off] })).toBe(
      '2 of 2 tools are out: b (server, probing) and c (switched off).',
    );
    const many = Array.from('abcdefg', (tool) => open(tool, 'server', 1, 1));
    expect(headline({ circuits: many })).toBe('7 of 7 tools are out: a (server), b (server), c (server) and 4 more.');
  });

  test('Q1: the headline of a session that has recovered says that calls were held up', () => {
    const tallies = new Map([['a', worked(1, { decisions: { closed: 1, open: 1 } })]]);
    expect(headline({ circuits: [closed('a'), closed('b')], tallies })).toBe(
      'All 2 tools work; 1 call of this run was held up.',
    );
  });

  test('Q1, B1, B4: a pause on the budget says which one, and who has spent it', () => {
    expect(buildReport(pausedOnBudget).headline).toBe('PAUSED, failure budget: all 5 failures are spent.');
    expect(buildReport(pausedOnBudget).next[0]).toBe(
      'Look at web_search first: 3 of the 5 failures are its own (timeout).',
    );
    const dear = ledger([charge('a', 'server', 1, 2, 12_000)], { exhausted: true }, { tokenLimit: 12_000, cycle: 3 });
    const report = buildReport(facts({ circuits: [closed('a', 1)], ledger: dear }));
    expect(report.headline).toBe('PAUSED, failure budget: failed calls of cycle 3 have wasted all 12,000 tokens.');
    expect(report.next).toEqual([
      'Look at a first: the failure is its own (server).',
      'Then call session.resume(): it starts cycle 4 with 5 failures and 12,000 tokens.',
    ]);
  });

  test('Q1: a paused session whose budget is unknown still has a report', () => {
    const none = ledger([], { exhausted: true });
    expect(buildReport(facts({ ledger: none })).next[0]).toBe('Find out why the calls failed.');
  });

  test.each([
    ['network', 'network', 'Check the network: a and b failed with network.'],
    ['unknown', undefined, 'Find what they have in common: a and b failed together.'],
  ] as const)('Q1, S4: where to look when the layer is %s', (layer, category, sentence) => {
    const openings = ['a', 'b'].map((tool) => ({ tool, category: 'network' as const, at: NOW, unixMs: UNIX_NOW }));
    const event = { category, layer, dependency: undefined, openings };
    const { next } = buildReport(facts({ ledger: ledger([], { event, exhausted: true }) }));
    expect(next[0]).toBe(sentence);
    expect(next.slice(1).map((one) => /session\.\w+\(\)/.exec(one)?.[0])).toEqual([
      'session.confirmRecovered()', // S5
      'session.resume()', // B1: spent as well.
    ]);
  });

  test('Q1: what only a person can mend is said', () => {
    const tallies = new Map([
      ['x', tally({ decisions: { not_allowed: 1 } })],
      ['y', tally({ decisions: { repeat: 2 } })],
    ]);
    const { next } = buildReport(facts({ circuits: [off], tallies, ledger: ledger([], {}, { consumed: 4 }) }));
    expect(next.map((sentence) => sentence.split(/[:.]/)[0])).toEqual([
      'Switched off by hand',
      'Not allowed',
      'Repeated to no avail',
      'Mind the budget',
    ]);
  });
});
