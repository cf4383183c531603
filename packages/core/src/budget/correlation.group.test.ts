import { describe, expect, test } from 'vitest';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import {
  absorbMembers,
  type CorrelationPolicy,
  correlateClosing,
  correlateFailure,
  correlateOpening,
  latestOf,
  NO_CORRELATION,
  resolveEvent,
} from './correlation.ts';
import { DEFAULT_SYSTEMIC, type Opening, systemicEvent } from './systemic.ts';

const one = (tool: string, ms = 0, category: ErrorCategory = 'network'): Opening => ({
  tool,
  category,
  at: { ms, step: 0, stepMs: 0 },
  unixMs: ms,
});

const policy: CorrelationPolicy = { ...DEFAULT_SYSTEMIC, joinsAll: true };
const isMember = (tool: string): boolean => tool === 'read' || tool === 'write';

const opened = (...openings: Opening[]) =>
  openings.reduce((correlation, opening) => correlateOpening(correlation, opening, policy), NO_CORRELATION);

const failed = (...entries: Opening[]) =>
  entries.reduce((correlation, entry) => correlateFailure(correlation, entry, policy), NO_CORRELATION);

describe('C15: a group that opens absorbs its members', () => {
  test('C15: their openings go, and one of the group takes their place', () => {
    const before = opened(one('read', 1), one('search', 2, 'server'));
    const absorbed = absorbMembers(before, 'group:files', isMember);
    expect(absorbed.openings).toEqual([one('search', 2, 'server')]);
    const { openings, event } = correlateOpening(absorbed, one('group:files', 3), policy);
    expect(openings.map(({ tool }) => tool)).toEqual(['search', 'group:files']);
    expect(event).toBeUndefined(); // Two openings with different categories, not three.
  });

  test("C15: of their failures the latest stays, under the group's name and in its place", () => {
    const before = failed(one('read', 1), one('search', 2), one('write', 3, 'timeout'), one('mail', 4));
    expect(absorbMembers(before, 'group:files', isMember)).toEqual({
      openings: [],
      failures: [one('search', 2), one('group:files', 3, 'timeout'), one('mail', 4)],
      event: undefined,
    });
  });

  test('C13, S1: a group counts as one tool among 3, with one failure among 5', () => {
    const four = failed(one('read', 1), one('write', 2), one('read', 3), one('write', 4));
    const group = correlateOpening(absorbMembers(four, 'group:files', isMember), one('group:files', 4), policy);
    const more = [one('search', 5), one('mail', 6), one('search', 7)].reduce(
      (correlation, entry) => correlateFailure(correlation, entry, policy),
      group,
    );
    expect(more.event).toBeUndefined();
    const { event } = correlateFailure(more, one('mail', 8), policy);
    expect(event?.openings).toEqual([one('group:files', 4), one('search', 5), one('mail', 6)]);
  });

  test('C15: where no member failed, nothing changes', () => {
    const before = correlateFailure(opened(one('search')), one('mail'), policy);
    expect(absorbMembers(before, 'group:files', isMember)).toBe(before);
    expect(absorbMembers(NO_CORRELATION, 'group:files', isMember)).toBe(NO_CORRELATION);
  });

  test('C15: an event that lasts keeps what it is made of, and the group joins it', () => {
    const event = opened(one('read', 1), one('search', 2));
    const absorbed = absorbMembers(event, 'group:files', isMember);
    expect(absorbed.event).toBe(event.event);
    const grown = correlateOpening(absorbed, one('group:files', 3), policy);
    expect(grown.event?.openings.map(({ tool }) => tool)).toEqual(['read', 'search', 'group:files']);
  });
});

describe('S1: an event that lasts', () => {
  const inFiles = (tools: readonly string[]) => (tools.every(isMember) ? 'files' : undefined);

  test('C15: a group that joins stands for its members, and for no other tool', () => {
    const event = opened(one('read', 1), one('search', 2));
    const join = (group: string) =>
      correlateOpening(event, one(group, 3), { ...policy, sharedGroup: inFiles }).event?.openings.map(
        ({ tool }) => tool,
      );
    expect(join('group:files')).toEqual(['search', 'group:files']);
    expect(join('group:other')).toEqual(['read', 'search', 'group:other']);
  });

  test('S1: without a policy it still grows: it was restored where no event begins any more', () => {
    const event = opened(one('a'), one('b'));
    const grown = correlateOpening(event, one('group:g', 3), undefined);
    expect(grown.event?.openings.map(({ tool }) => tool)).toEqual(['a', 'b', 'group:g']);
  });

  test('S3: it says when it was detected, also after it has grown', () => {
    const openings = [one('a', 1), one('b', 2), one('c', 3)] as const;
    expect([opened(...openings).event?.began, opened(one('a', 1), one('b', 2)).event?.began]).toEqual([
      one('b', 2).at,
      one('b', 2).at,
    ]);
    const five = failed(one('a', 1), one('b', 2), one('c', 3), one('a', 4), one('b', 5));
    expect(five.event?.began).toEqual(one('b', 5).at);
  });
});

describe('S1, S5: circuits that close, and an event that is over', () => {
  test('S1: a circuit that has closed is no part of an event to come', () => {
    const closed = correlateClosing(opened(one('a')), new Set(['a']));
    expect(closed).toEqual(NO_CORRELATION);
    expect(correlateOpening(closed, one('b'), policy).event).toBeUndefined();
  });

  test('S1: many at once; the same object where none is listed', () => {
    const before = opened(one('a', 0, 'server'), one('b'));
    expect(correlateClosing(before, new Set(['a', 'b'])).openings).toEqual([]);
    expect(correlateClosing(before, new Set(['c']))).toBe(before);
    expect(correlateClosing(before, new Set())).toBe(before);
  });

  test('S5: nothing of it is evidence for the next one', () => {
    const event = correlateFailure(opened(one('a'), one('b')), one('c'), policy);
    expect(resolveEvent(event)).toBe(NO_CORRELATION);
    expect(correlateOpening(resolveEvent(event), one('c'), policy).event).toBeUndefined();
  });

  test('S5: where there is no event, nothing ends', () => {
    const before = opened(one('a'));
    expect(resolveEvent(before)).toBe(before);
  });

  test('S5: the end is waited for from the latest opening on', () => {
    expect(latestOf(systemicEvent([one('a', 5), one('b', 9), one('c', 7)]))).toBe(9);
  });
});
