import { describe, expect, test } from 'vitest';
import type { Ledger } from '../budget/ledger.ts';
import { isUnavailable } from './next.ts';
import { buildReport } from './report.ts';
import {
  charge,
  closed,
  earlier,
  facts,
  groupOpen,
  inGroup,
  ledger,
  NOW,
  oneOpen,
  open,
  pausedStrictly,
  strictCharge,
  strictLedger,
  systemicSkipping,
  tally,
  UNIX_NOW,
  worked,
} from './test-support.report.ts';

const toolOf = (report: ReturnType<typeof buildReport>, name: string) => report.tools.find(({ tool }) => tool === name);

describe('Q1: reports as data', () => {
  test("Q1: the report has each tool's health and the results of its calls", () => {
    expect(toolOf(buildReport(oneOpen), 'web_search')).toStrictEqual({
      tool: 'web_search',
      state: 'open',
      group: null,
      groupState: null,
      category: 'timeout',
      trip: 'consecutive',
      openForMs: 38_000,
      nextProbe: { steps: 1, ms: 22_000, notBeforeMs: 0 },
      generation: 1,
      failuresInRow: 0,
      openKeys: 0,
      failedKeys: 0,
      calls: { made: 12, succeeded: 9, failed: 3, ignored: 0, ignoredErrors: 0, keyFailures: 0 },
      rejected: {
        skipped: 7,
        paused: 0,
        reasons: { open: 6, probe_in_flight: 1 },
        routes: { alternative: 5, stale: 1, manual: 1 },
        alternatives: [
          { tool: 'news_search', times: 4 },
          { tool: 'fetch_page', times: 1 },
        ],
      },
      wouldHaveBeenRejected: 0,
      tokensWasted: 3_600,
      labels: {},
    });
  });

  test('Q1, C1: for an observed tool, calls that would have been skipped or paused were made', () => {
    const observed = tally({ decisions: { closed: 2, would_skip: 3, would_pause: 1 }, succeeded: 6 });
    const report = buildReport(
      facts({ circuits: [{ ...closed('a'), state: 'observe_only' }], tallies: new Map([['a', observed]]) }),
    );
    expect(toolOf(report, 'a')).toMatchObject({
      calls: { made: 6 },
      wouldHaveBeenRejected: 4,
      rejected: { skipped: 0, paused: 0 },
    });
    expect(report.leftOut).toEqual([]);
  });

  test('Q1, B5: the report shows a tool without a circuit by its calls', () => {
    const report = buildReport(facts({ tallies: new Map([['a', worked(2)]]) }));
    expect(toolOf(report, 'a')).toMatchObject({
      state: null,
      generation: null,
      nextProbe: null,
      calls: { succeeded: 2 },
    });
  });

  test('Q1, B1: the report lists each charge in the window in order, how it counts, and when it leaves', () => {
    const event = { ...charge('a', 'network', 90_000, 5), event: true as const };
    const late = charge('b', 'server', 2_000.4, 14);
    const pending = { ...charge('group:web', 'server', 60_000, 7), provisional: true };
    expect(buildReport(facts({ ledger: ledger([late, pending, event]) })).budget).toStrictEqual({
      rule: 'window',
      limit: 5,
      cycle: 1,
      remaining: 2,
      caution: false,
      exhausted: false,
      window: { steps: 20, ms: null, calls: null },
      tokens: null,
      charges: [
        {
          ...{ tool: 'a', category: 'network', step: 5, agoMs: 90_000, tokens: 0 },
          ...{ standing: 'systemic', leavesIn: { steps: 12, ms: null, calls: null } },
        },
        {
          ...{ tool: 'group:web', category: 'server', step: 7, agoMs: 60_000, tokens: 0 },
          ...{ standing: 'provisional', leavesIn: { steps: 14, ms: null, calls: null } },
        },
        {
          ...{ tool: 'b', category: 'server', step: 14, agoMs: 2_000, tokens: 0 },
          ...{ standing: 'charged', leavesIn: { steps: 21, ms: null, calls: null } },
        },
      ],
      earlier: null,
    });
  });

  test('B1: in a session without steps charges leave by time and calls; while it is paused no charge leaves', () => {
    const at = { ms: 600_000, step: 0, stepMs: 0, calls: 5 };
    const ofLedger = (more: Partial<Ledger> = {}) =>
      buildReport(facts({ at, ledger: ledger([charge('a', 'server', 90_000, 0)], more) })).budget;
    expect(ofLedger()).toMatchObject({
      window: { steps: null, ms: 600_000, calls: 20 },
      charges: [{ leavesIn: { steps: null, ms: 510_000, calls: 16 } }],
    });
    expect(ofLedger({ exhausted: true })?.charges).toMatchObject([{ leavesIn: null }]);
  });

  test('B1: folded charges are reported as earlier charges', () => {
    const folded = { ...charge('a', 'server', 90_000, 3), uncapped: true as const, count: 70 };
    const { budget } = buildReport(
      facts({ ledger: ledger([folded, charge('b', 'server', 5_000, 13)], {}, { limit: 300 }) }),
    );
    expect(budget).toMatchObject({ remaining: 229, earlier: { failures: 70, tokens: 0 }, charges: [{ tool: 'b' }] });
  });

  test('Q1, B4: the report has the token budget, by both rules', () => {
    const spent = [{ at: earlier(5_000, 13), tokens: 800 }];
    const sliding = buildReport(facts({ ledger: ledger([], {}, { tokenLimit: 1_000, spent }) })).budget;
    expect(sliding).toMatchObject({ tokens: { limit: 1_000, remaining: 200 }, caution: true });
    const strict = strictLedger([strictCharge('a', 'server', 5_000, 13, 800)], {}, { tokenLimit: 1_000 });
    expect(buildReport(facts({ ledger: strict })).budget).toMatchObject({
      tokens: { limit: 1_000, remaining: 200 },
      charges: [{ tokens: 800 }],
    });
  });

  test('Q1, B6: by the rule strict, the report has each charged failure and those that may be part of an event, and no charge leaves', () => {
    const merged = { ...strictCharge('a', 'network', 90_000, 5), event: true as const };
    const pending = { ...strictCharge('c', 'server', 60_000, 7), anchor: { tool: 'b', at: earlier(70_000, 6) } };
    const late = strictCharge('b', 'server', 2_000.4, 14, 800);
    const ledgerPair = strictLedger([merged, late], {}, { tokenLimit: 1_000, cycle: 2, provisional: [pending] });
    expect(buildReport(facts({ ledger: ledgerPair })).budget).toStrictEqual({
      rule: 'strict',
      limit: 5,
      cycle: 2,
      earlier: null,
      remaining: 3,
      caution: true, // B4: one more failure that costs as much as the last one would be the last.
      exhausted: false,
      window: null,
      tokens: { limit: 1_000, remaining: 200 },
      charges: [
        { tool: 'a', category: 'network', step: 5, agoMs: 90_000, tokens: 0, standing: 'systemic', leavesIn: null },
        { tool: 'c', category: 'server', step: 7, agoMs: 60_000, tokens: 0, standing: 'provisional', leavesIn: null },
        { tool: 'b', category: 'server', step: 14, agoMs: 2_000, tokens: 800, standing: 'charged', leavesIn: null },
      ],
    });
  });

  test.each([
    ['observe_only', false],
    ['disabled', false],
    ['closed', true],
    ['forced_open', true],
  ] as const)('C1, C13: a tool that is %s is unavailable while its group is open: %s', (state, out) => {
    const circuits = [open('group:web', 'network', 1_000, 2), inGroup('web', { ...closed('a'), state })];
    expect(buildReport(facts({ circuits })).tools.map(isUnavailable)).toEqual([out]);
  });

  test('S2, S5: in scope process an event skips what it affects, and ends by a probe', () => {
    const { systemic, state, tools } = buildReport(systemicSkipping);
    expect(state).toBe('active');
    expect(systemic).toMatchObject({ decision: 'skip', nextProbe: { steps: null, ms: 260_000, notBeforeMs: 0 } });
    expect(tools.map(({ rejected: { skipped, paused } }) => [skipped, paused])).toEqual([
      [4, 0],
      [1, 0],
      [0, 0],
    ]);
    const spent = buildReport({ ...systemicSkipping, ledger: ledger([], { exhausted: true }) });
    expect(spent.state).toBe('paused_budget');
    expect(buildReport({ ...systemicSkipping, systemicDecision: 'pause' }).state).toBe('paused_systemic');
  });
});

describe('Q1: the problem, and the next action', () => {
  const headline = (given: Parameters<typeof facts>[0]) => buildReport(facts(given)).headline;
  const probing = { ...open('b', 'server', 1, 1), state: 'half_open' as const };
  const off = { ...closed('c'), state: 'forced_open' as const };

  test('Q1: the headline names unavailable tools', () => {
    const tallies = new Map([['a', worked(1)]]);
    expect(headline({ circuits: [closed('a')], tallies })).toBe('The only tool works.');
    expect(headline({ circuits: [closed('a'), open('b', 'server', 1, 1)] })).toBe(
      '1 of 2 tools is unavailable: b (server).',
    );
    expect(headline({ circuits: [probing, off] })).toBe(
      '2 of 2 tools are unavailable: b (server, probing) and c (switched off).',
    );
    const partly = { ...closed('fetch_page'), openKeys: 2 };
    const observed = { ...partly, state: 'observe_only' as const };
    expect(headline({ circuits: [closed('a'), partly] })).toBe('fetch_page: 2 targets are unavailable.');
    expect(headline({ circuits: [{ ...partly, tool: 'b', openKeys: 1 }, partly] })).toBe(
      'b: 1 target is unavailable and fetch_page: 2 targets are unavailable.',
    );
    expect(headline({ circuits: [{ ...observed, tool: 'a' }], tallies })).toBe('The only tool works.');
    const many = Array.from('abcdefg', (tool) => open(tool, 'server', 1, 1));
    expect(headline({ circuits: many })).toBe(
      '7 of 7 tools are unavailable: a (server), b (server), c (server) and 4 more.',
    );
  });

  test('Q1, L3: a refused key and used-up credit of a model say what to check first', () => {
    const circuits = [
      open('group:model:openai', 'permission', 1, 1),
      open('model:google/gemini-3', 'resource', 1, 1),
      open('search', 'permission', 1, 1),
    ];
    expect(buildReport(facts({ circuits })).next.slice(0, 2)).toEqual([
      'Check the key of provider openai: it was refused.',
      'Check the credit and the quota of model:google/gemini-3: they are used up.',
    ]);
  });

  test('Q1, C13: tools that are unavailable because of their group are counted, and the group is named', () => {
    expect(buildReport(groupOpen).headline).toBe(
      '3 of 5 tools are unavailable: group github (network) and delete_repo (switched off).',
    );
    const circuits = [
      { ...open('group:web', 'timeout', 1, 1), state: 'half_open' as const },
      inGroup('web', closed('a')),
    ];
    const report = buildReport(facts({ circuits }));
    expect(report.headline).toBe('1 of 1 tool is unavailable: group web (timeout, probing).');
    expect(report.next).toEqual(['Wait for the next probes of group web. If they fail, look for the cause.']);
    const switchedOff = buildReport(facts({ circuits: [{ ...closed('group:web'), state: 'forced_open' }] }));
    expect(switchedOff.next[0]).toContain('Switched off by hand: group web.');
  });

  test('Q1: the headline of a session that has recovered says that calls were skipped or paused', () => {
    const tallies = new Map([
      ['a', worked(1, { decisions: { closed: 1, open: 1 } })],
      ['b', worked(1)],
    ]);
    expect(headline({ circuits: [closed('a'), closed('b')], tallies })).toBe(
      'All 2 tools work; 1 call of this run was skipped or paused.',
    );
  });

  test('Q1, B4: the headline also names a pause on the tokens', () => {
    const spent = [{ at: earlier(5_000, 13), tokens: 12_000 }];
    const ledgerPair = ledger([charge('a', 'server', 1, 2)], { exhausted: true }, { tokenLimit: 12_000, spent });
    const report = buildReport(facts({ circuits: [closed('a', 1)], ledger: ledgerPair }));
    expect(report.headline).toBe(
      'PAUSED, failure budget: the 12,000 tokens that failed calls may cost in 20 steps are used up.',
    );
    expect(report.next).toEqual([
      'Look at a first: it caused 1 of the 1 charge (server).',
      'Then call session.resume(): it clears all charges, so that 5 failures and 12,000 tokens are allowed again. ' +
        'While the session is paused, no charge leaves the budget.',
    ]);
  });

  test('Q1, B6: by the rule strict, the spent budget is that of the cycle', () => {
    const { headline: first, next } = buildReport(pausedStrictly);
    expect(first).toBe('PAUSED, failure budget: all 5 failures allowed in cycle 2 are used up.');
    expect(next[0]).toBe('Look at web_search first: it caused 3 of the 5 failures (timeout).');
    const ledgerPair = strictLedger(
      [strictCharge('a', 'server', 1, 2, 12_000)],
      { exhausted: true },
      { tokenLimit: 12_000, cycle: 3 },
    );
    const report = buildReport(facts({ circuits: [closed('a', 1)], ledger: ledgerPair }));
    expect(report.headline).toBe(
      'PAUSED, failure budget: failed calls in cycle 3 have used up the token budget of 12,000 tokens.',
    );
    expect(report.next).toEqual([
      'Look at a first: it caused 1 of the 1 failure (server).',
      'Then call session.resume(): it starts cycle 4 with 5 failures and 12,000 tokens.',
    ]);
  });

  test('Q1: a paused session whose budget is unknown still has a report', () => {
    const none = ledger([], { exhausted: true });
    expect(buildReport(facts({ ledger: none })).next[0]).toBe('Find out why the calls failed.');
  });

  test.each([
    ['network', 'network', {}, 'Check the network: a and b failed in the same way (network).'],
    ['unknown', undefined, {}, 'Find what they have in common: a and b failed at the same time.'],
    ['group', 'network', { group: 'web' }, 'Check group web: a and b all belong to it.'],
    ['dependency', 'network', { dependency: 'db', group: 'web' }, 'Check db, the dependency that a and b share.'],
  ] as const)('Q1, S4: the report says where to look when the layer is %s', (layer, category, shared, sentence) => {
    const openings = ['a', 'b'].map((tool) => ({ tool, category: 'network' as const, at: NOW, unixMs: UNIX_NOW }));
    const event = { category, layer, dependency: undefined, group: undefined, ...shared, openings };
    const { next } = buildReport(facts({ event, ledger: ledger([], { exhausted: true }) }));
    expect(next[0]).toBe(sentence);
    expect(next.slice(1).map((one) => /session\.\w+\(\)/.exec(one)?.[0])).toEqual([
      'session.confirmRecovered()', // S5
      'session.resume()', // B1: spent as well.
    ]);
  });

  test('S5: if an event ends by a probe, the report says when', () => {
    const { headline: first, next } = buildReport(systemicSkipping);
    expect(first).toBe(
      'Systemic failure, affected tools are skipped: group:github and web_search failed in the same way (network); suspect the network.',
    );
    expect(next).toEqual([
      'Check the network: group:github and web_search failed in the same way (network).',
      'A probe is due in 5 min: from then on, the next call of an affected tool is the probe. If it succeeds, the event is over. ' +
        'Call session.confirmRecovered() to end it at once. Until the event is over, only calls of the affected tools are skipped.',
    ]);
    const due = buildReport({ ...systemicSkipping, eventProbe: { ms: -4, notBeforeMs: 0 } });
    expect(due.next[1]).toContain('A probe is due now: from then on');
    const never = buildReport({ ...systemicSkipping, eventProbe: undefined });
    expect(never.next[1]).toContain('Once the cause is gone, call session.confirmRecovered().');
  });

  test('Q1, B2: a caution says when the next charge leaves', () => {
    const charges = [
      charge('a', 'server', 90_000, 5),
      charge('b', 'timeout', 80_000, 3),
      charge('c', 'network', 9, 14),
    ];
    const { next } = buildReport(facts({ ledger: ledger([...charges, charge('d', 'server', 5, 14)]) }));
    expect(next).toEqual([
      'The failure budget is almost used up: one more failure may pause the session. The next charge leaves the window in 10 steps.',
    ]);
  });

  test('Q1: the report names problems that only a person can fix', () => {
    const tallies = new Map([
      ['x', tally({ decisions: { not_allowed: 1 } })],
      ['y', tally({ decisions: { repeat: 2 } })],
    ]);
    const { next } = buildReport(facts({ circuits: [off], tallies, ledger: strictLedger([], {}, { consumed: 4 }) }));
    expect(next.map((sentence) => sentence.split(/[:.]/)[0])).toEqual([
      'Switched off by hand',
      'Not in allowedTools',
      'Repeated calls were skipped',
      'The failure budget is almost used up',
    ]);
  });
});
