import { expect, test } from 'vitest';
import type { Route } from './capability/route.ts';
import type { FreshnessLabel } from './freshness.ts';
import { createTally, readTally, tallyDecision, tallyLabel, tallyOutcome } from './tally.ts';

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

const stale: FreshnessLabel = { kind: 'stale', retrievedUnixMs: 0 };
const to = (tool: string): Route => ({
  kind: 'alternative',
  tool,
  method: undefined,
  degradation: 'low',
  note: undefined,
  adapt: undefined,
});

test('Q1: a tool begins with nothing', () => {
  expect(readTally(createTally())).toEqual(empty);
});

test('Q1: what was read grows no more', () => {
  const tally = createTally();
  tallyDecision(tally, 'open', to('news'));
  const read = readTally(tally);
  tallyDecision(tally, 'open', to('news'));
  tallyLabel(tally, 'stale');
  expect(read).toEqual({ ...empty, decisions: { open: 1 }, routes: { alternative: 1 }, alternatives: { news: 1 } });
});

test('W2: decisions are counted by reason, and by where the call went', () => {
  const tally = createTally();
  tally.closed += 1;
  tallyDecision(tally, 'open', to('news'));
  tallyDecision(tally, 'open', to('news'));
  tallyDecision(tally, 'open', to('__proto__'));
  tallyDecision(tally, 'repeat', { kind: 'manual', fallback: 'ask' });
  tallyDecision(tally, 'systemic', { kind: 'defer' });
  expect(readTally(tally)).toMatchObject({
    ...empty,
    decisions: { closed: 1, open: 3, repeat: 1, systemic: 1 },
    routes: { alternative: 3, manual: 1, defer: 1 },
  });
  expect(Object.entries(readTally(tally).alternatives)).toEqual([
    ['news', 2],
    ['__proto__', 1],
  ]);
  expect(readTally(tally).freshness).toEqual({});
});

test('F2, W2: a last good result that stands in is counted as stale', () => {
  const tally = createTally();
  tallyDecision(tally, 'open', { kind: 'stale', result: 1, label: stale });
  expect(readTally(tally)).toMatchObject({
    ...empty,
    decisions: { open: 1 },
    routes: { stale: 1 },
    freshness: { stale: 1 },
  });
  expect(Object.keys(readTally(tally).alternatives)).toEqual([]);
});

test('O1, O4: calls are counted by outcome; only what failed wastes tokens', () => {
  const tally = createTally();
  tallyOutcome(tally, { outcome: 'success', category: undefined, tokens: 5 });
  tallyOutcome(tally, { outcome: 'ignored', category: 'denied', tokens: 7 });
  tallyOutcome(tally, { outcome: 'ignored', category: 'denied' });
  for (const tokens of [11, 13]) tallyOutcome(tally, { outcome: 'failure', category: 'server', tokens });
  tallyOutcome(tally, { outcome: 'failure', category: 'server' });
  expect(readTally(tally)).toMatchObject({ ...empty, succeeded: 1, ignored: 2, failed: 3, tokensWasted: 24 });
});

test('F1: results that are not fresh are counted by their label', () => {
  const tally = createTally();
  for (const kind of ['stale', 'stale', 'cached'] as const) tallyLabel(tally, kind);
  expect(readTally(tally)).toMatchObject({ ...empty, freshness: { stale: 2, cached: 1 } });
});
