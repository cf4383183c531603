import { expect, test } from 'vitest';
import type { SessionPermit } from './permit.ts';
import { Probing } from './probes-under-way.ts';

const settle = () => {};

/** Probes in the order in which they began, by the ends of their leases. `take` gives the index of the one that has lapsed. */
const probing = (...ends: readonly number[]) => {
  const found = new Probing();
  const probes = ends.map((leaseUntilMs) => ({ leaseUntilMs }) as SessionPermit);
  for (const one of probes) found.begin(one, settle);
  const take = (ms: number, from = found) => {
    const [lapsed] = from.takeLapsed(ms) ?? [];
    return lapsed && probes.indexOf(lapsed);
  };
  return { found, probes, take };
};

test('C9: each probe lapses once, when its lease ends, the earliest end first', () => {
  expect(probing().take(100)).toBeUndefined();
  const { take } = probing(90, 70, 80, 170, 70);
  expect([69, 70, 70, 70].map((ms) => take(ms))).toEqual([undefined, 1, 4, undefined]);
  expect([100, 100, 169, 170].map((ms) => take(ms))).toEqual([2, 0, undefined, 3]);
});

test('C9: a probe that was settled does not lapse', () => {
  const { found, probes, take } = probing(90, 70);
  for (const one of probes.slice(1)) found.end(one);
  expect([take(89), take(90), take(1_000)]).toEqual([undefined, 0, undefined]);
});

test('C11: a copy has the same probes and handlers, and removes none from the original', () => {
  const { found, take } = probing(90, 70);
  const copy = found.copy();
  expect(copy.takeLapsed(100)?.[1]).toBe(settle);
  expect([take(100, copy), take(100, copy)]).toEqual([0, undefined]);
  expect([take(100), take(100)]).toEqual([1, 0]);
});
