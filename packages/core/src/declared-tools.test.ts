import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createBreakerbox } from './breakerbox.ts';
import { BreakerboxConfigError } from './checks/checks.ts';
import { restore } from './snapshot/restore.ts';
import { snapshot } from './snapshot/snapshot.ts';
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

describe('tools that session.declare adds', () => {
  test('C2: at most 2,000 are declared, or ten times maxTools if that is more; further tools are called as undeclared ones, with one warning', () => {
    const warnings = watchWarnings();
    const { box, session } = bench({ agent: 'flooded', tools: { real: {} }, maxTools: 210, budget: { failures: 10 } });
    for (let n = 0; n < 5_000; n += 1) session.declare(`made-up-${n}`);
    expect(box.tools).toHaveLength(2_100);
    expect(warnings()).toEqual([
      expect.stringMatching(
        /^BREAKERBOX_TOO_MANY_SERIES: .*'flooded' has 210 tools.*'made-up-209' and all that follow/,
      ),
      expect.stringMatching(/^BREAKERBOX_TOO_MANY_TOOLS: .*'flooded' has 2100 declared tools.*raise maxTools \(210\)/),
    ]);
    trip(session, 'made-up-2098');
    for (let n = 0; n < 4; n += 1) expect(failOnce(session, 'made-up-2099', 'server')).toBe('call');
    expect([session.peek('made-up-2098')?.state, session.peek('made-up-2099')]).toEqual(['open', undefined]);
    expect(succeedOnce(session, 'real')).toBe('call');
  });

  test.each([' ', '', '\u115f', '\u3164', '\u2800', '\u{1d159}', '\u200b\u00ad'])(
    'C2: a name of which nothing can be seen (%j) has no circuit: its calls pass, with one warning, and nothing throws',
    (name) => {
      const { session, box } = bench({ agent: 'blank', tools: {} });
      session.declare(name);
      expect(box.tools).toEqual([]);
      for (let call = 0; call < 4; call += 1) session.acquire(name).settle({ outcome: 'failure', category: 'network' });
      expect(session.acquire(name)).toMatchObject({ decision: 'call', reason: 'undeclared' });
      expect(() => box.declare(name)).toThrow(/Set a name that isn't empty/);
    },
  );

  test('C2: they keep their circuits if maxTools is low to save series', () => {
    const { box, session } = bench({ tools: {}, maxTools: 1, budget: { failures: 10 } });
    for (let n = 0; n < 3_000; n += 1) session.declare(`t${n}`);
    expect(box.tools).toHaveLength(2_000);
    trip(session, 't1999');
    expect(session.peek('t1999')?.state).toBe('open');
  });

  test.each([undefined, 5])('E6: %o is not a name, even after many of them', (name) => {
    const { session } = bench({ tools: {}, maxTools: 1 });
    const declare = () => session.declare(name as unknown as string);
    expect(declare).toThrow(BreakerboxConfigError);
    for (let n = 0; n < 2_001; n += 1) session.declare(`t${n}`);
    expect(declare).toThrow(BreakerboxConfigError);
  });

  test('C2: tools that you declare or configure have no bound, nor have tools that are already declared', () => {
    const warnings = watchWarnings();
    const tools = Object.fromEntries(Array.from({ length: 2_005 }, (_, n) => [`t${n}`, {}]));
    const { box, session } = bench({ tools, maxTools: 1 });
    box.declare('by hand');
    session.declare('by hand');
    session.declare('t2004');
    expect(box.tools).toHaveLength(2_006);
    expect(warnings()).toEqual([expect.stringMatching(/^BREAKERBOX_TOO_MANY_SERIES: /)]);
  });
});

describe('C13: a group that an adapter names', () => {
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
    expect(restore(box, snapshot(session)).view().circuits).toMatchObject([{ tool: `group:${permit.group}` }, {}]);
  });
});

describe('E5: a logger that throws', () => {
  test('E5: it rejects no snapshot with circuits that wait', () => {
    loggerOf({ info: throwing, error: throwing });
    const { session } = bench();
    trip(session, 'a');
    for (const scope of ['session', 'process'] as const) {
      expect(restore(createBreakerbox({ agent: 'tester', scope }), snapshot(session)).id).toBe('run-1');
    }
  });

  test('E5: it rejects no tool beyond the bound, even if warnings throw as well', () => {
    loggerOf({ warn: throwing, error: throwing });
    watchWarnings();
    vi.mocked(process.emitWarning).mockImplementation(throwing);
    const { session } = bench({ tools: {}, maxTools: 1 });
    expect(() => {
      for (let n = 0; n < 2_002; n += 1) session.declare(`t${n}`);
    }).not.toThrow();
  });
});
