import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  dependenciesOf,
  dependents,
  keptChains,
  longestChains,
  sharedDependency,
  withDependents,
} from './capability.ts';

const toolsOf = (tools: Record<string, string[]>) =>
  Object.fromEntries(Object.entries(tools).map(([tool, dependsOn]) => [tool, { dependsOn }]));

const dependencies = (tools: Record<string, string[]>) => dependenciesOf(toolsOf(tools));

test('P4: every tool is in the map, even one that depends on nothing', () => {
  expect(dependenciesOf({ a: { dependsOn: ['b'] }, b: {} })).toEqual(
    new Map([
      ['a', ['b']],
      ['b', []],
    ]),
  );
});

describe('the longest chain', () => {
  const map = dependencies({
    report: ['search', 'db'],
    search: ['fetch', 'internet'],
    fetch: ['proxy'],
    proxy: ['internet'],
    chart: ['report'],
    db: ['disk'],
    clock: [],
  });

  test.each([
    ['report', 5],
    ['chart', 5],
    ['search', 5],
    ['proxy', 5],
    ['db', 3],
    ['clock', 1],
    ['unknown', undefined],
    ['internet', undefined],
  ])('P4: through %s it has %s tools; resources are not links', (tool, length) => {
    expect(longestChains(map).get(tool)).toBe(length);
  });

  const name = fc.integer({ min: 0, max: 6 }).map((n) => `t${n}`);

  test('P4: it equals the result of counting every path', () => {
    // Arrows from low to high alone: no cycles.
    const arrows = fc.array(fc.tuple(name, name).filter(([from, to]) => from < to));
    fc.assert(
      fc.property(arrows, name, (all, tool) => {
        const names = Array.from({ length: 6 }, (_, n) => `t${n}`); // t6 is a resource.
        const lists = names.map((from) => [from, all.filter((one) => one[0] === from).map(([, to]) => to)] as const);
        const next = new Map(lists);
        const paths = (from: string): string[][] => [
          [from],
          ...(next.get(from) ?? [])
            .filter((to) => next.has(to))
            .flatMap((to) => paths(to).map((path) => [from, ...path])),
        ];
        const through = names.flatMap(paths).filter((path) => path.includes(tool));
        const longest = Math.max(1, ...through.map(({ length }) => length));
        expect(keptChains(() => toolsOf(Object.fromEntries(lists))).length(tool)).toBe(longest);
      }),
      { numRuns: 500 },
    );
  });

  test('P4: a cycle, which the configuration rejects, ends it', () => {
    const cycle = dependencies({ a: ['b'], b: ['c'], c: ['a'], d: ['d'] });
    const lengths = longestChains(cycle);
    expect(lengths.get('a')).toBeGreaterThanOrEqual(1);
    expect(lengths.get('a')).toBeLessThanOrEqual(5);
    expect(lengths.get('d')).toBe(1);
  });
});

describe('shared dependencies of several tools', () => {
  const map = dependencies({
    search: ['fetch'],
    fetch: ['proxy'],
    news: ['proxy'],
    proxy: ['internet'],
    mail: ['internet'],
    notes: ['disk'],
  });

  test.each([
    [['search', 'news'], 'proxy'],
    [['search', 'mail'], 'internet'],
    [['search', 'fetch'], 'fetch'],
    [['fetch', 'search'], 'fetch'],
    [['proxy', 'news', 'search'], 'proxy'],
    [['search', 'news', 'mail'], 'internet'],
    [['search', 'notes'], undefined],
    [['search', 'news', 'notes'], undefined],
    [['unknown', 'search'], undefined],
    [['search'], 'search'],
    [[], undefined],
  ])('S4: %j: %s', (tools, shared) => {
    expect(sharedDependency(tools, map)).toBe(shared);
  });

  test('S4: the nearest in total is named, and among equals the nearest to the first tool', () => {
    const near = dependencies({
      a: ['far', 'mid'],
      b: ['far', 'x'],
      mid: ['near'],
      x: ['near'],
      c: ['p', 'q'],
      d: ['q', 'p'],
    });
    expect(sharedDependency(['a', 'b'], near)).toBe('far');
    expect(sharedDependency(['c', 'd'], near)).toBe('p');
    expect(sharedDependency(['d', 'c'], near)).toBe('q');
    const uneven = dependencies({ e: ['m', 'k'], m: ['s'], f: ['s', 'n'], n: ['k'] });
    expect(sharedDependency(['e', 'f'], uneven)).toBe('k');
    expect(sharedDependency(['f', 'e'], uneven)).toBe('s');
    // k is nearer to g, and s to both.
    const longer = dependencies({ g: ['k', 'm'], m: ['s'], h: ['s', 'n'], n: ['o'], o: ['k'] });
    expect(sharedDependency(['g', 'h'], longer)).toBe('s');
  });

  test('S4: if several paths lead to a name, the shortest counts', () => {
    // s is nearer to a than t is, and t nearer to b; the way from a to s by m is longer.
    const detour = dependencies({ a: ['s', 'm'], m: ['s', 't'], b: ['t', 'k'], k: ['s'] });
    expect(sharedDependency(['a', 'b'], detour)).toBe('s');
  });

  test('S4: cycles are visited once', () => {
    const cycle = dependencies({ a: ['b'], b: ['a'], c: ['c', 'b'] });
    expect(sharedDependency(['a', 'b'], cycle)).toBe('a');
    expect(sharedDependency(['c', 'a'], cycle)).toBe('b');
  });
});

describe('tools that depend on a tool', () => {
  const map = dependencies({
    report: ['search', 'db'],
    search: ['fetch'],
    fetch: ['proxy'],
    chart: ['report'],
    clock: [],
  });

  test.each([
    [['fetch'], ['fetch', 'search', 'report', 'chart']],
    [['chart'], ['chart']],
    [
      ['clock', 'search'],
      ['clock', 'search', 'report', 'chart'],
    ],
    [
      ['group:files', 'unknown'],
      ['group:files', 'unknown'],
    ],
    [[], []],
  ])('S2: of %j: %j, and resources are not tools', (tools, all) => {
    expect([...withDependents(tools, dependents(map))]).toEqual(all);
    expect([...withDependents(['proxy'], dependents(map))]).toEqual(['proxy']);
  });

  test('S2: cycles are visited once', () => {
    expect([...withDependents(['a'], dependents(dependencies({ a: ['b'], b: ['a'], c: ['c', 'b'] })))]).toEqual([
      'a',
      'b',
      'c',
    ]);
  });
});

test('P4, S2, S4: cached results are computed again after a tool was declared', () => {
  const tools: Record<string, { dependsOn: string[] }> = { a: { dependsOn: ['b'] }, b: { dependsOn: [] } };
  const chains = keptChains(() => tools);
  const look = () => [chains.length('a'), chains.shared(['a', 'b']), [...chains.withDependents(['b'])].join()];
  expect(look()).toEqual([2, 'b', 'b,a']);
  Object.assign(tools, { c: { dependsOn: ['a'] } });
  expect(look()).toEqual([2, 'b', 'b,a']);
  chains.forget();
  expect(look()).toEqual([3, 'b', 'b,a,c']);
});
