import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createBreakerbox } from './breakerbox.ts';
import { bench, failOnce, succeedOnce, trip } from './test-support.ts';

afterEach(() => diag.disable());

const loggerOf = (over: Partial<DiagLogger>): void => {
  const silent = () => {};
  const all: DiagLogger = { error: silent, warn: silent, info: silent, debug: silent, verbose: silent, ...over };
  diag.setLogger(all, { logLevel: DiagLogLevel.ALL, suppressOverrideMessage: true });
};

const throwing = () => {
  throw new Error('the logger is down');
};

describe('tools that are merely seen', () => {
  test('are declared up to ten times maxTools; the next are called as if nobody had declared them, and that is told once', () => {
    const warn = vi.fn();
    loggerOf({ warn });
    const { box, session } = bench({ agent: 'flooded', tools: { real: {} }, maxTools: 2, budget: { failures: 10 } });
    for (let n = 0; n < 5_000; n += 1) session.declare(`made-up-${n}`);
    expect(box.tools).toHaveLength(20);
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/'flooded' has 20 declared tools.*raise maxTools \(2\)/)]]);
    trip(session, 'made-up-18');
    for (let n = 0; n < 4; n += 1) expect(failOnce(session, 'made-up-19', 'server')).toBe('call');
    expect([session.peek('made-up-18')?.state, session.peek('made-up-19')]).toEqual(['open', undefined]);
    expect(succeedOnce(session, 'real')).toBe('call');
  });

  test('those that a person declares by hand, or configures, have no bound; nor do those that are declared already', () => {
    const warn = vi.fn();
    loggerOf({ warn });
    const tools = Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`t${n}`, {}]));
    const { box, session } = bench({ tools, maxTools: 1 });
    box.declare('by hand');
    session.declare('by hand');
    session.declare('t14');
    expect(box.tools).toHaveLength(16);
    expect(warn).not.toHaveBeenCalled();
  });
});

describe('E5: a logger that throws', () => {
  test('refuses no snapshot whose circuits have to wait', () => {
    loggerOf({ info: throwing, error: throwing });
    const { session } = bench();
    trip(session, 'a');
    const snapshot = session.snapshot();
    for (const scope of ['session', 'process'] as const) {
      expect(createBreakerbox({ agent: 'tester', scope }).restore(snapshot).id).toBe('run-1');
    }
  });

  test('and no tool that is declared beyond the bound', () => {
    loggerOf({ warn: throwing, error: throwing });
    const { session } = bench({ tools: {}, maxTools: 1 });
    expect(() => {
      for (let n = 0; n < 12; n += 1) session.declare(`t${n}`);
    }).not.toThrow();
  });
});

describe('E6: names that stand on everything that is exported are short', () => {
  const LONG = 'x'.repeat(257);

  test("an agent's is refused", () => {
    expect(() => createBreakerbox({ agent: LONG })).toThrow(/agent: is a text of 257 characters.*at most 256/);
    expect(createBreakerbox({ agent: LONG.slice(1) }).agent).toHaveLength(256);
  });

  test("a session's is, given or restored", () => {
    const { box, session } = bench();
    expect(() => box.session({ id: LONG })).toThrow(/session\.id: is a text of 257 characters.*at most 256/);
    expect(() => box.restore({ ...session.snapshot(), id: LONG })).toThrow(/snapshot\.id: is a text of 257/);
    expect(box.session({ id: LONG.slice(1) }).id).toHaveLength(256);
  });
});
