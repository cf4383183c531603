import { describe, expect, test } from 'vitest';
import { TRIP_CHECKS } from './trip-policies.ts';

type Key = keyof typeof TRIP_CHECKS;

const issues = (key: Key, value: unknown) => TRIP_CHECKS[key](`tools.s.${key}`, value);

describe('E6, C3: trip policies that can work', () => {
  test.each<[Key, unknown]>([
    ['failureThreshold', 1],
    ['failureThreshold', false],
    ['failureRate', { rate: 1 }],
    ['failureRate', { rate: 0.001, minimumCalls: 100 }],
    ['failureRate', { rate: 0.5, windowCalls: 5 }],
    ['failureRate', { rate: 0.5, minimumCalls: 5, windowCalls: 5 }],
    ['failureRate', { rate: 0.5, windowCalls: 100_000 }],
    ['failureRate', { rate: 0.5, minimumCalls: 1_000, windowMs: 0.5 }],
    ['failureRate', { rate: 0.5, windowCalls: undefined, windowMs: 1_000 }],
    ['slowCallRate', { rate: 0.5, slowerThanMs: 0.1 }],
    ['slowCallRate', { rate: 0.5, slowerThanMs: 5_000, minimumCalls: 2, windowMs: 1_000 }],
    ['wastedTokens', { tokens: 1 }],
    ['wastedTokens', { tokens: 0.5, windowMs: 1 }],
  ])('E6: %s: %j passes', (key, value) => {
    expect(issues(key, value)).toEqual([]);
  });
});

describe('E6, C3: trip policies that are rejected', () => {
  test.each<[Key, unknown, string, string]>([
    ['failureThreshold', 0, '', 'is 0. Set a whole number of at least 1'],
    [
      'failureThreshold',
      1.5,
      '',
      'or leave it out. The circuit opens after this many failures in a row. With 0, no call could pass.',
    ],
    ['failureThreshold', true, '', 'is true'],
    ['failureRate', 0.5, '', 'is 0.5. Give an object such as { rate: 0.5 }.'],
    ['failureRate', {}, '.rate', 'is undefined. Set the share of calls as a number above 0 and at most 1'],
    ['failureRate', { rate: 0 }, '.rate', 'is 0. Set the share'],
    ['failureRate', { rate: 1.01 }, '.rate', 'is 1.01. Set the share'],
    ['failureRate', { rate: Number.NaN }, '.rate', 'is NaN. Set the share'],
    ['failureRate', { rate: '0.5' }, '.rate', "is '0.5'. Set the share"],
    ['failureRate', { rate: '50%' }, '.rate', "is '50%'. Set the share"],
    ['failureRate', { rate: 0.5, minimumCalls: 0 }, '.minimumCalls', 'is 0. Set a whole number of at least 1'],
    ['failureRate', { rate: 0.5, windowCalls: 0 }, '.windowCalls', 'is 0. Set a whole number of at least 1'],
    ['failureRate', { rate: 0.5, windowCalls: 2.5 }, '.windowCalls', 'is 2.5'],
    ['failureRate', { rate: 0.5, windowCalls: 100_001 }, '.windowCalls', 'is 100001. Set at most 100000'],
    [
      'failureRate',
      { rate: 0.5, windowCalls: 2e5 + 0.5 },
      '.windowCalls',
      'is 200000.5. Set a whole number of at least 1, or leave it out. The rate',
    ],
    [
      'failureRate',
      { rate: 0.5, windowMs: 0 },
      '.windowMs',
      'is 0. Set a finite number above 0, or leave it out. The rate',
    ],
    [
      'failureRate',
      { rate: 0.5, minimumCalls: 1.5 },
      '.minimumCalls',
      'is 1.5. Set a whole number of at least 1, or leave it out. With fewer calls',
    ],
    ['failureRate', { rate: 0.5, windowMs: 1_000, windowCalls: 50 }, '.windowMs', 'is 1000, but windowCalls (50)'],
    [
      'failureRate',
      { rate: 0.5, minimumCalls: 11, windowCalls: 10 },
      '.minimumCalls',
      'is 11, but the window holds 10 calls, so',
    ],
    [
      'failureRate',
      { rate: 0.5, minimumCalls: 101 },
      '.minimumCalls',
      'the window holds 100 calls by default, so the circuit could never open. Lower',
    ],
    [
      'failureRate',
      { rate: 0.5, slowerThanMs: 1 },
      '.slowerThanMs',
      'is not a setting. Allowed here: rate, minimumCalls',
    ],
    [
      'slowCallRate',
      { rate: 0.5 },
      '.slowerThanMs',
      'is undefined. Set a finite number above 0: a call that takes longer',
    ],
    ['slowCallRate', { slowerThanMs: 1 }, '.rate', 'is undefined'],
    ['slowCallRate', { rate: 0.5, slowerThanMs: 0 }, '.slowerThanMs', 'is 0'],
    ['slowCallRate', { rate: 0.5, slowerThanMs: 1, slow: 1 }, '.slow', 'is not a setting'],
    ['wastedTokens', 5, '', 'is 5. Give an object such as { tokens: 10000 }.'],
    ['wastedTokens', {}, '.tokens', 'is undefined. Set a finite number above 0: the circuit opens'],
    ['wastedTokens', { tokens: 0 }, '.tokens', 'is 0. Set a finite number above 0'],
    [
      'wastedTokens',
      { tokens: 1, windowMs: 0 },
      '.windowMs',
      'is 0. Set a finite number above 0, or leave it out. Tokens',
    ],
    ['wastedTokens', { tokens: 1, windowMs: -1 }, '.windowMs', 'is -1'],
    [
      'wastedTokens',
      { tokens: 1, windowCalls: 1 },
      '.windowCalls',
      'is not a setting. Allowed here: tokens, windowMs.',
    ],
  ])('E6: %s: %j', (key, value, where, message) => {
    expect(issues(key, value)).toEqual([
      { path: `tools.s.${key}${where}`, message: expect.stringContaining(message) as string },
    ]);
  });
});
