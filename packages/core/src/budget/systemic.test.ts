import { describe, expect, test } from 'vitest';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import { DEFAULT_SYSTEMIC, inWindow, type Opening, systemicEvent } from './systemic.ts';

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
      sameCategory: 2,
      anyCategory: 3,
      sharedFailures: 5,
      sharedTools: 3,
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
  ])('S1: %j and %j: %s, by steps if steps lie between, else by time', (from, to, isIn) => {
    expect(inWindow(DEFAULT_SYSTEMIC, from, to)).toBe(isIn);
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

  test('S4, O6: the shared category is named, and it is never unknown', () => {
    const categoryOf = (...categories: ErrorCategory[]) =>
      systemicEvent(categories.map((category) => opening(category, category))).category;
    expect(categoryOf('network', 'network')).toBe('network');
    expect(categoryOf('network', 'timeout')).toBeUndefined();
    expect(categoryOf('unknown', 'unknown')).toBeUndefined();
    expect(categoryOf('network', 'unknown')).toBeUndefined();
  });

  test('S3: when it was detected is said, where that is known', () => {
    const began = moment(5, 2);
    expect(systemicEvent([], undefined, undefined, began).began).toBe(began);
    expect(systemicEvent([])).not.toHaveProperty('began');
  });

  test('S4: without openings nothing is suspected', () => {
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
    ['proxy', undefined, 'dependency'],
    [undefined, 'maps', 'group'],
    ['proxy', 'maps', 'dependency'],
    [undefined, undefined, 'network'],
  ])('S4: dependency %s and group %s: suspected is the %s', (dependency, group, layer) => {
    const event = systemicEvent(
      openings,
      () => dependency,
      () => group,
    );
    expect(event).toEqual({ category: 'network', layer, dependency, group, openings });
  });

  test('S4: both are asked about the tools of the event', () => {
    const asked: (readonly string[])[] = [];
    const ask = (tools: readonly string[]) => {
      asked.push(tools);
      return undefined;
    };
    systemicEvent(openings, ask, ask);
    expect(asked).toEqual([
      ['search', 'weather'],
      ['search', 'weather'],
    ]);
  });
});
