import { describe, expect, it } from 'vitest';
import { retryAfterIn } from './text.ts';

describe('O3: the wait that a text asks for', () => {
  it.each([
    ['HTTP 429, Retry-After: 30', 30_000],
    ['please retry after 5 seconds', 5000],
    ['{"retry-after":"7"}', 7000],
    ['retry after 30 ms', undefined],
    ['retry after 2 minutes', undefined],
    ['retry after 30ms', undefined],
    ['retry after 604800', 604_800_000],
    ['retry after 604801', undefined],
    ['retry later', undefined],
  ])('in text: %s', (text, wanted) => {
    expect(retryAfterIn(text)).toBe(wanted);
  });
});
