import { createBreakerbox } from '@breakerbox/core';
import { expect, test } from 'vitest';
import { createJournal, type Entry, entryLine } from './journal.ts';

const down = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });

/** A box of two tools whose session the journal follows. */
const followed = () => {
  const journal = createJournal(() => 0);
  journal.begin();
  const box = createBreakerbox({ agent: 'agent', tools: { a: { cooldownMs: 60_000 }, b: {} } });
  journal.follow(box);
  const session = box.session();
  const call = (tool: string, error?: unknown): void =>
    session.acquire(tool).settle(error === undefined ? { outcome: 'success' } : { error });
  return { journal, session, call, texts: () => journal.entries.map(({ text, times }) => `${text} x${times}`) };
};

test('counts every decision, and writes down all but calls', () => {
  const { journal, call, texts } = followed();
  for (let n = 0; n < 5; n += 1) call('a', down);
  expect(journal.tallies.get('agent')?.get('a')).toEqual({ call: 3, probe: 0, skip: 2, pause: 0 });
  expect(texts()).toEqual(['a: closed -> open (network) x1', 'skip a (open) x2']);
});

test('what repeats is one entry, and is heard of once', () => {
  const { journal, call } = followed();
  const heard: Entry[] = [];
  journal.onEntry((entry) => heard.push(entry));
  for (let n = 0; n < 3; n += 1) call('a', down);
  for (let n = 0; n < 9; n += 1) {
    call('a');
    call('b');
  }
  expect(heard.map(entryLine)).toEqual([
    '00:00  agent           a: closed -> open (network)',
    '00:00  agent           skip a (open) x9',
  ]);
});

test('writes down a systemic failure from beginning to end', () => {
  const { journal, session, call } = followed();
  for (let n = 0; n < 3; n += 1) {
    call('a', down);
    call('b', down);
  }
  expect(journal.told.systemic).toMatchObject([
    { agent: 'agent', category: 'network', tools: ['a', 'b'], resolvedAtMs: null },
  ]);
  session.confirmRecovered();
  expect(journal.told.systemic).toMatchObject([{ resolvedAtMs: 0 }]);
});

test('writes down an exhausted budget and its resumption', () => {
  const { journal, session, call } = followed();
  for (let n = 0; n < 3; n += 1) call('a', down);
  for (let n = 0; n < 2; n += 1) call('b', Object.assign(new Error('too slow'), { name: 'TimeoutError' }));
  session.resume();
  expect(journal.told.budgets.map(({ what }) => what)).toEqual(['exhausted', 'resumed']);
});

test('keeps the latest when there is too much', () => {
  const journal = createJournal(() => 0);
  for (let n = 0; n < 2500; n += 1) journal.note('who', String(n));
  expect(journal.entries).toHaveLength(2000);
  expect(journal.entries.at(-1)?.text).toBe('2499');
});
