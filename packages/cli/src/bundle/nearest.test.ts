import { expect, it } from 'vitest';
import { nearestFirst } from './nearest.ts';

it('begins with what was probably meant', () => {
  expect(nearestFirst('circutOpenFor', ['burnFast', 'circuitOpenFor', 'gap'])[0]).toBe('circuitOpenFor');
  expect(nearestFirst('GAP', ['burnFast', 'gap'])).toEqual(['gap', 'burnFast']);
  expect(nearestFirst('', ['b', 'aa'])).toEqual(['b', 'aa']);
});
