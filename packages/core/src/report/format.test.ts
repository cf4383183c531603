import { describe, expect, test } from 'vitest';
import { formatPauseReport, formatPlanReport, formatReport, formatStateTable, formatSystemicReport } from './format.ts';
import { buildReport } from './report.ts';
import {
  charge,
  closed,
  facts,
  groupOpen,
  ledger,
  nastyNames,
  oneOpen,
  open,
  pausedOnBudget,
  pausedStrictly,
  pausedSystemic,
  scopeReduced,
  systemicSkipping,
  tally,
} from './test-support.report.ts';

describe('Q1: reports as text', () => {
  /**
   * Golden files: how each report reads. After a wanted change, `vitest run packages/core/src/report --update` writes them again;
   * read the difference before committing it. In CI a difference fails.
   */
  test.each(
    Object.entries({
      'one-open': oneOpen,
      'scope-reduced': scopeReduced,
      'paused-budget': pausedOnBudget,
      'paused-strict': pausedStrictly,
      'paused-systemic': pausedSystemic,
      'group-open': groupOpen,
      'systemic-skipping': systemicSkipping,
      'nasty-names': nastyNames,
    }),
  )('Q1: the report of %s, also after a round trip through JSON', async (name, given) => {
    const report = buildReport(given);
    const text = formatReport(report);
    await expect(`${text}\n`).toMatchFileSnapshot(`golden/${name}.txt`);
    expect(formatReport(JSON.parse(JSON.stringify(report)))).toBe(text);
    expect(text).not.toMatch(/ \n|\n\n\n|[^\P{C}\n\u200d]/u);
  });

  test('Q1: the state table, the plan report and the systemic report are parts of it', () => {
    const titles = (text: string) =>
      text
        .split('\n\n')
        .slice(1)
        .map((part) => part.split('\n')[0]);
    expect(titles(formatStateTable(buildReport(oneOpen)))).toEqual([
      'Unavailable tools',
      'Other tools',
      'Failure budget: 4 of 5 failures left',
      'Remarks',
    ]);
    const plan = formatPlanReport(buildReport(scopeReduced));
    expect(plan).toMatch(/^Reduced scope: 2 tasks can be done, 1 deferred, 1 done\.\n/);
    expect(titles(plan)).toEqual(['Tasks', 'What to do']);
    expect(titles(formatSystemicReport(buildReport(pausedSystemic)))).toEqual(['Systemic failure', 'What to do']);
    expect(formatPauseReport(buildReport(pausedOnBudget))).toBe(formatReport(buildReport(pausedOnBudget)));
  });

  test('Q1: the report of a session without any activity', () => {
    const report = buildReport(facts());
    expect(formatReport(report)).toMatch(
      /^No tool has been used yet\.\nresearch-agent, session run-7f3a, step 14, 2026-/,
    );
    expect(formatSystemicReport(report)).toMatch(/^No systemic failure\.\n/);
    expect(formatPlanReport(report)).toMatch(/^No tasks were planned\.\n/);
  });

  test.each([
    [999, 'under 1 s', 'just now'],
    [38_000, '38 s', '38 s ago'],
  ])('Q1: all tables agree on the age of %i ms', (ms, lasted, ago) => {
    const charges = ledger([charge('a', 'network', ms, 14)]);
    const text = formatReport(buildReport(facts({ circuits: [open('a', 'network', ms, 3)], ledger: charges })));
    expect(text).toMatch(new RegExp(`^  a +open +network +${lasted} +3 steps`, 'm'));
    expect(text).toMatch(new RegExp(`^ +${ago} +14 +a +network`, 'm'));
  });

  test('Q1, O4, C1: facts without a column are remarks', () => {
    const counted = tally({ decisions: { would_skip: 2 }, failed: 1, ignored: 1, tokensWasted: 1_500 });
    const circuits = [{ ...closed('a'), state: 'observe_only' as const }];
    const text = formatReport(buildReport(facts({ circuits, tallies: new Map([['a', counted]]) })));
    expect(text.split('Remarks\n')[1]?.split('\n')).toEqual([
      '  - Ignored results, which say nothing about health: a 1.',
      '  - Tokens wasted on failed calls: a 1,500.',
      '  - Dry run: calls that would have been skipped or paused: a 2.',
    ]);
  });

  test.each([
    [{ steps: 2, ms: 40_000, notBeforeMs: 0 }, '2 steps or 40 s'],
    [{ steps: 1, notBeforeMs: 0 }, '1 step'],
    [{ ms: 40_000, notBeforeMs: 0 }, '40 s'],
    [{ steps: 2, ms: -3, notBeforeMs: 0 }, 'due'],
    [{ steps: 0, notBeforeMs: 9_000 }, '9 s'],
    [{ steps: 2, ms: 5_000, notBeforeMs: 9_000 }, '9 s'],
    [{ steps: 2, ms: 40_000, notBeforeMs: 9_000 }, '2 steps or 40 s, at least 9 s'],
  ])('Q1, P1, O3: a probe that is %o away is shown as %s', (nextProbe, shown) => {
    const text = formatStateTable(buildReport(facts({ circuits: [{ ...open('a', 'server', 1_000, 1), nextProbe }] })));
    expect(text.split('\n')[5]?.trim().replace(/ +/g, ' ')).toBe(`a open server 1 s ${shown}`);
  });
});
