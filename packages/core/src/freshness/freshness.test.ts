import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BreakerboxUsageError } from '../checks/checks.ts';
import {
  describeFreshness,
  FRESHNESS_KINDS,
  type FreshnessFacts,
  type FreshnessLabel,
  labelled,
  labelOf,
} from './freshness.ts';

const TASK = Date.UTC(2026, 10, 20, 21, 0, 0);
const NOW = Date.UTC(2026, 10, 20, 21, 14, 3, 250);
const facts = (given: Partial<FreshnessFacts>): FreshnessFacts => ({
  retrievedUnixMs: undefined,
  taskUnixMs: TASK,
  identical: false,
  verified: undefined,
  unixMs: NOW,
  ...given,
});
const kindOf = (given: Partial<FreshnessFacts>) => labelOf(facts(given))?.kind;

const STALE: FreshnessLabel = { kind: 'stale', retrievedUnixMs: NOW };
const TEXT = 'stale: retrieved 2026-11-20 21:14:03 UTC';

describe('F1: choice of the label', () => {
  test('F1: a result retrieved now, or since the task began, has no label', () => {
    expect(labelOf(facts({}))).toBeUndefined();
    expect(labelOf(facts({ retrievedUnixMs: TASK }))).toBeUndefined();
    expect(labelOf(facts({ verified: true }))).toBeUndefined();
  });

  test('F1: stale: retrieved before the task began', () => {
    expect(labelOf(facts({ retrievedUnixMs: TASK - 1 }))).toEqual({ kind: 'stale', retrievedUnixMs: TASK - 1 });
  });

  test('F1: cached: identical to the result of the last call', () => {
    expect(labelOf(facts({ identical: true }))).toEqual({ kind: 'cached', retrievedUnixMs: NOW });
    expect(labelOf(facts({ identical: true, retrievedUnixMs: TASK }))).toEqual({
      kind: 'cached',
      retrievedUnixMs: TASK,
    });
  });

  test('F1: unverified: the executor says that the result was not checked', () => {
    expect(labelOf(facts({ verified: false }))).toEqual({ kind: 'unverified', retrievedUnixMs: NOW });
  });

  test('F1: freshness_unknown: the executor says that the retrieval time is not known', () => {
    expect(labelOf(facts({ retrievedUnixMs: null }))).toEqual({
      kind: 'freshness_unknown',
      retrievedUnixMs: undefined,
    });
    expect(labelOf(facts({ retrievedUnixMs: null, verified: true }))?.kind).toBe('freshness_unknown');
  });

  test('F1: the first label that applies counts: stale, cached, unverified, freshness_unknown', () => {
    const all = { identical: true, verified: false, retrievedUnixMs: null };
    expect([
      kindOf(all),
      kindOf({ ...all, identical: false }),
      kindOf({ retrievedUnixMs: null }),
      kindOf({ ...all, retrievedUnixMs: TASK - 1 }),
    ]).toEqual(['cached', 'unverified', 'freshness_unknown', 'stale']);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'F1: %s is an unknown time',
    (retrievedUnixMs) => {
      expect(labelOf(facts({ retrievedUnixMs }))).toEqual({ kind: 'freshness_unknown', retrievedUnixMs: undefined });
    },
  );

  test('F1: a future time, by a clock that is ahead, is not stale', () => {
    expect(labelOf(facts({ retrievedUnixMs: NOW + 60_000 }))).toBeUndefined();
  });
});

describe('F1: text of the label', () => {
  test.each<readonly [FreshnessLabel['kind'], string]>([
    ['stale', 'stale: retrieved 2026-11-20 21:14:03 UTC'],
    ['cached', 'cached: identical to the last answer, retrieved 2026-11-20 21:14:03 UTC'],
    ['unverified', 'unverified: not checked, retrieved 2026-11-20 21:14:03 UTC'],
    ['freshness_unknown', 'freshness_unknown: retrieved 2026-11-20 21:14:03 UTC'],
  ])('F1: the text of %s contains the retrieval time', (kind, text) => {
    expect(describeFreshness({ kind, retrievedUnixMs: NOW })).toBe(text);
  });

  test.each([undefined, Number.NaN, Number.POSITIVE_INFINITY, 8.64e15 + 1, -1e300])(
    'F1: %s is not a time',
    (retrievedUnixMs) => {
      expect(describeFreshness({ kind: 'stale', retrievedUnixMs })).toBe('stale: retrieved at an unknown time');
      expect(describeFreshness({ kind: 'freshness_unknown', retrievedUnixMs })).toBe(
        'freshness_unknown: retrieved at an unknown time',
      );
    },
  );

  test('F1: years of more or fewer than four digits are written correctly', () => {
    expect(describeFreshness({ kind: 'stale', retrievedUnixMs: 8.64e15 })).toBe(
      'stale: retrieved +275760-09-13 00:00:00 UTC',
    );
    expect(describeFreshness({ kind: 'stale', retrievedUnixMs: 0.5 })).toBe('stale: retrieved 1970-01-01 00:00:00 UTC');
  });
});

test.each<[unknown, string]>([
  [undefined, 'undefined'],
  [null, 'null'],
  ['stale', "'stale'"],
  [{}, 'an object'],
  [{ kind: 'old', retrievedUnixMs: NOW }, 'an object'],
])('F1, E6: %j is not a label, and is rejected', (label, shown) => {
  expect(() => describeFreshness(label as FreshnessLabel)).toThrow(
    new BreakerboxUsageError(
      `describeFreshness(${shown}): this is not a freshness label. Give permit.freshness, or the label of a ` +
        'stale route.',
    ),
  );
});

describe('F1: the label reaches the model with the result', () => {
  test('F1: the label precedes a text', () => {
    expect(labelled('rain', STALE)).toBe(`[${TEXT}]\nrain`);
    expect(labelled('', STALE)).toBe(`[${TEXT}]\n`);
  });

  test('F1: the label is the first part of an MCP result, and the other parts do not change', () => {
    const image = { type: 'image', data: 'AA==', mimeType: 'image/png' };
    const result = { content: [image], structuredContent: { celsius: 4 }, isError: false };
    expect(labelled(result, STALE)).toEqual({ ...result, content: [{ type: 'text', text: `[${TEXT}]` }, image] });
    expect(labelled({ content: [] }, STALE)).toEqual({ content: [{ type: 'text', text: `[${TEXT}]` }] });
    expect(result.content).toEqual([image]);
  });

  test.each([[['a', 'b']], [[null]], [[{ title: 'no part' }]], [[{ type: 1 }]], ['text'], [{ type: 'text' }]])(
    'F1: a `content` of %j is not an MCP result',
    (content) => {
      expect(labelled({ content }, STALE)).toEqual({ content, freshness: TEXT });
    },
  );

  test('F1: the label is a property of a copy of a plain object', () => {
    const result = Object.freeze({ celsius: 4, inner: Object.freeze({}) });
    const copy = labelled(result, STALE) as typeof result;
    expect(copy).toEqual({ celsius: 4, inner: {}, freshness: TEXT });
    expect(copy.inner).toBe(result.inner);
    expect(result).toEqual({ celsius: 4, inner: {} });
    expect(labelled(Object.assign(Object.create(null), { a: 1 }), STALE)).toEqual({ a: 1, freshness: TEXT });
  });

  class Answer {
    readonly celsius = 4;
  }
  const throwing = Object.defineProperty({}, 'celsius', {
    enumerable: true,
    get: () => {
      throw new Error('may not be read');
    },
  });
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();

  test.each([
    ['null', null],
    ['undefined', undefined],
    ['a number', 4],
    ['false', false],
    ['a list', [1, 2]],
    ['a frozen list', Object.freeze([1])],
    ['an instance', new Answer()],
    ['a date', new Date(0)],
    ['a map', new Map([['a', 1]])],
    ['a function', () => 1],
    ['an object with a freshness of its own', { freshness: 'crisp' }],
    ['an object with a freshness of undefined', { freshness: undefined }],
    ['an object that throws', throwing],
    ['a revoked proxy', revoked],
  ])('F1: the label is added beside %s', (_, result) => {
    const pair = labelled(result, STALE) as { result: unknown; freshness: string };
    expect(Object.keys(pair)).toEqual(['result', 'freshness']);
    expect(pair.result === result).toBe(true);
    expect(pair.freshness).toBe(TEXT);
  });

  test('F1: any JSON result can be separated from its label, and never changes', () => {
    const label = fc.record({
      kind: fc.constantFrom(...FRESHNESS_KINDS),
      retrievedUnixMs: fc.option(fc.double(), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.jsonValue(), label, (result, one) => {
        const before = JSON.stringify(result);
        expect(JSON.stringify(labelled(result, one))).toContain(one.kind);
        expect(JSON.stringify(result)).toBe(before);
      }),
    );
  });
});
