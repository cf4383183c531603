import { expect, test } from 'vitest';
import { isShort, shortened } from './names.ts';

test('E6: a name of 256 characters stays as it is, a longer one is cut to that many', () => {
  const longest = 'x'.repeat(256);
  expect([isShort(longest), shortened(longest)]).toEqual([true, longest]);
  expect([isShort(`${longest}y`), shortened(`${longest}y`)]).toEqual([false, `${'x'.repeat(255)}…`]);
});

test('E6: no character is cut in two', () => {
  const cut = shortened(`${'x'.repeat(254)}${'😀'.repeat(5)}`);
  expect(cut).toBe(`${'x'.repeat(254)}…`);
  expect(encodeURIComponent(cut)).toContain('%E2%80%A6'); // Throws for half a character.
});

test('E6: half a character becomes the sign that UTF-8 has for it, and no name may be written so', () => {
  for (const name of ['a\ud800b', 'a\udfffb']) {
    expect([isShort(name), shortened(name)]).toEqual([false, 'a\ufffdb']);
  }
  expect([isShort('😀'), shortened('😀'), isShort('\ufffd')]).toEqual([true, '😀', true]);
  expect(shortened(`\udc00${'x'.repeat(300)}`)).toBe(`\ufffd${'x'.repeat(254)}…`);
});
