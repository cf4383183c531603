import { describe, expect, test, vi } from 'vitest';
import type { BreakerboxConfig } from './config/config.ts';
import { noticeExecutor, noticeWrapped } from './mistakes.ts';
import { report } from './report/report.ts';
import type { Session } from './session-api.ts';
import { boxInternals } from './session-internals.ts';
import { restore } from './snapshot/restore.ts';
import { snapshot } from './snapshot/snapshot.ts';
import { openSeries } from './telemetry/readers.ts';
import { bench, failOnce, succeedOnce, watchWarnings } from './test-support.ts';

const times = (count: number, run: () => unknown): void => {
  for (let n = 0; n < count; n += 1) run();
};

/** The codes of the warnings that a program causes. */
const codesOf = (run: () => void): readonly string[] => {
  const warnings = watchWarnings();
  run();
  return warnings().map((one) => one.split(':')[0] ?? '');
};

test('C14: a box remembers which declared tools have ever succeeded, in any session and also too late', () => {
  const { box, session } = bench();
  const has = (tool: string) => boxInternals(box, 'test').context.evidence.succeeded.has(tool);
  failOnce(session, 'a');
  succeedOnce(session, 'undeclared');
  expect(['a', 'undeclared'].map(has)).toEqual([false, false]);
  const late = session.acquire('a');
  times(2, () => failOnce(session, 'a'));
  late.settle({ outcome: 'success' });
  session.end();
  expect([session.peek('a')?.state, has('a'), has('b')]).toEqual(['open', true, false]);
});

describe('a budget that ends before a circuit can open', () => {
  const made = (config: Partial<BreakerboxConfig>) => codesOf(() => bench({ tools: { a: {} }, ...config }));
  const SMALL = ['BREAKERBOX_BUDGET_TOO_SMALL'];

  test.each<[string, Partial<BreakerboxConfig>]>([
    ['B6: rule strict with fewer failures than the threshold', { budget: { rule: 'strict', failures: 2 } }],
    [
      'B6: rule strict, and a tool that needs more than five',
      { budget: 'strict', tools: { a: { failureThreshold: 6 } } },
    ],
    ['B1: a single failure where none is provisional', { budget: { failures: 1 }, systemic: false }],
  ])('%s: the session pauses first, and a warning says so', (_, config) => {
    expect(made(config)).toEqual(SMALL);
    const { session } = bench({ tools: { a: {} }, ...config });
    times(7, () => failOnce(session, 'a', 'server'));
    expect(session.view().state).toBe('paused_budget');
    expect(session.peek('a')?.state).toBe('closed');
  });

  test.each<[string, Partial<BreakerboxConfig>]>([
    ['B1: rule window, where one tool alone does not use it up', { budget: { failures: 2 } }],
    ['S3: a single failure that is provisional', { budget: { failures: 1 } }],
    ['B6: as many failures as the threshold', { budget: { rule: 'strict', failures: 3 } }],
    ['B6: the default of strict', { budget: 'strict' }],
    ['C3: a rate that may open the circuit', { ...strictOf({ failureRate: { rate: 0.1, minimumCalls: 1 } }) }],
    ['C3: failures in a row that open nothing', strictOf({ failureThreshold: false, failureRate: { rate: 0.5 } })],
    ['C1: a tool that is only observed', strictOf({ mode: 'observe_only' })],
    ['C12: circuits that sessions share', { ...strictOf({}), scope: 'process' }],
    ['B5: no circuits at all', { ...strictOf({}), scope: 'none' }],
  ])('%s: no warning', (_, config) => {
    expect(made(config)).toEqual([]);
  });

  test('the warning also covers the budget of a session, and a tool that is declared later', () => {
    expect(codesOf(() => bench().box.session({ budget: { rule: 'strict', failures: 1 } }))).toEqual(SMALL);
    const later = () => bench({ tools: {}, budget: { rule: 'strict', failures: 2 } }).session.declare('seen');
    expect(codesOf(later)).toEqual(SMALL);
  });

  function strictOf(a: NonNullable<BreakerboxConfig['tools']>[string]): Partial<BreakerboxConfig> {
    return { budget: { rule: 'strict', failures: 2 }, tools: { a } };
  }
});

describe('a tool that was never declared', () => {
  test('it is reported after three calls, with the closest name', () => {
    const warnings = watchWarnings();
    const { session } = bench({ tools: { web_search: {} } });
    times(2, () => succeedOnce(session, 'web_serach'));
    expect(warnings()).toEqual([]);
    times(2, () => succeedOnce(session, 'web_serach'));
    expect(warnings()).toEqual([
      expect.stringMatching(/^BREAKERBOX_UNDECLARED_TOOL: .*'web_serach'.*If 'web_search' is meant/),
    ]);
  });

  test('it is reported after three failures in three sessions, too', () => {
    const { box } = bench({ tools: {} });
    expect(codesOf(() => times(3, () => failOnce(box.session(), 'crm')))).toEqual(['BREAKERBOX_UNDECLARED_TOOL']);
  });

  test('no warning: a name that a model invented, a box without circuits, a reserved name', () => {
    const { session } = bench({ tools: {} });
    const madeUp = () => times(50, () => succeedOnce(session, `made_up_${Math.random()}`));
    expect(codesOf(madeUp)).toEqual([]);
    const refused = { outcome: 'ignored', category: 'invalid_input' } as const;
    expect(codesOf(() => times(5, () => session.acquire('made_up').settle(refused)))).toEqual([]);
    expect(codesOf(() => times(5, () => succeedOnce(bench({ scope: 'none' }).session, 'x')))).toEqual([]);
    expect(codesOf(() => times(5, () => succeedOnce(session, 'group:x')))).toEqual([]);
  });
});

describe('settings for a name that is never called', () => {
  const seen = (configured: string, called: string, use: (session: Session) => void = () => {}) =>
    codesOf(() => {
      const { session } = bench({ tools: { [configured]: { failureThreshold: 5 } } });
      session.declare(called);
      use(session);
      succeedOnce(session, called);
      session.end();
    });

  test.each([
    ['web_serach', 'web_search'],
    ['search_issues', 'mcp__github__search_issues'],
  ])('%s, where %s is called: a warning when the session ends', (configured, called) => {
    expect(seen(configured, called)).toEqual(['BREAKERBOX_TOOL_NAME']);
  });

  test('C18: settings of a session for a tool that does not exist: a slip at once, another name at the end', () => {
    const run = (own: string, calls: number) =>
      codesOf(() => {
        const { box } = bench({ tools: { web_search: {} } });
        const tenant = box.session({ tools: { [own]: { mode: 'forced_open' } } });
        times(calls, () => succeedOnce(tenant, 'web_search'));
        if (calls === 1) tenant.end();
      });
    expect(run('web_serach', 3)).toEqual(['BREAKERBOX_TOOL_NAME']);
    expect(run('fetch', 3)).toEqual([]);
    expect(run('fetch', 20)).toEqual(['BREAKERBOX_TOOL_NAME']);
    expect(run('fetch', 1)).toEqual(['BREAKERBOX_TOOL_NAME']);
    expect(run('web_search', 20)).toEqual([]);
  });

  test('no warning for a tool that was wrapped before there was a session', () => {
    noticeWrapped(['list_contacts']);
    expect(seen('list_contacts', 'list_contracts')).toEqual([]);
    expect(seen('get_contacts', 'get_contracts')).toEqual(['BREAKERBOX_TOOL_NAME']);
  });

  test('no warning: read_file and read_files are two tools', () => {
    expect(seen('read_file', 'read_files')).toEqual([]);
  });

  test('no warning if an adapter declares the configured name as well, or it is called', () => {
    expect(seen('webSearch', 'web_search', (session) => session.declare('webSearch'))).toEqual([]);
    expect(seen('webSearch', 'web_search', (session) => succeedOnce(session, 'webSearch'))).toEqual([]);
  });

  test('no warning if the called name has its own settings', () => {
    const run = () => {
      const { box, session } = bench({ tools: { webSearch: {} } });
      box.declare('web_search', { profile: 'fast' });
      succeedOnce(session, 'web_search');
      session.end();
    };
    expect(codesOf(run)).toEqual([]);
  });
});

describe('probes by steps in a session without steps', () => {
  const skipped = (config: Partial<BreakerboxConfig>, calls: number, use: (session: Session) => void = () => {}) =>
    codesOf(() => {
      const { session } = bench({ tools: { a: { probeAfterSteps: 2 } }, ...config });
      times(3, () => failOnce(session, 'a'));
      use(session);
      times(calls, () => failOnce(session, 'a'));
      session.end();
    });

  const NO_STEPS = ['BREAKERBOX_NO_STEPS'];

  test('P1: twenty skipped calls', () => {
    expect([skipped({}, 20), skipped({}, 19)]).toEqual([NO_STEPS, []]);
    const { session } = bench({ tools: { a: { probeAfterSteps: 2 } } });
    expect(codesOf(() => times(50, () => failOnce(session, 'a')))).toEqual(NO_STEPS);
  });

  test('P1: many short sessions that share a circuit, or continue from a snapshot', () => {
    const requests = (scope: 'process' | 'session', count: number) => () => {
      const { box, session } = bench({ scope, tools: { a: { probeAfterSteps: 2 } } });
      let now = session;
      times(3 + count, () => {
        failOnce(now, 'a');
        const kept = snapshot(now);
        now.end();
        now = scope === 'process' ? box.session() : restore(box, kept);
      });
    };
    for (const scope of ['process', 'session'] as const) {
      expect([codesOf(requests(scope, 20)), codesOf(requests(scope, 19))]).toEqual([NO_STEPS, []]);
    }
  });

  test('P1: no warning if there are steps, or if time brings the probe', () => {
    expect(skipped({}, 30, (session) => session.step())).toEqual([]);
    expect(skipped({ tools: { a: { probeAfterSteps: 2, cooldownMs: 1_000 } } }, 30)).toEqual([]);
    expect(skipped({ tools: { a: {} } }, 30)).toEqual([]);
    expect(skipped({ tools: { a: { probeAfterSteps: 2, mode: 'forced_open' } } }, 30)).toEqual([]);
  });
});

describe('permits that are never settled', () => {
  const NEVER = ['BREAKERBOX_NEVER_SETTLED'];

  test('calls of earlier steps, or ten until the end', () => {
    const { session } = bench();
    const turns = () => times(20, () => [session.acquire('a'), session.step()]);
    expect(codesOf(turns)).toEqual(NEVER);
    const run = (calls: number) => () => {
      const { session } = bench();
      times(calls, () => session.acquire('a'));
      session.end();
    };
    expect([codesOf(run(10)), codesOf(run(9))]).toEqual([NEVER, []]);
  });

  test('two calls in each of many short sessions', () => {
    const { box } = bench();
    const request = () => {
      const session = box.session();
      times(2, () => session.acquire('a'));
      session.end();
    };
    expect(codesOf(() => times(4, request))).toEqual([]);
    expect(codesOf(() => times(4, request))).toEqual(NEVER);
  });

  test('twenty calls in a minute, without an end', () => {
    const { session, clock } = bench();
    expect(codesOf(() => times(39, () => session.acquire('a')))).toEqual([]);
    clock.advance(60_000);
    expect(codesOf(() => session.acquire('a'))).toEqual(NEVER);
  });

  test('one tool, although calls of another are settled', () => {
    const { session } = bench();
    succeedOnce(session, 'a');
    expect(codesOf(() => times(100, () => [session.acquire('b'), session.step()]))).toEqual(NEVER);
  });

  test('E7: no warning for streams that outlive the session, nor if one call was settled', () => {
    const stream = () => {
      const { session } = bench();
      times(3, () => session.acquire('a'));
      session.end();
    };
    expect(codesOf(stream)).toEqual([]);
    const one = () => {
      const { session } = bench();
      succeedOnce(session, 'a');
      times(100, () => [session.acquire('a'), session.step()]);
      session.end();
    };
    expect(codesOf(one)).toEqual([]);
  });

  test('no warning if a guard or an adapter settles', () => {
    const { session } = bench();
    noticeExecutor(session);
    expect(codesOf(() => times(100, () => [session.acquire('a'), session.step()]))).toEqual([]);
  });

  test('no state is kept for tools that a model invented', () => {
    const { box } = bench({ tools: {} });
    const run = () => {
      const session = box.session();
      times(30, () => session.acquire('made_up'));
      session.end();
    };
    expect(codesOf(() => times(3, run))).toEqual([]);
  });

  test('no warning for calls that were skipped', () => {
    const run = () => {
      const { session } = bench({ tools: { a: { mode: 'forced_open' } } });
      times(100, () => [session.acquire('a'), session.step()]);
      session.end();
    };
    expect(codesOf(run)).toEqual([]);
  });
});

describe('sessions with the same id', () => {
  const SAME = ['BREAKERBOX_SAME_SESSION'];

  test('a second one, while the first has decided and not ended', () => {
    const { box, session } = bench();
    expect(codesOf(() => box.session({ id: 'run-1' }))).toEqual([]);
    succeedOnce(session, 'a');
    const again = bench();
    succeedOnce(again.session, 'a');
    const second = () => again.box.session({ id: 'run-1' });
    expect(codesOf(() => succeedOnce(second(), 'a'))).toEqual(SAME);
  });

  test('two that begin together and decide later', () => {
    const { box, session } = bench();
    const second = box.session({ id: 'run-1' });
    expect(codesOf(() => succeedOnce(second, 'a'))).toEqual([]);
    expect(codesOf(() => times(3, () => succeedOnce(session, 'a')))).toEqual(SAME);
  });

  test('no warning after end(), or of a session that idles', () => {
    const ended = bench();
    succeedOnce(ended.session, 'a');
    ended.session.end();
    expect(codesOf(() => ended.box.session({ id: 'run-1' }))).toEqual([]);
    const idle = bench({ sessionIdleMs: 1_000 });
    succeedOnce(idle.session, 'a');
    for (const ms of [0, 2_000]) {
      idle.clock.advance(ms);
      times(200, () => idle.box.session().end());
    }
    expect(codesOf(() => idle.box.session({ id: 'run-1' }))).toEqual([]);
  });

  test('C11: no warning if a session is stored and restored for each call', () => {
    const { box, session } = bench();
    const run = () => {
      let now = session;
      times(5, () => {
        succeedOnce(now, 'a');
        now = restore(box, JSON.parse(JSON.stringify(snapshot(now))));
      });
    };
    expect(codesOf(run)).toEqual([]);
  });

  test('C11: a warning if both decide after that, and no warning if one of them only reads', () => {
    const { box, session } = bench();
    const restored = restore(box, snapshot(session));
    expect(codesOf(() => [report(restored), succeedOnce(session, 'a')])).toEqual([]);
    succeedOnce(restored, 'a');
    expect(codesOf(() => times(3, () => succeedOnce(session, 'a')))).toEqual(SAME);
  });
});

describe('telemetry that was never started', () => {
  const NONE = ['BREAKERBOX_NO_TELEMETRY'];
  const ended = (env: Record<string, string>) => {
    const warnings = watchWarnings();
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    bench().session.end();
    return warnings().map((one) => one.split(':')[0]);
  };

  test.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }, NONE],
    [{ OTEL_METRICS_EXPORTER: 'otlp', OTEL_TRACES_EXPORTER: 'none' }, NONE],
    [{ OTEL_EXPORTER_PROMETHEUS_PORT: '9464' }, NONE],
    [{}, []],
    [{ OTEL_METRICS_EXPORTER: 'none' }, []],
    [{ OTEL_EXPORTER_PROMETHEUS_PORT: '0' }, []],
    [{ OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }, []],
    [
      {
        OTEL_METRICS_EXPORTER: 'none',
        OTEL_TRACES_EXPORTER: 'none',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
      },
      [],
    ],
  ])('%j at the end of a session: %j', (env, codes) => {
    expect(ended(env)).toEqual(codes);
  });

  test('the span that a session should have', () => {
    expect(codesOf(() => bench().box.session({ span: true }))).toEqual(NONE);
    vi.stubEnv('OTEL_TRACES_EXPORTER', 'none');
    expect(codesOf(() => bench().box.session({ span: true }))).toEqual([]);
  });

  test('no warning if the metrics are read, nor after that', () => {
    const series = openSeries({ insteadOfSdk: false, exemplars: false });
    expect(ended({ OTEL_METRICS_EXPORTER: 'prometheus' })).toEqual([]);
    series.close();
    expect(ended({ OTEL_METRICS_EXPORTER: 'prometheus' })).toEqual([]);
  });
});
