import { describe, expect, test } from 'vitest';
import type { Breakerbox } from '../breakerbox.ts';
import type { CircuitMode } from '../circuit/circuit.ts';
import { operate } from '../control/operator.ts';
import { reconfigure } from '../control/reconfigure.ts';
import { shareCircuits } from '../fleet/share-circuits.ts';
import { restore } from '../snapshot/restore.ts';
import { snapshot } from '../snapshot/snapshot.ts';
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

const setMode = (box: Breakerbox, mode: CircuitMode): void =>
  reconfigure(box, (config) => ({ ...config, tools: { ...config.tools, a: { mode } } }));

describe.each(['session', 'process'] as const)('C16: session.control() lies over settings, scope %s', (scope) => {
  const MODES = ['automatic', 'disabled'] as const;

  test.each(MODES.flatMap((settings) => [false, true].map((isUsed) => [settings, isUsed] as const)))(
    'C16, A10: a mode stays when settings take it up and drop it: first %s, the session is used in between: %s',
    (settings, isUsed) => {
      const { box, session } = bench({ scope, tools: { a: { mode: settings } } });
      session.control('a', 'disabled');
      setMode(box, 'disabled');
      if (isUsed) session.step();
      setMode(box, 'automatic');
      expect(session.explain('a').reason).toBe('disabled');
      expect(session.acquire('a').reason).toBe('disabled');
      session.control('a', 'automatic');
      setMode(box, 'forced_open');
      expect(session.acquire('a').reason).toBe('forced_open');
    },
  );

  test.each([false, true])('C16, A10: automatic stays over other settings, used in between: %s', (isUsed) => {
    const { box, session } = bench({ scope, tools: { a: { mode: 'disabled' } } });
    session.control('a', 'automatic');
    setMode(box, 'automatic');
    if (isUsed) session.step();
    setMode(box, 'disabled');
    expect(session.acquire('a').reason).toBe('closed');
  });

  test('C16, A4: beneath the mode of an operator too, whichever came first', () => {
    const { box, session } = bench({ scope, tools: { a: {}, b: {} } });
    const operator = operate(box);
    session.control('a', 'disabled');
    for (const tool of ['a', 'b']) operator.force(tool, { ...OWNER, mode: 'forced_open' });
    session.acquire('b');
    session.control('b', 'disabled');
    for (const mode of ['disabled', 'automatic'] as const) {
      reconfigure(box, (config) => ({ ...config, defaults: { mode } }));
      expect(['a', 'b'].map((tool) => session.acquire(tool).reason)).toEqual(['forced_open', 'forced_open']);
    }
    for (const tool of ['a', 'b']) operator.release(tool, OWNER);
    expect(['a', 'b'].map((tool) => session.acquire(tool).reason)).toEqual(['disabled', 'disabled']);
  });
});

test('C16, C11: a snapshot knows which modes session.control() has set; one of an older version is restored too', () => {
  const { box, session } = bench({ tools: { a: {}, b: {} } });
  session.control('a', 'disabled');
  const kept = snapshot(session);
  const later = restore(box, JSON.parse(JSON.stringify(kept)));
  const { controlled, ...older } = kept.circuits[0] ?? expect.fail('no circuit');
  const old = restore(box, { ...kept, circuits: [older] });
  expect(controlled).toBe(true);
  expect([later, old].map((one) => one.acquire('a').reason)).toEqual(['disabled', 'disabled']);
  for (const mode of ['disabled', 'automatic'] as const) {
    setMode(box, mode);
    later.step();
  }
  expect([later, old].map((one) => one.acquire('a').reason)).toEqual(['disabled', 'disabled']);
});
