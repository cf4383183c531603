import { ERROR_CATEGORIES } from '@breakerbox/core';
import { expect, it } from 'vitest';
import { ANSWERS, FIRST, OUTAGES } from './words.ts';

const HOSTS: readonly unknown[] = [undefined, 'missing', 'refused', 'other'];

it.each(Object.entries({ FIRST, OUTAGES, ANSWERS }))(
  'O2: each line of %s names a known category and host',
  (_, hints) => {
    expect(hints.filter(({ category }) => !ERROR_CATEGORIES.includes(category))).toEqual([]);
    expect(hints.filter(({ host }) => !HOSTS.includes(host))).toEqual([]);
  },
);
