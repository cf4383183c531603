import { expect, test } from 'vitest';
import type { Route } from './capability/route.ts';
import type { FreshnessLabel } from './freshness.ts';
import { type Tallies, tallyDecision, tallyOf, tallyOutcome } from './tally.ts';
import { OTHER_TOOL } from './telemetry/semconv.ts';

const empty = {
  decisions: {},
  succeeded: 0,
  failed: 0,
  ignored: 0,
  tokensWasted: 0,
  routes: {},
  alternatives: {},
  freshness: {},
};

const fresh = () => tallyOf(new Map(), 'search');
const stale: FreshnessLabel = { kind: 'stale', retrievedUnixMs: 0 };
const to = (tool: string): Route => ({
  kind: 'alternative',
  tool,
  method: undefined,
  degradation: 'low',
  note: undefined,
  adapt: undefined,
});

test('Q1: a tool begins with nothing, and has one tally', () => {
  const tallies: Tallies = new Map();
  const search = tallyOf(tallies, 'search');
  expect(search).toMatchObject(empty);
  expect(tallyOf(tallies, 'search')).toBe(search);
  expect(tallyOf(tallies, 'news')).not.toBe(search);
  expect([...tallies.keys()]).toEqual(['search', 'news']);
});

test('W2: names without end share one tally, and no tool loses its own', () => {
  const tallies: Tallies = new Map();
  const own = Array.from({ length: 200 }, (_, index) => tallyOf(tallies, `tool_${index}`));
  expect(new Set(own).size).toBe(200);
  const other = tallyOf(tallies, 'made_up');
  expect(tallyOf(tallies, 'made_up_too')).toBe(other);
  expect(tallies.get(OTHER_TOOL)).toBe(other);
  expect(tallies.size).toBe(201);
  expect(own.map((_, index) => tallyOf(tallies, `tool_${index}`))).toEqual(own);
  expect(tallyOf(tallies, 'tool_0')).toBe(own[0]);
});

test('W2: decisions are counted by reason, and by where the call went', () => {
  const tally = fresh();
  tallyDecision(tally, 'closed', undefined);
  tallyDecision(tally, 'open', to('news'));
  tallyDecision(tally, 'open', to('news'));
  tallyDecision(tally, 'open', to('__proto__'));
  tallyDecision(tally, 'repeat', { kind: 'manual', fallback: 'ask' });
  tallyDecision(tally, 'systemic', { kind: 'defer' });
  expect(tally).toMatchObject({
    ...empty,
    decisions: { closed: 1, open: 3, repeat: 1, systemic: 1 },
    routes: { alternative: 3, manual: 1, defer: 1 },
  });
  expect(Object.entries(tally.alternatives)).toEqual([
    ['news', 2],
    ['__proto__', 1],
  ]);
  expect(tally.freshness).toEqual({});
});

test('F2, W2: a last good result that stands in is counted as stale', () => {
  const tally = fresh();
  tallyDecision(tally, 'open', { kind: 'stale', result: 1, label: stale });
  expect(tally).toMatchObject({ ...empty, decisions: { open: 1 }, routes: { stale: 1 }, freshness: { stale: 1 } });
  expect(Object.keys(tally.alternatives)).toEqual([]);
});

test('O1, O4: calls are counted by outcome; only what failed wastes tokens', () => {
  const tally = fresh();
  tallyOutcome(tally, { outcome: 'success', category: undefined, tokens: 5 }, undefined);
  tallyOutcome(tally, { outcome: 'ignored', category: 'denied', tokens: 7 }, undefined);
  tallyOutcome(tally, { outcome: 'ignored', category: 'denied' }, undefined);
  for (const tokens of [11, 13]) tallyOutcome(tally, { outcome: 'failure', category: 'server', tokens }, undefined);
  tallyOutcome(tally, { outcome: 'failure', category: 'server' }, undefined);
  expect(tally).toMatchObject({ ...empty, succeeded: 1, ignored: 2, failed: 3, tokensWasted: 24 });
});

test('F1: results that are not fresh are counted by their label', () => {
  const tally = fresh();
  tallyOutcome(tally, { outcome: 'success', category: undefined }, stale);
  tallyOutcome(tally, { outcome: 'success', category: undefined }, stale);
  tallyOutcome(tally, { outcome: 'success', category: undefined }, { ...stale, kind: 'cached' });
  expect(tally).toMatchObject({ ...empty, succeeded: 3, freshness: { stale: 2, cached: 1 } });
});
