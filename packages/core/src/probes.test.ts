import { expect, test } from 'vitest';
import { firstLapsed, type Probe, type Probing } from './probes.ts';

/** Probes in the order in which they set out, by the end of their leases. */
const probing = (...ends: readonly number[]): Probing =>
  new Map(
    ends.map((untilMs, id) => {
      const lease = { id, untilMs };
      return [lease, { lease } as Probe];
    }),
  );

const first = (found: Probing, ms: number) => firstLapsed(found, ms)?.lease.id;

test('C9: a lease runs out when its time is reached, not before', () => {
  expect(first(probing(), 100)).toBeUndefined();
  expect(first(probing(100), 99)).toBeUndefined();
  expect(first(probing(100), 100)).toBe(0);
});

test('C9: of several that ran out, the first to do so, whichever set out first', () => {
  expect(first(probing(90, 70, 80), 100)).toBe(1);
  expect(first(probing(70, 90, 80), 100)).toBe(0);
  expect(first(probing(90, 80, 170), 100)).toBe(1);
});

test('C9: of those that ran out together, the one that set out first', () => {
  expect(first(probing(90, 80, 80), 100)).toBe(1);
});
