import { expect, test } from 'vitest';
import { type Probe, Probing } from './probes.ts';

/** Probes in the order in which they set out, by the end of their leases. */
const probing = (...ends: readonly number[]): Probing => {
  const made = new Probing();
  for (const [id, untilMs] of ends.entries()) made.begin({ lease: { id, untilMs } } as Probe);
  return made;
};

const first = (found: Probing, ms: number) => found.firstLapsed(ms)?.lease.id;

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

test('C9: one after the other, as they end and new ones set out', () => {
  const found = probing(90, 70);
  expect(found.firstLapsed(70)?.lease.untilMs).toBe(70);
  for (const { lease } of [...found.all()]) if (lease.untilMs === 70) found.end(lease);
  expect(first(found, 89)).toBeUndefined();
  found.begin({ lease: { id: 7, untilMs: 80 } } as Probe); // Sooner than what is left.
  expect(first(found, 79)).toBeUndefined();
  expect(first(found, 85)).toBe(7);
  for (const { lease } of [...found.all()]) found.end(lease);
  expect(found.size).toBe(0);
  expect(first(found, 1_000)).toBeUndefined();
});
