import { describe, expect, test } from 'vitest';
import { type Books, enter, hasPending, withShadow } from './books.ts';
import type { Ledger } from './ledger.ts';
import { at, failed, opened, sliding, strict } from './test-support.ledger.ts';

const start = sliding.ledger;
const one = (ledger: Ledger): Ledger => failed({ ...sliding, ledger }, 'search', 'network', at(1)).ledger;
const same = (ledger: Ledger): Ledger => ledger;
const alone: Books = { real: start, shadow: undefined };

describe('C1: the ledgers of a session', () => {
  test('C1: while no tool is observed there is one', () => {
    expect(enter(alone, false, one)).toEqual({ real: one(start), shadow: undefined });
  });

  test('C1: the shadow begins with all that has happened so far', () => {
    expect(withShadow(enter(alone, false, one))).toEqual({ real: one(start), shadow: one(start) });
  });

  test('C1: a second tool that is observed goes on in the shadow of the first', () => {
    const books = enter(withShadow(alone), true, one);
    expect(withShadow(books)).toBe(books);
  });

  test('C1: what happens to an observed tool costs nothing, and is in the shadow', () => {
    expect(enter(withShadow(alone), true, one)).toEqual({ real: start, shadow: one(start) });
  });

  test('C1: what happens to any other tool is in both, and each is told which it is', () => {
    const books = enter(withShadow(alone), true, one);
    expect(enter(books, false, one)).toEqual({ real: one(start), shadow: one(one(start)) });
    expect(enter(books, false, (ledger, isShadow) => (isShadow ? ledger : one(ledger)))).toEqual({
      real: one(start),
      shadow: books.shadow,
    });
  });

  test.each([
    ['without a shadow', alone],
    ['with one', withShadow(alone)],
    ['where the two differ', enter(withShadow(alone), true, one)],
  ])('C1: what changes neither ledger gives the same object: %s', (_, books) => {
    expect(enter(books, false, same)).toBe(books);
    expect(enter(books, true, same)).toBe(books);
  });
});

const charged = one(start);
/** Charged at once, so that nothing changes it but `resume()`. */
const strictly = failed(strict, 'search', 'network', at(0)).ledger;
/** A failure of `mail` in the category of `search`, which is open: it waits for the window to pass (S3). */
const waiting = failed(opened(strict, 'search', 'network', at(0)), 'mail', 'network', at(1)).ledger;

test.each<[string, Books, boolean]>([
  ['nothing is charged', { real: start, shadow: start }, false],
  ['nothing is charged, and there is no shadow', alone, false],
  ['B1: a charge of the only one', { real: charged, shadow: undefined }, true],
  ['B1: a charge of the shadow', { real: start, shadow: charged }, true],
  ['B6: a charge by the rule strict', { real: strictly, shadow: strictly }, false],
  ['B6, S3: a provisional one by the rule strict', { real: waiting, shadow: undefined }, true],
  ['B6, S3: a provisional one of the shadow', { real: strictly, shadow: waiting }, true],
])('B1, S3: whether time may change a ledger: %s', (_, books, expected) => {
  expect(hasPending(books)).toBe(expected);
});
