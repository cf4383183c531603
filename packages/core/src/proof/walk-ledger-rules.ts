import assert from 'node:assert/strict';
import { remaining } from '../budget/budget.ts';
import type { Ledger } from '../budget/ledger.ts';
import type { StrictBudget } from '../budget/strict.ts';
import type { Correlation, Opening, SystemicPolicy } from '../budget/systemic.ts';
import type { WindowBudget } from '../budget/window.ts';
import type { Moment } from '../clock.ts';

/** What is paid, and why. */
export interface Paid {
  readonly ledger: Ledger;
  readonly correlation: Correlation;
}

/** What holds between two states, by either rule. */
export const causes = (before: Paid, after: Paid, name: string): void => {
  const [was, is] = [before.ledger.budget, after.ledger.budget];
  assert.ok(is.consumed >= was.consumed, 'what was consumed only grows');
  const renewed = is.cycle !== was.cycle;
  const begins = before.correlation.event === undefined && after.correlation.event !== undefined;
  if (was.rule === 'strict' && is.rule === 'strict') heldStrictly(before, after, was, is, begins);
  if (was.rule === 'window' && is.rule === 'window') heldInWindow(before, after, was, is, { renewed, begins, name });
  const lasts = before.correlation.event !== undefined && after.correlation.event !== undefined;
  if (lasts && !renewed) assert.equal(is.consumed, was.consumed, 'S3: while an event lasts, nothing is charged');
  if (!begins) return;
  const singles = is.rule === 'strict' ? [...is.charges, ...is.provisional] : is.charges;
  const twice = singles.filter(
    (one) =>
      one.event !== true &&
      after.correlation.event?.openings.some(({ tool, at }) => tool === one.tool && one.at.ms >= at.ms),
  );
  assert.deepEqual(twice, [], 'S3: nothing of the event is charged beside it');
};

const flagged = (charges: readonly { readonly event?: true }[]): number =>
  charges.filter(({ event }) => event === true).length;

/** B6. */
const heldStrictly = (before: Paid, after: Paid, was: StrictBudget, is: StrictBudget, begins: boolean): void => {
  assert.equal(
    is.granted - is.consumed,
    is.limit - is.earlier.failures - is.charges.length,
    'B6: what is left is what is not on the bill',
  );
  assert.ok(is.granted >= was.granted, 'both counters only grow');
  const parts = flagged(is.charges) - flagged(was.charges);
  if (is.cycle === was.cycle) assert.equal(parts, begins ? 1 : 0, 'S3: an event costs one, when it begins');
  if (begins) assert.ok(is.consumed <= was.consumed + 1, 'S3: all of it costs one');
  assert.equal(after.ledger.exhausted, remaining(is) === 0, 'B1: paused exactly while nothing is left');
  assert.equal(before.ledger.exhausted, remaining(was) === 0);
};

/** What happened between two states. */
interface Happened {
  readonly renewed: boolean;
  readonly begins: boolean;
  readonly name: string;
}

/** B1, B3, S3. */
const heldInWindow = (
  before: Paid,
  after: Paid,
  was: WindowBudget,
  is: WindowBudget,
  { renewed, begins, name }: Happened,
): void => {
  const finals = is.charges.filter(({ provisional }) => !provisional);
  assert.ok(is.charges.length - finals.length <= 5, 'S3: at most five are provisional');
  assert.equal(is.remaining, Math.max(0, is.limit - countOf(is.charges, is.limit)), 'B1: what is left');
  const parts = flagged(is.charges) - flagged(was.charges);
  if (begins) {
    assert.ok(parts === 0 || parts === 1, 'S3: an event costs one, when it begins');
    assert.ok(is.consumed <= was.consumed + 1, 'S3: all of it costs one');
    if (parts === 0) assert.deepEqual(is.charges, was.charges, 'B3: only an event of failed probes costs nothing');
  } else assert.ok(parts <= 0, 'S3: an event costs nothing later');
  if (name === '1 ms' && before.ledger.exhausted)
    assert.deepEqual(is, was, 'B1: while paused nothing leaves the window');
  for (const { tool, at } of opened(before, after)) {
    const own = is.charges.filter((one) => one.tool === tool && one.since !== 'closing' && one.event !== true);
    assert.ok(own.length <= 1, 'B3: an outage costs one');
    assert.ok(
      own.every((one) => one.at.ms === at.ms),
      'B3: dated at the opening',
    );
  }
  if (!after.ledger.exhausted || before.ledger.exhausted) return;
  assert.ok(!renewed, 'B1: a new cycle is not paused');
  const tools = new Set(is.charges.filter(({ event }) => event !== true).map(({ tool }) => tool));
  assert.ok(
    tools.size > 1 || flagged(is.charges) > 0 || is.limit === 1,
    'B1: one tool alone never exhausts the budget',
  );
  const last = is.charges.findLastIndex(({ provisional }) => !provisional);
  assert.ok(countOf(is.charges.slice(0, last + 1), is.limit) >= is.limit, 'S3: only what is final pauses');
};

const countOf = (charges: WindowBudget['charges'], limit: number): number => {
  const counts = new Map<string, number>();
  for (const { tool, event } of charges) {
    const key = event === true ? 'event' : tool;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const capped = [...counts].map(([key, count]) => (key === 'event' ? count : Math.min(count, Math.max(1, limit - 1))));
  return capped.reduce((sum, count) => sum + count, 0);
};

/** Openings that are new, where no event lasts to be part of. */
const opened = (before: Paid, after: Paid): readonly Opening[] =>
  after.correlation.openings.filter((one) => !before.correlation.openings.some(({ tool }) => tool === one.tool));

/** The same ledger as seen from now on: what is too long ago to matter lies just long enough ago. */
export const canonicalLedger = (
  { ledger, correlation }: Paid,
  systemic: SystemicPolicy,
  ago: (at: Moment, most: number) => Moment,
  now: Moment,
): Paid => {
  const { budget, exhausted, paid } = ledger;
  const old = systemic.windowMs + 1;
  const moved = new Map(correlation.openings.map((one) => [one, { ...one, at: ago(one.at, old) }]));
  const event = correlation.event && {
    ...correlation.event,
    openings: correlation.event.openings.map((one) => moved.get(one) ?? { ...one, at: ago(one.at, old) }),
  };
  return {
    correlation: {
      openings: [...moved.values()],
      sinceSuccess: correlation.sinceSuccess,
      failures: correlation.failures.map((one) => ({ ...one, at: ago(one.at, old) })),
      event,
    },
    ledger: {
      exhausted,
      paid,
      event: ledger.event === correlation.event ? event : ledger.event,
      budget:
        budget.rule === 'strict'
          ? canonicalStrict(
              budget,
              correlation.openings,
              (one) => moved.get(one),
              (at) => ago(at, old),
              now,
            )
          : canonicalWindow(budget, (at) => ago(at, Math.max(old, budget.windowMs + 1))),
    },
  };
};

type Charge = StrictBudget['charges'][number];

const canonicalStrict = (
  budget: StrictBudget,
  openings: readonly Opening[],
  movedTo: (one: Opening) => Opening | undefined,
  ago: (at: Moment) => Moment,
  now: Moment,
): StrictBudget => {
  const anchorOf = (anchor: { readonly tool: string; readonly at: Moment }) => {
    const opening = openings.find(({ tool, at }) => tool === anchor.tool && at === anchor.at);
    const own = opening && movedTo(opening);
    return own ? { tool: own.tool, at: own.at } : { tool: '', at: { ...now, ms: 0 } };
  };
  // The one charge of an event takes part in nothing any more.
  const charge = (one: Charge): Charge =>
    one.event ? { ...one, tool: 'a', category: 'unknown', at: now } : { ...one, at: ago(one.at) };
  return {
    ...budget,
    cycle: 1,
    consumed: 0,
    granted: budget.granted - budget.consumed,
    charges: budget.charges.map(charge),
    provisional: budget.provisional.map((one) => ({ ...one, at: ago(one.at), anchor: anchorOf(one.anchor) })),
  };
};

const canonicalWindow = (budget: WindowBudget, ago: (at: Moment) => Moment): WindowBudget => ({
  ...budget,
  cycle: 1,
  consumed: 0,
  charges: budget.charges.map((one) => ({
    ...one,
    ...(one.event && { tool: 'a', category: 'unknown' as const }),
    at: ago(one.at),
  })),
});
