import { describe, expect, test } from 'vitest';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import {
  absorbMembers,
  type CorrelationPolicy,
  correlateClosing,
  correlateFailure,
  correlateOpening,
  DEFAULT_SYSTEMIC,
  isTogether,
  latestOf,
  NO_CORRELATION,
  type Opening,
  resolveEvent,
  suspectOf,
  systemicEvent,
} from './systemic.ts';

const opening = (tool: string, category: ErrorCategory): Opening => ({
  tool,
  category,
  at: { ms: 0, step: 0, stepMs: 0 },
  unixMs: 0,
});

const moment = (ms: number, step = 0) => ({ ms, step, stepMs: 0 });

describe('S1: one window', () => {
  test('S1: the defaults', () => {
    expect(DEFAULT_SYSTEMIC).toEqual({
      sameCategory: 3,
      sameCategorySteps: 20,
      anyCategory: 3,
      sharedFailures: 5,
      sharedTools: 3,
      mixedFailures: 7,
      windowSteps: 10,
      windowMs: 120_000,
    });
  });

  test.each([
    [moment(0, 0), moment(1e9, 10), true],
    [moment(0, 0), moment(1, 11), false],
    [moment(0, 5), moment(120_000, 5), true],
    [moment(0, 5), moment(120_001, 5), false],
    [moment(9, 6), moment(0, 5), true],
  ])('S1: %j and %j: %s, by steps if there are steps between them, else by time', (from, to, isIn) => {
    expect(isTogether(DEFAULT_SYSTEMIC, from, to)).toBe(isIn);
  });
});

describe('S4: the suspected layer', () => {
  test.each([
    [['network', 'timeout'], 'network'],
    [['filesystem', 'resource'], 'filesystem'],
    [['permission', 'permission'], 'permissions'],
    [['server', 'rate_limit'], 'upstream'],
    [['unknown', 'unknown'], 'unknown'],
    [['network', 'filesystem'], 'unknown'],
    [['network', 'unknown'], 'unknown'],
  ] as const)('S4: %j is %s', (categories, layer) => {
    const event = systemicEvent(categories.map((category, index) => opening(`tool ${index}`, category)));
    expect(event).toMatchObject({ layer, dependency: undefined, group: undefined });
  });

  test('S4, O6: the event names the shared category, which is never unknown', () => {
    const categoryOf = (...categories: ErrorCategory[]) =>
      systemicEvent(categories.map((category) => opening(category, category))).category;
    expect(categoryOf('network', 'network')).toBe('network');
    expect(categoryOf('network', 'timeout')).toBeUndefined();
    expect(categoryOf('unknown', 'unknown')).toBeUndefined();
    expect(categoryOf('network', 'unknown')).toBeUndefined();
  });

  test('S3: the event says when it was detected, if that is known', () => {
    const began = moment(5, 2);
    expect(systemicEvent([], undefined, began).began).toBe(began);
    expect(systemicEvent([])).not.toHaveProperty('began');
  });

  test('S4: without openings there is no suspected layer', () => {
    expect(systemicEvent([])).toEqual({
      category: undefined,
      layer: 'unknown',
      dependency: undefined,
      group: undefined,
      openings: [],
    });
  });
});

describe('S4: what the tools share', () => {
  const openings = [opening('search', 'network'), opening('weather', 'network')];

  test.each([
    ['proxy', undefined, 'dependency', 'dependency proxy'],
    [undefined, 'maps', 'group', 'group maps'],
    ['proxy', 'maps', 'dependency', 'dependency proxy'],
    [undefined, undefined, 'network', 'network'],
  ])('S4: dependency %s and group %s: the suspected layer is the %s', (dependency, group, layer, inWords) => {
    const event = systemicEvent(openings, { sharedDependency: () => dependency, sharedGroup: () => group });
    expect(event).toEqual({ category: 'network', layer, dependency, group, openings });
    expect(suspectOf(event)).toBe(inWords);
  });

  test('S4: a layer that shares no name is told without one', () => {
    expect(suspectOf({ layer: 'network', dependency: undefined, group: 'maps' })).toBe('network');
    expect(suspectOf({ layer: 'group', dependency: undefined, group: undefined })).toBe('group');
  });

  test('S4: both are looked up for the tools of the event', () => {
    const asked: (readonly string[])[] = [];
    const ask = (tools: readonly string[]) => {
      asked.push(tools);
      return undefined;
    };
    systemicEvent(openings, { sharedDependency: ask, sharedGroup: ask });
    expect(asked).toEqual([
      ['search', 'weather'],
      ['search', 'weather'],
    ]);
  });
});

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
  test('C15: the openings of the members are replaced by one of the group', () => {
    const before = opened(one('read', 1), one('search', 2, 'server'));
    const absorbed = absorbMembers(before, 'group:files', isMember);
    expect(absorbed.openings).toEqual([one('search', 2, 'server')]);
    const { openings, event } = correlateOpening(absorbed, one('group:files', 3), policy);
    expect(openings.map(({ tool }) => tool)).toEqual(['search', 'group:files']);
    expect(event).toBeUndefined(); // Two openings with different categories, not three.
  });

  test("C15: the latest of their failures stays in its place, under the group's name", () => {
    const before = failed(one('read', 1), one('search', 2), one('write', 3, 'timeout'), one('mail', 4));
    expect(absorbMembers(before, 'group:files', isMember)).toEqual({
      openings: [],
      sinceSuccess: [],
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

  test('C15: if no member failed, nothing changes', () => {
    const before = correlateFailure(opened(one('search')), one('mail'), policy);
    expect(absorbMembers(before, 'group:files', isMember)).toBe(before);
    expect(absorbMembers(NO_CORRELATION, 'group:files', isMember)).toBe(NO_CORRELATION);
  });

  test('C15: a current event keeps its parts, and the group joins it', () => {
    const event = opened(one('read', 1), one('search', 2));
    const absorbed = absorbMembers(event, 'group:files', isMember);
    expect(absorbed.event).toBe(event.event);
    const grown = correlateOpening(absorbed, one('group:files', 3), policy);
    expect(grown.event?.openings.map(({ tool }) => tool)).toEqual(['read', 'search', 'group:files']);
  });
});

describe('S1: an event that continues', () => {
  const inFiles = (tools: readonly string[]) => (tools.every(isMember) ? 'files' : undefined);

  test('C15: a group that joins replaces its members, and no other tool', () => {
    const event = opened(one('read', 1), one('search', 2));
    const join = (group: string) =>
      correlateOpening(event, one(group, 3), { ...policy, sharedGroup: inFiles }).event?.openings.map(
        ({ tool }) => tool,
      );
    expect(join('group:files')).toEqual(['search', 'group:files']);
    expect(join('group:other')).toEqual(['read', 'search', 'group:other']);
  });

  test('S1: without a policy a restored event still grows, although no new event can begin', () => {
    const event = opened(one('a'), one('b'));
    const grown = correlateOpening(event, one('group:g', 3), undefined);
    expect(grown.event?.openings.map(({ tool }) => tool)).toEqual(['a', 'b', 'group:g']);
  });

  test('S3: the event still says when it was detected after it has grown', () => {
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
  test('S1: a circuit that has closed is not part of a later event', () => {
    const closed = correlateClosing(opened(one('a')), new Set(['a']));
    expect(closed).toEqual(NO_CORRELATION);
    expect(correlateOpening(closed, one('b'), policy).event).toBeUndefined();
  });

  test('S1: many circuits close at once; if none is listed, the object stays the same', () => {
    const before = opened(one('a', 0, 'server'), one('b'));
    expect(correlateClosing(before, new Set(['a', 'b'])).openings).toEqual([]);
    expect(correlateClosing(before, new Set(['c']))).toBe(before);
    expect(correlateClosing(before, new Set())).toBe(before);
  });

  test('S5: no part of an event that is over is evidence for the next one', () => {
    const event = correlateFailure(opened(one('a'), one('b')), one('c'), policy);
    expect(resolveEvent(event)).toBe(NO_CORRELATION);
    expect(correlateOpening(resolveEvent(event), one('c'), policy).event).toBeUndefined();
  });

  test('S5: without an event there is nothing to end', () => {
    const before = opened(one('a'));
    expect(resolveEvent(before)).toBe(before);
  });

  test('S5: the wait for the end starts at the latest opening', () => {
    expect(latestOf(systemicEvent([one('a', 5), one('b', 9), one('c', 7)]))).toBe(9);
  });
});
