import { describe, expect, test } from 'vitest';
import { type Books, enter, hasProvisional, withoutCircuits, withShadow } from './books.ts';
import type { Ledger } from './ledger.ts';
import { at, failed, start, tripped } from './test-support.ledger.ts';

const one = (ledger: Ledger): Ledger => failed(ledger, 'search', 'network', at(1));
const same = (ledger: Ledger): Ledger => ledger;
const alone: Books = { real: start, shadow: undefined };

/** A failure of `mail` in the category of `search`, which is open: it waits for the window to pass (S3). */
const waiting = failed(tripped(start, 'search', 'network', at(0)), 'mail', 'network', at(1));

describe('C1: the books of a session', () => {
  test('C1: while no tool is observed there is one ledger', () => {
    expect(enter(alone, false, one)).toEqual({ real: one(start), shadow: undefined });
  });

  test('C1: a trial begins with all that has happened so far', () => {
    const books = enter(alone, false, one);
    expect(withShadow(books)).toEqual({ real: one(start), shadow: one(start) });
  });

  test('C1: a second tool that is observed goes on in the shadow of the first', () => {
    const books = enter(withShadow(alone), true, one);
    expect(withShadow(books)).toBe(books);
  });

  test('C1: what happens to an observed tool costs nothing, and is in the shadow', () => {
    expect(enter(withShadow(alone), true, one)).toEqual({ real: start, shadow: one(start) });
  });

  test('C1: what happens to any other tool is in both', () => {
    const books = enter(withShadow(alone), true, one);
    expect(enter(books, false, one)).toEqual({ real: one(start), shadow: one(one(start)) });
  });

  test.each([
    ['without a trial', alone],
    ['with one', withShadow(alone)],
    ['where the two differ', enter(withShadow(alone), true, one)],
  ])('what changes neither ledger gives the same books: %s', (_, books) => {
    expect(enter(books, false, same)).toBe(books);
    expect(enter(books, true, same)).toBe(books);
  });

  test('what changes one ledger alone is entered', () => {
    const books = enter(withShadow(alone), true, one);
    const real = (ledger: Ledger) => (ledger === books.real ? one(ledger) : ledger);
    expect(enter(books, false, real)).toEqual({ real: one(start), shadow: books.shadow });
  });
});

test.each<[string, Books, boolean]>([
  ['in neither', { real: start, shadow: start }, false],
  ['in the only one', { real: waiting, shadow: undefined }, true],
  ['in the real one', { real: waiting, shadow: start }, true],
  ['in the shadow alone', { real: start, shadow: waiting }, true],
  ['nowhere, without a trial', alone, false],
])('S3: failures wait for their window: %s', (_, books, waits) => {
  expect(hasProvisional(books)).toBe(waits);
});

test('C12: without the circuits of others, what was spent stays, in the shadow too', () => {
  const spent = tripped(tripped(one(start), 'search', 'network', at(1)), 'mail', 'network', at(2));
  const bare = { ...spent, openings: [], event: undefined, paid: false };
  expect(withoutCircuits({ real: spent, shadow: undefined })).toEqual({ real: bare, shadow: undefined });
  expect(withoutCircuits({ real: start, shadow: spent })).toEqual({ real: start, shadow: bare });
});
