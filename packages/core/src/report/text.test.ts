import { describe, expect, test } from 'vitest';
import { buildReport } from './report.ts';
import {
  charge,
  closed,
  facts,
  healthy,
  ledger,
  nastyNames,
  oneOpen,
  open,
  pausedOnBudget,
  pausedSystemic,
  scopeReduced,
  sessions,
  tally,
} from './test-support.ts';
import { formatPauseReport, formatReport, formatScopeReport, formatStateTable, formatSystemicReport } from './text.ts';
import { widthOf } from './width.ts';

/**
 * Golden files: how each report reads. After a wanted change, `vitest run packages/core/src/report --update` writes them again;
 * read the difference before committing it. In CI a difference fails.
 */
const golden = (text: string, name: string) => expect(`${text}\n`).toMatchFileSnapshot(`golden/${name}.txt`);

const named = Object.entries(sessions).map(([name, facts]) => ({ name, report: buildReport(facts) }));

const formats = { formatReport, formatStateTable, formatScopeReport, formatPauseReport, formatSystemicReport };

const everyText = (options: { columns?: number; colour?: boolean } = {}): string[] =>
  named.flatMap(({ report }) => Object.values(formats).map((format) => format(report, options)));

const ANSI = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g');

describe('Q1: reports as text', () => {
  test.each(named)('Q1: the report of $name', ({ name, report }) => golden(formatReport(report), name));

  test('Q1: state table', () => golden(formatStateTable(buildReport(oneOpen)), 'state-table'));
  test('Q1, W1: scope report', () => golden(formatScopeReport(buildReport(scopeReduced)), 'scope-report'));
  test('Q1, S4: systemic report', () => golden(formatSystemicReport(buildReport(pausedSystemic)), 'systemic-report'));
  test('Q1: in a narrow terminal', () => golden(formatReport(buildReport(oneOpen), { columns: 40 }), 'one-open-40'));
  test('Q1: in colour', () =>
    golden(formatReport(buildReport(pausedOnBudget), { colour: true }), 'paused-budget-colour'));

  test('Q1: a report that fits the state', () => {
    const paused = buildReport(pausedOnBudget);
    expect(formatReport(paused)).toBe(formatPauseReport(paused));
    expect(formatReport(buildReport(healthy))).toContain('All 3 tools work.');
  });

  test.each([
    [0, 'under 1 s', 'just now'],
    [999, 'under 1 s', 'just now'],
    [1_000, '1 s', '1 s ago'],
    [38_000, '38 s', '38 s ago'],
  ])('Q1: all tables agree on how long ago %i ms are', (ms, lasted, ago) => {
    const charges = ledger([charge('a', 'network', ms, 14)]);
    const report = buildReport(facts({ circuits: [open('a', 'network', ms, 3)], ledger: charges }));
    expect(formatReport(report)).toMatch(new RegExp(`^  a +open +network +${lasted} +3 steps`, 'm'));
    expect(formatReport(report)).toMatch(new RegExp(`^ +${ago} +14 +a +network`, 'm'));
  });

  test('Q1: the reports of what there is not say so', () => {
    const report = buildReport(healthy);
    expect(formatSystemicReport(report)).toMatch(/^No systemic failure\.\n/);
    expect(formatScopeReport(report)).toMatch(/^No scope was planned\.\n/);
  });

  test.each([20, 30, 40, 64, 80, 132])('Q1: no line is wider than %i columns', (columns) => {
    for (const text of everyText({ columns })) {
      for (const line of text.split('\n')) expect(widthOf(line), line).toBeLessThanOrEqual(columns);
    }
  });

  test('Q1: 80 columns unless said, also where the terminal has no width', () => {
    const report = buildReport(pausedSystemic);
    for (const columns of [undefined, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(formatReport(report, { columns })).toBe(formatReport(report, { columns: 80 }));
    }
    for (const columns of [0, -1, 19.9]) {
      expect(formatReport(report, { columns })).toBe(formatReport(report, { columns: 20 }));
    }
  });

  test('Q1: colour changes nothing but colour, and there is none unless asked for', () => {
    expect(everyText({ colour: true }).map((text) => text.replace(ANSI, ''))).toEqual(everyText());
    for (const text of everyText()) expect(text).not.toMatch(ANSI);
  });

  test('Q1: names can do nothing to a terminal, and stand on one line', () => {
    const text = formatReport(buildReport(nastyNames));
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(text).toContain('two\\nlines\\x1b[31m');
  });

  test('Q1: no line ends in blanks, and no two are empty', () => {
    for (const text of everyText({ colour: true })) {
      expect(text.split('\n').filter((line) => line.endsWith(' '))).toEqual([]);
      expect(text).not.toContain('\n\n\n');
    }
  });

  test('Q1, O4, C1: what no column shows is remarked on', () => {
    const circuits = [{ ...closed('a'), state: 'observe_only' as const }];
    const counted = tally({ decisions: { would_skip: 2 }, failed: 1, ignored: 1, tokensWasted: 1_500 });
    const text = formatReport(buildReport(facts({ circuits, tallies: new Map([['a', counted]]) })));
    expect(text.split('Remarks\n')[1]?.split('\n')).toEqual([
      '  - Ignored results, which say nothing of health: a 1.',
      '  - Tokens wasted on failed calls: a 1,500.',
      '  - Only observed; would have been skipped or paused: a 2.',
    ]);
  });

  test('Q1: a paused session probes nothing, so no wait for a probe is shown', () => {
    expect(formatReport(buildReport(oneOpen))).toContain('next probe');
    expect(formatReport(buildReport(pausedOnBudget))).not.toContain('next probe');
  });

  test.each([
    [{ steps: 2, ms: 40_000, notBeforeMs: 0 }, '2 steps/40 s'],
    [{ steps: 1, notBeforeMs: 0 }, '1 step'],
    [{ ms: 40_000, notBeforeMs: 0 }, '40 s'],
    [{ steps: 0, ms: 40_000, notBeforeMs: 0 }, 'due'],
    [{ steps: 2, ms: -3, notBeforeMs: 0 }, 'due'],
    [{ steps: 0, notBeforeMs: 9_000 }, '9 s'],
    [{ steps: 2, ms: 5_000, notBeforeMs: 9_000 }, '9 s'],
    [{ steps: 2, ms: 40_000, notBeforeMs: 9_000 }, '2 steps/40 s, 9 s least'],
  ])('Q1, P1, O3: a probe that is %o away is shown as %s', (nextProbe, shown) => {
    const text = formatStateTable(buildReport(facts({ circuits: [{ ...open('a', 'server', 1_000, 1), nextProbe }] })));
    expect(text.split('\n')[5]?.trim().replace(/ +/g, ' ')).toBe(`a open server 1 s ${shown}`);
  });

  test('S4: categories that differ are not called shared', () => {
    const report = buildReport(pausedSystemic);
    const mixed = report.systemic && {
      ...report.systemic,
      category: null,
      layer: 'unknown' as const,
      dependency: null,
    };
    expect(formatSystemicReport({ ...report, systemic: mixed })).toContain('category: none that all share\n  suspect:');
  });

  test('Q1: a report that has been through JSON reads the same', () => {
    for (const { report } of named) {
      expect(formatReport(JSON.parse(JSON.stringify(report)))).toBe(formatReport(report));
    }
  });

  test('Q1: a partial report beats none', () => {
    const report = buildReport(pausedSystemic);
    const poor = { ...report, budget: null, systemic: null, scope: null, tools: [], leftOut: [], next: [], done: [] };
    for (const format of Object.values(formats)) expect(format(poor).split('\n').length).toBeGreaterThan(1);
  });
});
