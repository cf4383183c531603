import { createBreakerbox } from '@breakerbox/core';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Instructions, steadyNote, withNote, withoutNote } from './system-note.ts';
import { watchedSession } from './test-support/watched-session.ts';

const FRAGILE = { search: { failureThreshold: 1 } };
const failed = { outcome: 'failure', category: 'network' } as const;

describe('R3: a note is removed as it was added', () => {
  const { session } = watchedSession({ tools: FRAGILE });
  session.acquire('search').settle(failed);
  const note = steadyNote(session);
  const system = (content: string) => ({ role: 'system' as const, content });
  const own = 'They write <breakerbox>\nso\n</breakerbox>';

  test.each<[string, Instructions | undefined, Instructions | undefined]>([
    ['a text', 'Be brief.', 'Be brief.'],
    ['a text that ends in newlines', 'Be brief.\n\n', 'Be brief.\n\n'],
    ['a text with such a block of its own', own, own],
    ['a text that is such a block', own.slice(11), own.slice(11)],
    ['no text', undefined, undefined],
    ['a message', system('Be brief.'), [system('Be brief.')]],
    ['messages, with such a block too', [system('A\n'), system(own.slice(11))], [system('A\n'), system(own.slice(11))]],
  ])('%s', (_, instructions, expected) => {
    expect(withoutNote(withNote(instructions, note), session)).toEqual({ instructions: expected, noted: true });
    expect(withoutNote(instructions, session)).toEqual({ instructions, noted: false });
  });

  test('if no tool is unavailable, only your own prompt is left', () => {
    const { session: healthy } = watchedSession({ tools: FRAGILE });
    expect(steadyNote(healthy)).toBe('');
    for (const text of ['Be brief.\n\n', '']) {
      expect(withoutNote(text, healthy)).toEqual({ instructions: text, noted: false });
    }
    expect(withoutNote([system('')], healthy).noted).toBe(false);
  });

  test('of an earlier state too, as a parallel run may have added it; the note of another session stays', () => {
    const [one, other] = [watchedSession({ tools: FRAGILE }).session, watchedSession({ tools: FRAGILE }).session];
    one.acquire('search').settle(failed);
    const before = withNote('Be brief.', steadyNote(one));
    one.control('search', 'forced_open');
    expect(steadyNote(one)).not.toBe(note);
    expect(withoutNote(before, one)).toEqual({ instructions: 'Be brief.', noted: true });
    expect(withoutNote(before, other).noted).toBe(false);
  });

  test('the last 50 notes of a session are recognised', () => {
    const { box, session: long } = watchedSession();
    const said = Array.from({ length: 52 }, (_, tool) => {
      box.declare(`tool-${tool}`, { failureThreshold: 1 });
      long.control(`tool-${tool}`, 'forced_open');
      return withNote('Be brief.', steadyNote(long));
    });
    expect(said.map((one) => withoutNote(one, long).noted)).toEqual([false, false, ...Array(50).fill(true)]);
  });
});

describe('the words of a note', () => {
  let nowMs: number;
  beforeEach(() => {
    nowMs = 0;
  });
  const clock = { now: () => nowMs, unixNow: () => nowMs };
  const MINUTE_MS = 60_000;

  test('stay the same while time passes, and change when the probe of another session has raised the wait', () => {
    const box = createBreakerbox({ agent: 'test-agent', clock, scope: 'process', tools: FRAGILE });
    const [one, other] = [box.session(), box.session()];
    one.acquire('search').settle(failed);
    const first = steadyNote(one);
    expect(first).toContain('in about 60 s');
    nowMs += MINUTE_MS / 2;
    expect(one.note()).toContain('in about 30 s');
    expect(steadyNote(one)).toBe(first);
    nowMs += MINUTE_MS / 2;
    other.acquire('search').settle(failed);
    expect(steadyNote(one)).toContain('in about 2 min');
    nowMs += MINUTE_MS;
    expect(steadyNote(one)).toContain('in about 2 min');
  });

  test('change when the tool is unavailable again', () => {
    const { session } = createAt();
    const waits = [MINUTE_MS, 2 * MINUTE_MS].map((wait) => {
      session.acquire('search').settle(failed);
      const note = steadyNote(session);
      nowMs += wait;
      return note;
    });
    expect(waits).toEqual([expect.stringContaining('in about 60 s'), expect.stringContaining('in about 2 min')]);
    session.acquire('search').settle({ outcome: 'success' });
    expect(steadyNote(session)).toBe('');
    session.acquire('search').settle(failed);
    expect(steadyNote(session)).toContain('in about 60 s');
  });

  const createAt = () => ({ session: createBreakerbox({ agent: 'test-agent', clock, tools: FRAGILE }).session() });
});

test('D2: while a run uses more of the same limits, the words stay the same, for the prompt cache', () => {
  const { session } = watchedSession({ limits: { calls: 10, cost: { amount: 1, currency: 'USD' } } });
  const call = (cost = 0) => session.acquire('search').settle({ outcome: 'success', cost });
  for (let i = 0; i < 8; i += 1) call();
  const first = steadyNote(session);
  expect(first).toContain('8 of 10 tool calls');
  call();
  expect(session.note()).toContain('9 of 10 tool calls');
  expect(steadyNote(session)).toBe(first);
  call(0.85);
  const both = steadyNote(session);
  expect(both).toContain('10 of 10 tool calls, and 0.85 of 1 USD');
  session.spend({ cost: 0.05 });
  expect(steadyNote(session)).toBe(both);
});

test('D2: the words change once a limit is extended, so that they name its size', () => {
  const { session } = watchedSession({ limits: { calls: 10 } });
  for (let i = 0; i < 9; i += 1) session.acquire('search').settle({ outcome: 'success' });
  expect(steadyNote(session)).toContain('9 of 10 tool calls');
  session.extend('calls', 1);
  expect(steadyNote(session)).toContain('9 of 11 tool calls');
});
