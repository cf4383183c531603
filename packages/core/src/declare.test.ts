import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createBreakerbox } from './breakerbox.ts';
import { BreakerboxConfigError } from './errors.ts';
import { bench, failOnce, succeedOnce, trip, watchWarnings } from './test-support.ts';

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
  test('C2: are declared up to 2,000, or ten times maxTools if that is more; the next are called as undeclared ones, and that is told once', () => {
    const warnings = watchWarnings();
    const { box, session } = bench({ agent: 'flooded', tools: { real: {} }, maxTools: 210, budget: { failures: 10 } });
    for (let n = 0; n < 5_000; n += 1) session.declare(`made-up-${n}`);
    expect(box.tools).toHaveLength(2_100);
    expect(warnings()).toEqual([
      expect.stringMatching(/^BREAKERBOX_TOO_MANY_TOOLS: .*'flooded' has 2100 declared tools.*raise maxTools \(210\)/),
    ]);
    trip(session, 'made-up-2098');
    for (let n = 0; n < 4; n += 1) expect(failOnce(session, 'made-up-2099', 'server')).toBe('call');
    expect([session.peek('made-up-2098')?.state, session.peek('made-up-2099')]).toEqual(['open', undefined]);
    expect(succeedOnce(session, 'real')).toBe('call');
  });

  test('C2: keep their circuits where maxTools is low to save series', () => {
    const { box, session } = bench({ tools: {}, maxTools: 1, budget: { failures: 10 } });
    for (let n = 0; n < 3_000; n += 1) session.declare(`t${n}`);
    expect(box.tools).toHaveLength(2_000);
    trip(session, 't1999');
    expect(session.peek('t1999')?.state).toBe('open');
  });

  test.each([undefined, '', ' ', 5])('E6: %o is no name, however many there are', (name) => {
    const { session } = bench({ tools: {}, maxTools: 1 });
    const refused = () => session.declare(name as string);
    expect(refused).toThrow(BreakerboxConfigError);
    for (let n = 0; n < 2_001; n += 1) session.declare(`t${n}`);
    expect(refused).toThrow(BreakerboxConfigError);
  });

  test('C2: those that a person declares by hand, or configures, have no bound; nor do those that are declared already', () => {
    const warnings = watchWarnings();
    const tools = Object.fromEntries(Array.from({ length: 2_005 }, (_, n) => [`t${n}`, {}]));
    const { box, session } = bench({ tools, maxTools: 1 });
    box.declare('by hand');
    session.declare('by hand');
    session.declare('t2004');
    expect(box.tools).toHaveLength(2_006);
    expect(warnings()).toEqual([]);
  });
});

describe('C13: the group that an adapter names', () => {
  test.each<[string, string, number]>([
    ['a long one', 'x'.repeat(300), 240],
    ['one that is cut within a character', `${'x'.repeat(239)}${'😀'.repeat(30)}`, 240],
    ['half a character', '\ud800', 1],
    ['an empty one', '', 'unnamed'.length],
    ['a blank one', '  ', 'unnamed'.length],
  ])('C13, E6: %s is made fit for metrics, and its session can be restored', (_, group, most) => {
    const { box, session } = bench({ tools: {} });
    session.declare('listed', { group });
    const permit = session.acquire('listed');
    expect(permit.group?.length).toBeLessThanOrEqual(most);
    expect(permit.group).not.toBe('');
    expect(box.restore(session.snapshot()).view().circuits).toMatchObject([{ tool: `group:${permit.group}` }, {}]);
  });
});

describe('E5: a logger that throws', () => {
  test('E5: refuses no snapshot whose circuits have to wait', () => {
    loggerOf({ info: throwing, error: throwing });
    const { session } = bench();
    trip(session, 'a');
    const snapshot = session.snapshot();
    for (const scope of ['session', 'process'] as const) {
      expect(createBreakerbox({ agent: 'tester', scope }).restore(snapshot).id).toBe('run-1');
    }
  });

  test('E5: and no tool that is declared beyond the bound, where warnings throw as well', () => {
    loggerOf({ warn: throwing, error: throwing });
    watchWarnings();
    vi.mocked(process.emitWarning).mockImplementation(throwing);
    const { session } = bench({ tools: {}, maxTools: 1 });
    expect(() => {
      for (let n = 0; n < 2_002; n += 1) session.declare(`t${n}`);
    }).not.toThrow();
  });
});

describe('E6: names that are on everything that is exported are short', () => {
  const LONG = 'x'.repeat(257);

  test("E6: an agent's is refused", () => {
    expect(() => createBreakerbox({ agent: LONG })).toThrow(/agent: is a text of 257 characters.*at most 256/);
    expect(createBreakerbox({ agent: LONG.slice(1) }).agent).toHaveLength(256);
  });

  test("E6: a session's is, given or restored", () => {
    const { box, session } = bench();
    expect(() => box.session({ id: LONG })).toThrow(/session\.id: is a text of 257 characters.*at most 256/);
    expect(() => box.restore({ ...session.snapshot(), id: LONG })).toThrow(/snapshot\.id: is a text of 257/);
    expect(box.session({ id: LONG.slice(1) }).id).toHaveLength(256);
  });
});
