import { expect, test } from 'vitest';
import { bench, trip } from './test-support.ts';
import { quotesRejection, written } from './written-rejections.ts';

test('R3: a text in place of a call is known once it has been read, and the mark alone is not', () => {
  const { session } = bench();
  trip(session, 'a');
  const { message } = session.acquire('a');
  expect(quotesRejection(`Error: ${message}\n    at a tool`)).toBe(true);
  // The process knows the texts of other tests.
  expect(quotesRejection(message.replace("'a'", "'a tool of no test'"))).toBe(false);
  expect(quotesRejection('[breakerbox:not-called]')).toBe(false);
});

test('R3: the 256 latest texts are kept, each once', () => {
  const text = (n: number) => `Tool ${n} [breakerbox:not-called]`;
  for (let n = 0; n < 256; n += 1) written(text(n));
  written(text(0));
  written(text(256));
  expect([0, 1, 2, 256].map((n) => quotesRejection(text(n)))).toEqual([true, false, true, true]);
});
