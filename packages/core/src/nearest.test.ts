import { expect, it } from 'vitest';
import { meant, nearestFirst } from './nearest.ts';

it('begins with what was probably meant', () => {
  expect(nearestFirst('circutOpenFor', ['burnFast', 'circuitOpenFor', 'gap'])[0]).toBe('circuitOpenFor');
  expect(nearestFirst('GAP', ['burnFast', 'gap'])).toEqual(['gap', 'burnFast']);
  expect(nearestFirst('', ['b', 'aa'])).toEqual(['b', 'aa']);
});

it.each([
  ['failureTreshold', 'failureThreshold'],
  ['coolDownMs', 'cooldownMs'],
  ['bugdet', 'budget'],
  ['retries', undefined],
  ['', undefined],
])('says of %j that %s was meant', (written, name) => {
  expect(meant(written, ['budget', 'failureRate', 'failureThreshold', 'cooldownMs', 'mode'])).toBe(name);
});

it('guesses nothing where there is nothing, and reads no book', () => {
  expect(meant('budget', [])).toBeUndefined();
  expect(meant(`${'b'.repeat(1e6)}`, ['budget'])).toBeUndefined();
});
