import { expect, test } from 'vitest';
import type { SessionPermit } from './permit.ts';
import { Probing } from './probes.ts';

const probe = (leaseUntilMs: number) => ({ leaseUntilMs }) as SessionPermit;

/** Probes in the order in which they began, by the end of their leases. */
const probing = (...ends: readonly number[]) => {
  const found = new Probing();
  const probes = ends.map(probe);
  for (const one of probes) found.begin(one);
  const first = (ms: number) => {
    const lapsed = found.firstLapsed(ms);
    return lapsed && probes.indexOf(lapsed);
  };
  return { found, probes, first };
};

test('C9: a lease runs out when its time is reached, not before', () => {
  expect(probing().first(100)).toBeUndefined();
  expect(probing(100).first(99)).toBeUndefined();
  expect(probing(100).first(100)).toBe(0);
});

test('C9: of several that ran out, the first to do so, whichever began first', () => {
  expect(probing(90, 70, 80).first(100)).toBe(1);
  expect(probing(70, 90, 80).first(100)).toBe(0);
  expect(probing(90, 80, 170).first(100)).toBe(1);
});

test('C9: of those that ran out together, the one that began first', () => {
  expect(probing(90, 80, 80).first(100)).toBe(1);
});

test('C9: one after the other, as they end and new ones begin', () => {
  const { found, probes, first } = probing(90, 70);
  expect(first(70)).toBe(1);
  for (const one of probes.slice(1)) found.end(one);
  expect(first(89)).toBeUndefined();
  const sooner = probe(80);
  found.begin(sooner);
  expect(found.firstLapsed(79)).toBeUndefined();
  expect(found.firstLapsed(85)).toBe(sooner);
  for (const one of [...probes, sooner]) found.end(one);
  expect([found.size, found.firstLapsed(1_000)]).toEqual([0, undefined]);
});

test('C11: a copy has the same probes, and ends none of the original', () => {
  const { found, probes } = probing(90, 70);
  const copy = found.copy();
  for (const one of probes) {
    expect(copy.size).toBeGreaterThan(0);
    copy.end(one);
  }
  expect([copy.size, copy.firstLapsed(100), found.size, found.firstLapsed(100)]).toEqual([0, undefined, 2, probes[1]]);
  const none = new Probing();
  none.end(probe(100));
  expect([none.size, none.copy().size]).toEqual([0, 0]);
});
