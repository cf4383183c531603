import { describe, expect, test } from 'vitest';
import { BreakerboxUsageError } from '../errors.ts';
import { describeFreshness, labelled } from '../freshness.ts';
import {
  formatPauseReport,
  formatReport,
  formatScopeReport,
  formatStateTable,
  formatSystemicReport,
} from '../report/text.ts';
import { bench } from '../test-support.ts';
import { inAnotherProcess } from './test-support.ts';

const NONSENSE = [null, 7, Number.NaN, '', 'nonsense', true, [], Symbol('s')] as never[];

describe('E6: more nonsense is refused', () => {
  test('Q1, E6: session.report of what are no options', () => {
    const { session } = bench();
    for (const one of NONSENSE) expect(() => session.report(one)).toThrow(BreakerboxUsageError);
    expect(() => session.report({ don: [] } as never)).toThrow(/options\.don is no setting/);
  });

  test('E6: box.on of what never happens, or with what is no function', () => {
    const { box } = bench();
    for (const one of NONSENSE) {
      expect(() => box.on(one, () => {})).toThrow(/there is no such event/);
      expect(() => box.on('decision', one)).toThrow(/Give a function/);
    }
  });

  test('B5, E6: session.control of a box that keeps no circuits', () => {
    const { session } = bench({ scope: 'none' });
    expect(() => session.control('a', 'forced_open')).toThrow(/keeps no circuits \(scope 'none'\)/);
  });

  test('C1, E6: session.control of what is no name', () => {
    const { session } = bench();
    for (const one of NONSENSE) expect(() => session.control(one, 'disabled')).toThrow(BreakerboxUsageError);
  });

  test('Q1, F1, E6: text of what is no report or no label', () => {
    const formats = [formatReport, formatStateTable, formatScopeReport, formatPauseReport, formatSystemicReport];
    for (const one of [...NONSENSE, undefined, {}] as never[]) {
      for (const format of formats) expect(() => format(one)).toThrow(/Give what session\.report\(\) returns/);
      for (const say of [describeFreshness, (label: never) => labelled('12', label)]) {
        expect(() => say(one)).toThrow(BreakerboxUsageError);
      }
    }
    const { session } = bench();
    expect(formatReport(session.report(), null as never)).toBe(formatReport(session.report()));
  });

  test('E2, E5: arguments that throw when they are read', () => {
    const { session } = bench();
    const hostile = {
      get input(): never {
        throw new Error('do not look at me');
      },
    };
    expect(session.acquire('a', hostile).decision).toBe('call');
    expect(session.acquire('a', null as never).decision).toBe('call');
  });

  test('O4, C11: the most expensive calls that there are leave sums finite, and snapshots that can be restored', () => {
    const { session, box } = bench({
      tools: { a: { wastedTokens: { tokens: 1e12 } }, b: { wastedTokens: { tokens: 1e12 }, mode: 'observe_only' } },
      budget: { failures: 50 },
    });
    for (const tool of ['a', 'b', 'b', 'b']) session.acquire(tool).settle({ outcome: 'failure', tokens: 1e308 });
    expect(Number.isFinite(session.report().tools[0]?.tokensWasted)).toBe(true);
    expect(inAnotherProcess(session, box).peek('a')).toMatchObject({ state: 'open', trip: 'wasted_tokens' });
  });
});
