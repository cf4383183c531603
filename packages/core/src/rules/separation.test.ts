import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { restore } from '../snapshot/restore.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { bench, failOnce, steps, succeedOnce } from '../test-support.ts';
import { bringDown, callWith, hear } from './test-support.rules.ts';

afterEach(() => vi.useRealTimers());

const SOURCE = new URL('../', import.meta.url);
/** What is shipped: no tests, and nothing that only they use. */
const sources = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !/\.test\.ts$|test-support|^(proof|rules|outcome\/real)\b/.test(file),
);

describe('E: deciding and doing', () => {
  test('E1: core imports itself and the OpenTelemetry API, and depends on nothing else', () => {
    expect(sources.length).toBeGreaterThan(50);
    for (const file of sources) {
      const text = readFileSync(new URL(file, SOURCE), 'utf8');
      const imported = [...text.matchAll(/^(?:import|export)\b[^;]*?\bfrom '([^']+)'/gm)].map(([, from]) => from);
      for (const from of imported) expect(from, file).toMatch(/^(@opentelemetry\/api$|\.)/);
    }
    const { dependencies, peerDependencies } = JSON.parse(readFileSync(new URL('../package.json', SOURCE), 'utf8'));
    expect(dependencies).toBeUndefined();
    expect(Object.keys(peerDependencies)).toEqual(['@opentelemetry/api']);
  });

  test('E1: core calls no tool, changes no argument or result, and uses the category that it gets', () => {
    const { session, box } = bench({ tools: { a: { labelFreshness: true, serveStaleMs: 1_000 } } });
    const outcomes = hear(box, 'outcome');
    const tool = vi.fn(() => 'answer');
    const input = Object.freeze({ query: Object.freeze(['x']), tool });
    const result = Object.freeze({ rows: Object.freeze([1]) });
    callWith(session, 'a', input, { outcome: 'success', result });
    callWith(session, 'a', input, { result });
    callWith(session, 'a', input, { outcome: 'failure', category: 'server' });
    session.control('a', 'forced_open');
    const { route } = session.acquire('a', { input });
    expect(route).toMatchObject({ kind: 'stale', result });
    expect(tool).not.toHaveBeenCalled();
    expect(outcomes.at(-1)?.category).toBe('server');
  });

  test('E2: a decision is synchronous, even while checks take their time', () => {
    const never = () => new Promise<never>(() => {});
    const { session } = bench({
      tools: { a: { precheck: never }, b: {}, c: {} },
      systemic: { recovery: { healthCheck: never } },
    });
    expect(session.acquire('a')).toMatchObject({ decision: 'call', reason: 'closed' });
    bringDown(session, 'b', 'c');
    expect(session.acquire('a')).toMatchObject({ decision: 'pause', reason: 'systemic' });
    expect('then' in session.acquire('a')).toBe(false);
  });

  test('E4: only callers that ask call a failing tool, and after it opened only one probe at a time does', () => {
    const { session, box } = bench({ budget: { failures: 50 } });
    const decisions = hear(box, 'decision');
    for (let i = 0; i < 30; i += 1) {
      failOnce(session, 'a');
      if (i % 3 === 2) session.step();
    }
    const run = decisions.map(({ decision }) => decision);
    expect(run).toHaveLength(30);
    expect(run.slice(0, 3)).toEqual(['call', 'call', 'call']);
    expect(run.slice(3).filter((decision) => decision === 'call')).toEqual([]);
    expect(run.filter((decision) => decision === 'probe')).toHaveLength(3);
  });
});

describe('C10: time', () => {
  test('C10: time comes from the injected clock, whatever the wall clock does', () => {
    vi.useFakeTimers();
    const { session, clock } = bench();
    for (let i = 0; i < 3; i += 1) failOnce(session, 'a');
    vi.setSystemTime(Date.now() + 86_400_000);
    vi.advanceTimersByTime(86_400_000);
    expect(session.acquire('a').decision).toBe('skip');
    vi.setSystemTime(0);
    clock.advance(60_000);
    expect(succeedOnce(session, 'a')).toBe('probe');
  });

  test('C10: a whole run sets no timer', () => {
    vi.useFakeTimers();
    const { session, clock, box } = bench({
      tools: { a: {}, b: {}, c: { precheck: () => new Promise(() => {}) } },
      systemic: { recovery: { afterMs: 1_000, healthCheck: () => new Promise(() => {}) } },
    });
    session.acquire('c');
    bringDown(session);
    session.acquire('c');
    clock.advance(1_000);
    steps(session, 3);
    session.acquire('a'); // A probe with its lease.
    restore(box, snapshot(session));
    expect(vi.getTimerCount()).toBe(0);
  });
});
