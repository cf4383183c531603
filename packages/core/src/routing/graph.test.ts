import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeCycle, walk } from './capability.ts';

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
const graphs = fc.dictionary(name, fc.uniqueArray(name), { noNullPrototype: true });

test('E6: in any graph, every name occurs once, and each cycle found is one', () => {
  fc.assert(
    fc.property(graphs, (graph) => {
      const next = (one: string) => graph[one] ?? [];
      const { order, cycles } = walk(Object.keys(graph), next);
      expect(new Set(order)).toEqual(new Set([...Object.keys(graph), ...Object.values(graph).flat()]));
      expect(order.length).toBe(new Set(order).size);
      for (const cycle of cycles) {
        for (const [index, one] of cycle.entries()) expect(next(one)).toContain(cycle[(index + 1) % cycle.length]);
      }
      expect(cycles.length).toBe(new Set(cycles.map(describeCycle)).size);
      // Each name comes after all that it points to, but where a cycle was found that its arrow closes. So none is missed.
      const closing = new Set(cycles.map((cycle) => `${cycle.at(-1)} → ${cycle[0]}`));
      const ahead = order.flatMap((one, at) =>
        next(one)
          .filter((other) => order.indexOf(other) >= at)
          .map((other) => `${one} → ${other}`),
      );
      expect(new Set(ahead)).toEqual(closing);
    }),
    { numRuns: 500 },
  );
});

test('E6: a cycle is written from its first name back to it', () => {
  expect(describeCycle(['a', 'b'])).toBe('a → b → a');
  expect(describeCycle(['a'])).toBe('a → a');
  const long = Array.from({ length: 13 }, (_, index) => `t${index}`);
  expect(describeCycle(long)).toBe(`${long.slice(0, 10).join(' → ')} → 3 more → t0`);
});
