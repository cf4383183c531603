import { createBreakerbox } from '@breakerbox/core';
import { report as reportOf } from '@breakerbox/core/report';
import { planScope } from '@breakerbox/core/scope';
import { expect, test } from 'vitest';
import { createJournal, entryLine, type JournalEntry } from './journal.ts';

const down = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });

/** A box of two tools, and a journal that follows its session. */
const followed = (budget?: 'strict') => {
  const journal = createJournal(() => 0);
  journal.begin();
  const tools = { a: { cooldownMs: 60_000 }, b: {} };
  const box = createBreakerbox({ agent: 'agent', tools, ...(budget && { budget }) });
  journal.follow(box);
  const session = box.session();
  const call = (tool: string, error?: unknown): void =>
    session.acquire(tool).settle(error === undefined ? { outcome: 'success' } : { error });
  return { journal, session, call, texts: () => journal.entries.map(({ text, times }) => `${text} x${times}`) };
};

test('counts every decision, and records all but calls', () => {
  const { journal, call, texts } = followed();
  for (let n = 0; n < 5; n += 1) call('a', down);
  expect(journal.tallies.rows()).toEqual([{ agent: 'agent', tool: 'a', call: 3, probe: 0, skip: 2, pause: 0 }]);
  expect(texts()).toEqual(['a: closed -> open (network) x1', 'skip a (open) x2']);
});

test('records repeats as one entry, and reports it once', () => {
  const { journal, call } = followed();
  const heard: JournalEntry[] = [];
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

test('records where skipped calls went, and what plans deferred', () => {
  const journal = createJournal(() => 0);
  journal.begin();
  const box = createBreakerbox({
    agent: 'agent',
    tools: { a: { alternatives: [{ tool: 'b', degradation: 'low' }] }, b: {}, c: { fallback: 'ask the user' } },
  });
  journal.follow(box);
  const session = box.session();
  for (let n = 0; n < 3; n += 1) session.acquire('a').settle({ error: down });
  session.control('c', 'forced_open');
  session.acquire('a');
  session.acquire('c');
  const one = { name: 'one', tools: ['a'] };
  const two = { name: 'two', tools: ['c'] };
  for (const tasks of [[one, two], [one, two], [two]]) planScope(session, tasks);
  expect(journal.entries.map(entryLine)).toEqual([
    '00:00  agent           a: closed -> open (network)',
    '00:00  agent           c: closed -> forced_open',
    '00:00  agent           skip a (open) -> b',
    '00:00  agent           skip c (forced_open) -> by hand',
    '00:00  agent           plan: deferred: two; b instead of a x2',
    '00:00  agent           plan: all deferred: two',
  ]);
  expect(journal.meanwhile('agent', 'a')).toBe('b');
  expect(journal.routes.ofAgent('agent')).toEqual({ alternative: 1, stale: 0, manual: 1, defer: 0 });
  expect(journal.deferrals.get('agent')).toBe(3);
  expect(journal.recorded.scope.map(({ decision }) => decision)).toEqual(['reduce', 'reduce', 'pause']);
});

test('records stale results with their label, and reports', () => {
  const { journal, session } = followed();
  for (let n = 0; n < 2; n += 1) journal.stale('agent', 'a', 'stale: retrieved 2026-11-20 21:14:03 UTC');
  journal.report(reportOf(session));
  expect(journal.entries.map(entryLine)).toEqual([
    '00:00  agent           a stale: retrieved 2026-11-20 21:14:03 UTC x2',
    '00:00  agent           No tool has been used yet.',
  ]);
  expect(journal.recorded.stale).toHaveLength(2);
  expect(journal.recorded.reports).toMatchObject([{ atMs: 0, report: { agent: 'agent', state: 'active' } }]);
});

test('records a systemic failure from beginning to end', () => {
  const { journal, session, call } = followed();
  for (let n = 0; n < 3; n += 1) {
    call('a', down);
    call('b', down);
  }
  expect(journal.recorded.systemic).toMatchObject([
    { agent: 'agent', category: 'network', tools: ['a', 'b'], resolvedAtMs: null },
  ]);
  session.confirmRecovered();
  expect(journal.recorded.systemic).toMatchObject([{ resolvedAtMs: 0 }]);
});

test('records an exhausted budget and its resumption', () => {
  const { journal, session, call } = followed('strict');
  for (let n = 0; n < 3; n += 1) call('a', down);
  for (let n = 0; n < 2; n += 1) call('b', Object.assign(new Error('too slow'), { name: 'TimeoutError' }));
  session.resume();
  expect(journal.recorded.budgets.map(({ what }) => what)).toEqual(['exhausted', 'resumed']);
});

test('keeps only the latest entries', () => {
  const journal = createJournal(() => 0);
  for (let n = 0; n < 2500; n += 1) journal.note('who', String(n));
  expect(journal.entries).toHaveLength(2000);
  expect(journal.entries.at(-1)?.text).toBe('2499');
});
