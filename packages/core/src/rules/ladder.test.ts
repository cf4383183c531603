import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ToolConfig } from '../config/config.ts';
import { bench, failOnce, steps, succeedOnce, trip } from '../test-support.ts';
import { bringDown } from './test-support.rules.ts';

describe('P3: probing after a systemic event', () => {
  test('P3: the waits are 3, 6, 12, 20, 20 steps, however much time passes', () => {
    const { session } = bench({ budget: { failures: 50 } });
    bringDown(session);
    session.confirmRecovered();
    for (const rung of [3, 6, 12, 20, 20]) {
      expect(session.peek('a')?.nextProbe?.steps).toBe(rung);
      steps(session, rung - 1);
      expect(session.acquire('a').decision).toBe('skip');
      session.step();
      expect(failOnce(session, 'a')).toBe('probe');
    }
    expect(session.peek('a')?.nextProbe?.steps).toBe(20);
  });

  test('P3: no two tools are due on one step, also on later rungs', () => {
    const { session } = bench({ budget: { failures: 99 } });
    const calls = ['a', 'b', 'c', 'd'].flatMap((tool) => [1, 2, 3].map(() => session.acquire(tool)));
    for (const call of calls) call.settle({ outcome: 'failure', category: 'network' });
    session.confirmRecovered();
    const due = () => session.view().circuits.map(({ nextProbe }) => nextProbe?.steps ?? 0);
    for (let step = 0; step < 60; step += 1) {
      const waits = due();
      expect(new Set(waits).size).toBe(waits.length);
      session.step();
      const probed = ['a', 'b', 'c', 'd'].filter((tool) => failOnce(session, tool) === 'probe');
      expect(probed.length).toBeLessThanOrEqual(1);
    }
  });

  test('P3: closing ends the ladder: the next outage waits as any other', () => {
    const { session } = bench({ budget: { failures: 50 } });
    bringDown(session);
    session.confirmRecovered();
    steps(session, 3);
    failOnce(session, 'a');
    steps(session, 6);
    expect(succeedOnce(session, 'a')).toBe('probe');
    trip(session, 'a', 'server');
    expect(session.peek('a')?.nextProbe?.steps).toBe(3);
    steps(session, 3);
    failOnce(session, 'a');
    expect(session.peek('a')?.nextProbe?.steps).toBe(3);
  });

  test('P3: if the session makes no steps, the wait begins again by time', () => {
    const { session, clock } = bench();
    bringDown(session);
    clock.advance(59_000);
    session.confirmRecovered();
    clock.advance(59_999);
    expect(session.acquire('a').decision).toBe('skip');
    clock.advance(1);
    expect(session.acquire('a').decision).toBe('probe');
  });

  test('P3: tools that an operator controls do not change', () => {
    const { session } = bench();
    session.control('c', 'forced_open');
    bringDown(session);
    session.confirmRecovered();
    expect(session.peek('c')).toMatchObject({ state: 'forced_open', nextProbe: undefined });
    steps(session, 30);
    expect(session.acquire('c').reason).toBe('forced_open');
  });
});

describe('P4: waits of tools that depend on one another', () => {
  const chain = { a: { dependsOn: ['b'] }, b: { dependsOn: ['c'] }, c: {}, d: {} };
  const alone = { systemic: false, budget: { failures: 999 } } as const;

  test('P4: each link of a chain of three waits at most a third of the cap', () => {
    const { session, clock } = bench({ ...alone, tools: chain, chainBackoffMs: 150_000 });
    trip(session, 'a');
    expect(session.peek('a')?.nextProbe?.ms).toBe(50_000);
    clock.advance(50_000);
    failOnce(session, 'a');
    expect(session.peek('a')?.nextProbe?.ms).toBe(50_000); // Doubling doesn't lead beyond it.
    trip(session, 'd');
    clock.advance(60_000);
    failOnce(session, 'd');
    expect(session.peek('d')?.nextProbe?.ms).toBe(120_000); // On its own.
  });

  test('P4: by default the waits add up to 300 s', () => {
    const { session, clock } = bench({ ...alone, tools: { a: { dependsOn: ['b'] }, b: {} } });
    trip(session, 'a');
    for (const wait of [60_000, 120_000, 150_000, 150_000]) {
      expect(session.peek('a')?.nextProbe?.ms).toBe(wait);
      clock.advance(wait);
      failOnce(session, 'a');
    }
  });

  test('P4: a resource is not a link, and a tool that is declared later becomes one', () => {
    const { session, box, clock } = bench({
      ...alone,
      tools: { a: { dependsOn: ['gateway'] } },
      chainBackoffMs: 80_000,
    });
    trip(session, 'a');
    expect(session.peek('a')?.nextProbe?.ms).toBe(60_000);
    box.declare('top', { dependsOn: ['a'] });
    clock.advance(60_000);
    failOnce(session, 'a');
    expect(session.peek('a')?.nextProbe?.ms).toBe(40_000);
  });

  test('P4: a Retry-After still applies', () => {
    const { session } = bench({ ...alone, tools: chain, chainBackoffMs: 3_000 });
    for (let i = 0; i < 3; i += 1) failOnce(session, 'a', 'rate_limit', 90_000);
    expect(session.peek('a')?.nextProbe).toMatchObject({ ms: 1_000, notBeforeMs: 90_000 });
  });

  test('P4: for any chains and failures, waits along a chain never exceed the cap together', () => {
    const names = ['t0', 't1', 't2', 't3', 't4', 't5'];
    const arrows = fc.array(fc.tuple(fc.nat(5), fc.nat(5)), { maxLength: 12 });
    const outages = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 30 });
    const caps = fc.constantFrom(1_000, 60_000, 250_000, 300_000);
    fc.assert(
      fc.property(arrows, outages, caps, (some, fallen, chainBackoffMs) => {
        // Arrows lead upwards alone, so that there is no cycle.
        const basis = (from: number) => [
          ...new Set(some.filter(([x, y]) => x === from && y > x).map(([, y]) => `t${y}`)),
        ];
        const tools = Object.fromEntries(names.map((name, i): [string, ToolConfig] => [name, { dependsOn: basis(i) }]));
        const { session, clock } = bench({ ...alone, tools, chainBackoffMs });
        for (const tool of fallen) {
          trip(session, tool);
          clock.advance(session.peek(tool)?.nextProbe?.ms ?? 0);
          failOnce(session, tool); // The probe: the wait doubles.
          const wait = (name: string) => session.peek(name)?.nextProbe?.ms ?? 0;
          const longest = (name: string): number =>
            Math.max(0, wait(name)) + Math.max(0, ...(tools[name]?.dependsOn ?? []).map(longest));
          for (const name of names) {
            if ((tools[name]?.dependsOn ?? []).length > 0)
              expect(longest(name)).toBeLessThanOrEqual(chainBackoffMs + 1e-6);
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});
