import { describe, expect, it } from 'vitest';
import { MAX_RETRY_AFTER_MS, parseRetryAfter, readRetryAfter } from './retry-after.ts';

const NOW = Date.UTC(2026, 10, 20, 12, 0, 0);

describe('O3: the value of Retry-After', () => {
  it.each<[string, number | undefined]>([
    ['0', 0],
    ['120', 120_000],
    [' 1.5 ', 1500],
    ['Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
    ['Friday, 20-Nov-26 12:00:30 GMT', 30_000],
    ['Fri Nov 20 12:00:30 2026', 30_000],
    ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
    [String(MAX_RETRY_AFTER_MS / 1000), MAX_RETRY_AFTER_MS],
    [String(MAX_RETRY_AFTER_MS / 1000 + 1), undefined],
    ['1795176000', undefined],
    ['Fri, 20 Nov 2099 12:00:00 GMT', undefined],
    ['-5', undefined],
    ['', undefined],
    ['soon', undefined],
    ['Fri, 99 Nov 2026', undefined],
    ['12 parsecs', undefined],
    ['1e3', undefined],
    ['Infinity', undefined],
  ])('%j is %s ms', (value, wanted) => {
    expect(parseRetryAfter(value, NOW)).toBe(wanted);
  });

  it('a clock that is not a number gives no wait', () => {
    expect(parseRetryAfter('Fri, 20 Nov 2026 12:00:30 GMT', Number.NaN)).toBeUndefined();
  });
});

describe('O3: where it is found', () => {
  it.each<[string, unknown, number | undefined]>([
    ['Headers', { headers: new Headers({ 'Retry-After': '2' }) }, 2000],
    ['a plain object', { headers: { 'RETRY-AFTER': '2' } }, 2000],
    ['a list of values', { headers: { 'retry-after': ['2', '9'] } }, 2000],
    ['a number', { headers: { 'retry-after': 2 } }, 2000],
    ['response.headers', { response: { headers: { 'retry-after': '2' } } }, 2000],
    ['responseHeaders', { responseHeaders: { 'retry-after': '2' } }, 2000],
    ['milliseconds go first', { headers: { 'retry-after': '2', 'retry-after-ms': '1500' } }, 1500],
    ['garbage in milliseconds', { headers: { 'retry-after': '2', 'retry-after-ms': 'x' } }, 2000],
    ['retryAfter in seconds', { retryAfter: 2 }, 2000],
    ['retryAfterMs', { retryAfterMs: 250 }, 250],
    ['a negative retryAfter', { retryAfter: -2 }, undefined],
    ['NaN', { retryAfter: Number.NaN }, undefined],
    ['Infinity', { retryAfter: Number.POSITIVE_INFINITY }, undefined],
    ['no headers', { headers: null }, undefined],
    ['headers that are none', { headers: 'retry-after: 2' }, undefined],
    ['no error', undefined, undefined],
  ])('%s', (_, error, wanted) => {
    expect(readRetryAfter(error, NOW)).toBe(wanted);
  });

  it('a `get` that throws does not hide a plain property', () => {
    const headers = {
      get() {
        throw new Error('no');
      },
      'Retry-After': '2',
    };
    expect(readRetryAfter({ headers }, NOW)).toBe(2000);
  });
});
