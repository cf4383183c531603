import { expect, test } from 'vitest';
import type { Breakerbox } from '../breakerbox.ts';
import { operate } from '../control/operator.ts';
import { reconfigure } from '../control/reconfigure.ts';
import { shareCircuits } from '../fleet/share-circuits.ts';
import { bench } from '../test-support.ts';

const ATTACH: Readonly<Record<string, (box: Breakerbox) => unknown>> = {
  operators: operate,
  fleet: shareCircuits,
  settings: (box) => reconfigure(box, (config) => config),
};

const ORDERS = [
  ['operators', 'fleet', 'settings'],
  ['operators', 'settings', 'fleet'],
  ['fleet', 'operators', 'settings'],
  ['fleet', 'settings', 'operators'],
  ['settings', 'operators', 'fleet'],
  ['settings', 'fleet', 'operators'],
] as const;

const OWNER = { owner: 'ada', reason: 'a rule' } as const;

/** A box with two shared tools, to which all three are attached in this order. */
const attached = (order: readonly string[]) => {
  const share = { share: 'fleet' } as const;
  const tools = { a: share, b: share };
  const made = bench({ scope: 'process', tools, fleet: { join: () => {} }, loopGuard: false });
  const { box, session } = made;
  for (const name of order) ATTACH[name]?.(box);
  for (const tool of ['a', 'b']) session.acquire(tool).settle({ outcome: 'success' });
  const log: string[] = [];
  box.on('circuit.transition', ({ tool, from, to }) => log.push(`${tool} ${from} → ${to}`));
  box.on('systemic.detected', ({ event }) => log.push(`event of ${event.openings.length}`));
  const hold = (tool: string) =>
    shareCircuits(box).feed(tool, { order: 'hold', category: 'network', ageMs: 0, waitMs: 60_000 });
  return { ...made, log, hold, operator: operate(box) };
};

test.each(ORDERS)('C16: a mode covers what the fleet holds, attached in the order %s, %s, %s', (...order) => {
  const { session, operator, hold, log } = attached(order);
  for (const tool of ['a', 'b']) operator.force(tool, { ...OWNER, mode: 'disabled' });
  expect(session.acquire('a')).toMatchObject({ decision: 'call', reason: 'disabled' });
  for (const tool of ['a', 'b']) hold(tool);
  expect(session.acquire('a')).toMatchObject({ decision: 'call', reason: 'disabled' });
  for (const tool of ['a', 'b']) operator.release(tool, OWNER);
  expect(session.acquire('a')).toMatchObject({ decision: 'skip', reason: 'open' });
  expect(log).toEqual(['a closed → disabled', 'b closed → disabled', 'a disabled → open', 'b disabled → open']);
});

test.each(ORDERS)('C16: changed settings lie beneath both, attached in the order %s, %s, %s', (...order) => {
  const { box, session, operator, hold } = attached(order);
  hold('a');
  operator.force('b', { ...OWNER, mode: 'forced_open' });
  reconfigure(box, (config) => ({ ...config, defaults: { mode: 'observe_only' } }));
  expect(session.acquire('a')).toMatchObject({ decision: 'call', reason: 'would_skip' });
  expect(session.acquire('b')).toMatchObject({ decision: 'skip', reason: 'forced_open' });
  reconfigure(box, (config) => ({ ...config, defaults: { mode: 'automatic' } }));
  operator.release('b', OWNER);
  expect(session.acquire('a')).toMatchObject({ decision: 'skip', reason: 'open' });
  expect(session.acquire('b')).toMatchObject({ decision: 'call', reason: 'closed' });
});
