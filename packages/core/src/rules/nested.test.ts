import { describe, expect, test } from 'vitest';
import type { Session } from '../session-api.ts';
import { bench } from '../test-support.ts';
import { grouped, hear } from './test-support.rules.ts';

const outage = () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

/** Tool `a` calls tool `b`, whose error goes through both, as `wrap` makes it. */
const nested = (session: Session, error: unknown = outage(), wrap = (one: unknown): unknown => one) => {
  const outer = session.acquire('a');
  const inner = session.acquire('b');
  inner.settle({ error });
  outer.settle({ error: wrap(error) });
};

const counts = (session: Session) => ['a', 'b'].map((tool) => session.peek(tool)?.failures);

describe('E3: one error that passes through nested guards is one failure', () => {
  test('E3: it counts where it occurred; the outer call is ignored, with the same category', () => {
    const { session, box } = bench();
    const outcomes = hear(box, 'outcome');
    nested(session);
    expect(counts(session)).toEqual([0, 1]);
    expect(session.view().budget.remaining).toBe(4);
    expect(outcomes.map(({ tool, outcome, category }) => `${tool} ${outcome} ${category}`)).toEqual([
      'b failure network',
      'a ignored network',
    ]);
  });

  test('E3: it also counts once as the cause of another error, over three guards', () => {
    const { session } = bench();
    const [first, second, third] = ['a', 'b', 'c'].map((tool) => session.acquire(tool));
    const error = outage();
    third?.settle({ error });
    const wrapped = new Error('b failed', { cause: error });
    second?.settle({ error: wrapped });
    first?.settle({ error: new Error('a failed', { cause: wrapped }) });
    expect(['a', 'b', 'c'].map((tool) => session.peek(tool)?.failures)).toEqual([0, 0, 1]);
  });

  test('E3: the same object that is thrown again by a later call is a new failure', () => {
    const { session } = bench();
    const error = outage();
    for (let i = 0; i < 3; i += 1) session.acquire('a').settle({ error });
    expect(session.peek('a')?.state).toBe('open');
  });

  test('E3: another error is another failure', () => {
    const { session } = bench();
    nested(session, outage(), outage);
    expect(counts(session)).toEqual([1, 1]);
    const strings = bench().session;
    nested(strings, 'ECONNRESET'); // Only objects can be told apart.
    expect(counts(strings)).toEqual([1, 1]);
  });

  test('E3: an error that the inner guard ignored is judged again by the outer one', () => {
    const { session } = bench({ tools: { a: {}, b: { outcomes: { network: 'ignored' } } } });
    nested(session);
    expect(counts(session)).toEqual([1, 0]);
  });

  test('E3: each session counts an error for itself', () => {
    const { session, box } = bench();
    const other = box.session();
    const error = outage();
    const outer = session.acquire('a');
    other.acquire('b').settle({ error });
    outer.settle({ error });
    expect([session.peek('a')?.failures, other.peek('b')?.failures]).toEqual([1, 1]);
  });

  test('C1, E3: a failure of a disabled or observed tool, or a late one, was not counted, so the outer one is', () => {
    for (const mode of ['disabled', 'observe_only'] as const) {
      const { session } = bench();
      session.control('b', mode);
      nested(session);
      expect(session.peek('a')?.failures, mode).toBe(1);
      expect(session.view().budget.remaining).toBe(4);
    }
    const { session } = bench();
    const [outer, inner] = ['a', 'b'].map((tool) => session.acquire(tool));
    session.control('b', 'disabled');
    session.control('b', 'automatic');
    const error = outage();
    inner?.settle({ error });
    outer?.settle({ error });
    expect(session.peek('a')?.failures).toBe(1);
  });

  test('C8, E3: an outer probe that is ignored for this reason waits for the next rung', () => {
    const { session } = bench();
    for (let i = 0; i < 3; i += 1) session.acquire('a').settle({ error: outage() });
    for (let i = 0; i < 3; i += 1) session.step();
    nested(session);
    expect(session.peek('a')).toMatchObject({ state: 'open', nextProbe: { steps: 3 } });
    for (let i = 0; i < 3; i += 1) session.step();
    expect(session.acquire('a').decision).toBe('probe');
  });

  test('C13, E3: an error that blames the group counts for it once', () => {
    const { session } = grouped();
    const outer = session.acquire('a');
    const error = outage();
    session.acquire('b').settle({ error, blames: 'group' });
    outer.settle({ error, blames: 'group' });
    expect(session.peek('group:g')).toMatchObject({ state: 'open', generation: 1 });
    expect(session.view().budget.remaining).toBe(4);
  });
});
