import { metrics } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Session } from '../session-api.ts';
import { restore } from '../snapshot/restore.ts';
import { snapshot as snapshotOf } from '../snapshot/snapshot.ts';
import { bench, failOnce, type ManualClock, steps, succeedOnce, trip, UNIX_START } from '../test-support.ts';
import { METRIC } from './semconv.ts';
import { circuitsOf as circuitsOfAgent, newAgent, registerMetrics, seriesOf } from './test-support.telemetry.ts';

let agent = '';
beforeEach(() => {
  agent = newAgent();
});
afterEach(() => metrics.disable());

const ours = (lines: string[], prefix: string) => seriesOf(agent, lines, prefix);
/** Every series of a tool, of all metrics. */
const allOf = (lines: string[], tool: string) =>
  Object.values(METRIC)
    .flatMap(({ prometheus }) => ours(lines, prometheus))
    .filter((line) => line.includes(`gen_ai_tool_name="${tool}"`));
/** The times of a gauge, as Unix milliseconds. */
const timesOf = (lines: string[], prefix: string) =>
  ours(lines, prefix).map((line) => Math.round(Number(line.split(' ')[1]) * 1000));
const circuitsOf = (lines: string[]) => circuitsOfAgent(agent, lines);
const budgetOf = (lines: string[]) =>
  Object.fromEntries(
    ['limit', 'remaining', 'consumed_total', 'low_total', 'exhaustions_total'].map((name) => [
      name.replace('_total', ''),
      Number(ours(lines, `breakerbox_budget_${name}`)[0]?.split(' ')[1]),
    ]),
  );

/** Five failures that have nothing in common, and the time after which they are final (S3). */
const exhaust = (session: Session, clock: ManualClock): void => {
  const categories = ['network', 'server', 'timeout', 'rate_limit', 'filesystem'] as const;
  for (const [index, category] of categories.entries()) failOnce(session, 'abcd'.charAt(index % 4), category);
  clock.advance(120_001);
  session.acquire('a');
};

describe('metrics', () => {
  test('a declared tool has zeros for the series that alerts read, and no others', async () => {
    const { scrape } = registerMetrics();
    bench({ agent, tools: { a: {}, b: { precheck: () => 'available' } } });
    const lines = await scrape();
    expect(allOf(lines, 'a')).toEqual(
      [
        ...['call",breakerbox_reason="closed', 'probe",breakerbox_reason="probe_due', 'skip",breakerbox_reason="open'],
        ...['pause",breakerbox_reason="budget_exhausted', 'pause",breakerbox_reason="systemic'],
      ]
        .map((decision) => `breakerbox_decisions_total{gen_ai_tool_name="a",breakerbox_decision="${decision}"} 0`)
        .concat(
          ['success', 'failure', 'ignored'].map(
            (outcome) => `breakerbox_outcomes_total{gen_ai_tool_name="a",breakerbox_outcome="${outcome}"} 0`,
          ),
          'breakerbox_transitions_total{gen_ai_tool_name="a",breakerbox_state_from="closed",breakerbox_state_to="open"} 0',
          ['closed', 'open', 'half_open'].map(
            (state) => `breakerbox_circuits{gen_ai_tool_name="a",breakerbox_state="${state}"} 0`,
          ),
        ),
    );
    expect(allOf(lines, 'b')).toHaveLength(15);
    expect(ours(lines, 'breakerbox_systemic_events_total')).toEqual([
      'breakerbox_systemic_events_total{error_type="_MIXED",breakerbox_systemic_suspect="unknown"} 0',
    ]);
    expect(budgetOf(lines)).toEqual({ limit: 5, remaining: 5, consumed: 0, low: 0, exhaustions: 0 });
    expect(ours(lines, 'breakerbox_systemic_active')).toEqual(['breakerbox_systemic_active{} 0']);
  });

  test('an SDK that is registered after the box sees every series from the start', async () => {
    const { session } = bench({ agent, tools: { a: {} } });
    trip(session, 'a');
    const { scrape } = registerMetrics();
    session.acquire('a');
    const lines = await scrape();
    expect(ours(lines, 'breakerbox_decisions_total')).toEqual(
      expect.arrayContaining([
        'breakerbox_decisions_total{gen_ai_tool_name="a",breakerbox_decision="call",breakerbox_reason="closed"} 3',
        'breakerbox_decisions_total{gen_ai_tool_name="a",breakerbox_decision="skip",breakerbox_reason="open"} 1',
      ]),
    );
    expect(ours(lines, 'breakerbox_transitions_total')).toContain(
      'breakerbox_transitions_total{gen_ai_tool_name="a",breakerbox_state_from="closed",breakerbox_state_to="open"} 1',
    );
  });

  test('a second SDK after the first was shut down is followed too', async () => {
    const first = registerMetrics();
    const { session } = bench({ agent, tools: { a: {} } });
    await first.provider.shutdown();
    succeedOnce(session, 'a');
    metrics.disable();
    succeedOnce(session, 'a');
    const { scrape } = registerMetrics();
    succeedOnce(session, 'a');
    const lines = await scrape();
    expect(ours(lines, 'breakerbox_outcomes_total')).toContain(
      'breakerbox_outcomes_total{gen_ai_tool_name="a",breakerbox_outcome="success"} 3',
    );
    expect(ours(lines, 'gen_ai_execute_tool_duration_count')).toEqual([
      'gen_ai_execute_tool_duration_count{gen_ai_tool_name="a"} 1',
    ]);
  });

  test('names, units and kinds match the contract', async () => {
    const { scrape } = registerMetrics();
    const { session } = bench({ agent, tools: { a: {} } });
    trip(session, 'a');
    const types = (await scrape()).filter((line) => line.startsWith('# TYPE '));
    const kinds = { counter: 'counter', updowncounter: 'gauge', gauge: 'gauge', histogram: 'histogram' };
    // OpenTelemetry's JS exporter adds no unit; @breakerbox/telemetry does. What has no series yet has no type either.
    const contract = Object.values(METRIC).map(
      ({ prometheus, kind }) => `# TYPE ${prometheus.replace(/_seconds$/, '')} ${kinds[kind]}`,
    );
    const ofOurs = types.filter((line) => /^# TYPE (breakerbox|gen_ai)_/.test(line));
    expect(ofOurs.length).toBeGreaterThan(10);
    expect(ofOurs.filter((line) => !contract.includes(line))).toEqual([]);
  });

  test('the last opening is the Unix time at which the circuit left the closed state', async () => {
    const { scrape } = registerMetrics();
    const { session, clock } = bench({ agent, tools: { a: {} } });
    clock.advance(4_000);
    trip(session, 'a', 'timeout');
    clock.advance(60_000);
    steps(session, 3);
    failOnce(session, 'a');
    expect(ours(await scrape(), 'breakerbox_circuit_opened_time')).toEqual([
      `breakerbox_circuit_opened_time{gen_ai_tool_name="a",error_type="timeout"} ${(UNIX_START + 5_000) / 1000}`,
    ]);
  });

  test('a tool is unavailable since the first of its openings that lasts, until no circuit is open', async () => {
    const { scrape } = registerMetrics();
    const { box, session, clock } = bench({ agent, tools: { a: {} } });
    const since = async () =>
      ours(await scrape(), 'breakerbox_circuit_unavailable_time').map((line) => Number(line.split(' ')[1]) * 1000);
    expect(await since()).toEqual([]);
    trip(session, 'a');
    const first = clock.unixNow();
    clock.advance(30_000);
    const other = box.session();
    trip(other, 'a');
    expect(await since()).toEqual([first]);
    clock.advance(300_000);
    session.acquire('a').settle({ outcome: 'failure', category: 'network' }); // A failed probe.
    expect(await since()).toEqual([first]);
    session.end();
    expect(await since()).toEqual([first + 30_000]);
    other.end();
    expect(await since()).toEqual([0]);
    box.session().control('a', 'forced_open');
    expect(await since()).toEqual([clock.unixNow()]);
  });

  test('sessions that overlap do not make one long outage of their own: only openings that last count', async () => {
    const { scrape } = registerMetrics();
    const { box, session, clock } = bench({ agent, tools: { a: {} } });
    trip(session, 'a');
    let last = session;
    for (let turn = 0; turn < 5; turn += 1) {
      clock.advance(20_000);
      const next = box.session();
      trip(next, 'a');
      last.end();
      last = next;
    }
    expect(timesOf(await scrape(), 'breakerbox_circuit_unavailable_time')).toEqual([clock.unixNow()]);
  });

  test('C11: a restored circuit is unavailable since it opened, not since it was restored', async () => {
    const { scrape } = registerMetrics();
    const { session, clock } = bench({ agent: 'elsewhere', tools: { a: {} } });
    trip(session, 'a');
    const opened = clock.unixNow();
    clock.advance(240_000);
    const { box } = bench({ agent, tools: { a: {} }, clock });
    restore(box, { ...snapshotOf(session), agent });
    expect(timesOf(await scrape(), 'breakerbox_circuit_unavailable_time')).toEqual([opened]);
  });

  describe('O3: circuits that wait as their service asked', () => {
    const limited = { outcome: 'failure', category: 'rate_limit' } as const;
    const waiting = async (scrape: () => Promise<string[]>) => ours(await scrape(), 'breakerbox_circuits_waiting');
    const waits = (count: number, tool = 'a') => [`breakerbox_circuits_waiting{gen_ai_tool_name="${tool}"} ${count}`];
    const openWaiting = (session: Session, tool: string, retryAfterMs: number): void => {
      for (let call = 0; call < 3; call += 1) session.acquire(tool).settle({ ...limited, retryAfterMs });
    };

    test('they count until the wait is over, and show until when', async () => {
      const { scrape } = registerMetrics();
      const { session, clock } = bench({ agent, tools: { a: { maxRetryAfterMs: 600_000 }, b: {} } });
      session.acquire('a').settle({ ...limited, retryAfterMs: 1_200_000 });
      trip(session, 'b', 'server');
      expect(await waiting(scrape)).toEqual([]);
      expect(ours(await scrape(), 'breakerbox_retry_after_time')).toEqual([]);
      openWaiting(session, 'a', 1_200_000);
      const until = clock.unixNow() + 600_000;
      expect(await waiting(scrape)).toEqual(waits(1));
      expect(timesOf(await scrape(), 'breakerbox_retry_after_time')).toEqual([until]);
      clock.advance(600_000);
      expect(await waiting(scrape)).toEqual(waits(0));
      succeedOnce(session, 'a');
      expect(timesOf(await scrape(), 'breakerbox_retry_after_time')).toEqual([0]);
    });

    test('a success in another session ends no wait', async () => {
      const { scrape } = registerMetrics();
      const { box, session } = bench({ agent, tools: { a: {} } });
      openWaiting(session, 'a', 1_200_000);
      succeedOnce(box.session(), 'a');
      expect(await waiting(scrape)).toEqual(waits(1));
      session.end();
      expect(await waiting(scrape)).toEqual(waits(0));
    });

    test('C13: a group waits under its own name', async () => {
      const { scrape } = registerMetrics();
      const { session } = bench({ agent, groups: { mcp: {} }, tools: { a: { group: 'mcp' }, b: { group: 'mcp' } } });
      for (const tool of ['a', 'b', 'a'])
        session.acquire(tool).settle?.({ ...limited, retryAfterMs: 1_200_000, blames: 'group' });
      expect(session.acquire('b').reason).toBe('group_open');
      expect(await waiting(scrape)).toEqual(waits(1, 'group:mcp'));
    });

    test('once a probe has failed, the service has not kept its word: its next wait does not count', async () => {
      const { scrape } = registerMetrics();
      const { session, clock } = bench({ agent, tools: { a: {} } });
      openWaiting(session, 'a', 300_000);
      clock.advance(300_000);
      expect(await waiting(scrape)).toEqual([]);
      session.acquire('a').settle({ ...limited, retryAfterMs: 300_000 });
      expect(await waiting(scrape)).toEqual([]);
      clock.advance(600_000);
      succeedOnce(session, 'a');
      openWaiting(session, 'a', 300_000); // Another outage, in which no probe has failed.
      expect(await waiting(scrape)).toEqual(waits(1));
    });

    test('C14: skips for a key are counted apart while its service asked to wait', async () => {
      const { scrape } = registerMetrics();
      const { session, clock } = bench({ agent, tools: { a: { key: (input) => input as string } } });
      const call = (key: string) => session.acquire('a', { input: key });
      for (let failed = 0; failed < 3; failed += 1) {
        call('asks').settle({ ...limited, retryAfterMs: 300_000, blames: 'key' });
        call('dead').settle({ outcome: 'failure', category: 'network', blames: 'key' });
      }
      for (const key of ['asks', 'dead', 'asks']) expect(call(key).reason).toBe('key_open');
      expect(ours(await scrape(), 'breakerbox_skips_waiting_total')).toEqual([
        'breakerbox_skips_waiting_total{gen_ai_tool_name="a"} 2',
      ]);
      clock.advance(300_000);
      expect(call('asks').reason).toBe('key_probe_due');
    });
  });

  test('budget, events and sessions match the state of the engine', async () => {
    const { scrape } = registerMetrics();
    const { session, box, clock } = bench({ agent });
    trip(session, 'a');
    trip(session, 'b');
    const { limit, consumed, remaining } = session.view().budget;
    expect([limit, consumed, remaining]).toEqual([5, 1, 4]);
    const lines = await scrape();
    expect(budgetOf(lines)).toEqual({ limit: 5, remaining: 4, consumed: 1, low: 0, exhaustions: 0 });
    expect(ours(lines, 'breakerbox_sessions')).toEqual([
      'breakerbox_sessions{breakerbox_session_state="active"} 0',
      'breakerbox_sessions{breakerbox_session_state="paused_budget"} 0',
      'breakerbox_sessions{breakerbox_session_state="paused_systemic"} 1',
    ]);
    expect(ours(lines, 'breakerbox_sessions_started_total')).toEqual(['breakerbox_sessions_started_total{} 1']);
    expect(ours(lines, 'breakerbox_systemic_active')).toEqual(['breakerbox_systemic_active{} 1']);
    expect(ours(lines, 'breakerbox_systemic_events_total')).toContain(
      'breakerbox_systemic_events_total{error_type="network",breakerbox_systemic_suspect="network"} 1',
    );
    session.confirmRecovered();
    expect(ours(await scrape(), 'breakerbox_systemic_active')).toEqual(['breakerbox_systemic_active{} 0']);
    exhaust(box.session(), clock);
    const after = await scrape();
    expect(budgetOf(after)).toEqual({ limit: 10, remaining: 4, consumed: 6, low: 1, exhaustions: 1 });
    expect(ours(after, 'breakerbox_sessions_started_total')).toEqual(['breakerbox_sessions_started_total{} 2']);
  });

  test('S1: an event counts for each of its tools, also for one whose circuit is closed', async () => {
    const { scrape } = registerMetrics();
    const { session } = bench({ agent });
    failOnce(session, 'c', 'server');
    for (const tool of ['a', 'b']) trip(session, tool);
    expect(session.view().state).toBe('paused_systemic');
    expect(ours(await scrape(), 'breakerbox_systemic_tools_total')).toEqual(
      ['a', 'b', 'c'].map((tool) => `breakerbox_systemic_tools_total{gen_ai_tool_name="${tool}"} 1`),
    );
  });

  test('B1: a session counts as low once until its budget is full again, and leaves the sums when it ends', async () => {
    const { scrape } = registerMetrics();
    const { session } = bench({ agent });
    const low = async () => budgetOf(await scrape()).low;
    const fall = (): void => {
      for (const tool of ['a', 'b', 'a', 'b']) failOnce(session, tool, tool === 'a' ? 'server' : 'timeout');
    };
    fall();
    expect(await low()).toBe(1);
    for (const tool of ['a', 'b']) succeedOnce(session, tool);
    steps(session, 19);
    expect(await low()).toBe(1);
    steps(session, 2);
    session.acquire('c');
    expect(budgetOf(await scrape())).toMatchObject({ limit: 5, remaining: 5, low: 1 });
    fall();
    expect(await low()).toBe(2);
    session.end();
    expect(budgetOf(await scrape())).toMatchObject({ limit: 0, remaining: 0, low: 2 });
  });

  test('S2: an event in scope process is active until it is over, and calls of its tools are skips for the reason systemic', async () => {
    const { scrape } = registerMetrics();
    const { session, box } = bench({ agent, scope: 'process' });
    trip(session, 'a');
    trip(session, 'b');
    const other = box.session();
    expect([other.acquire('a').decision, other.acquire('c').decision]).toEqual(['skip', 'call']);
    const lines = await scrape();
    expect(ours(lines, 'breakerbox_systemic_active')).toEqual(['breakerbox_systemic_active{} 1']);
    expect(ours(lines, 'breakerbox_decisions_total')).toContain(
      'breakerbox_decisions_total{gen_ai_tool_name="a",breakerbox_decision="skip",breakerbox_reason="systemic"} 1',
    );
    expect(ours(lines, 'breakerbox_sessions')).toContain('breakerbox_sessions{breakerbox_session_state="active"} 2');
    session.end();
    other.end();
    expect(ours(await scrape(), 'breakerbox_systemic_active')).toEqual(['breakerbox_systemic_active{} 1']);
    box.session().confirmRecovered();
    expect(ours(await scrape(), 'breakerbox_systemic_active')).toEqual(['breakerbox_systemic_active{} 0']);
  });

  test('a session that ends takes its circuits out of the gauges', async () => {
    const { scrape } = registerMetrics();
    const { session } = bench({ agent, tools: { a: {} } });
    trip(session, 'a');
    expect(circuitsOf(await scrape())).toEqual({ open: 1 });
    session.end();
    const lines = await scrape();
    expect(circuitsOf(lines)).toEqual({});
    expect(ours(lines, 'breakerbox_sessions').every((line) => line.endsWith(' 0'))).toBe(true);
  });

  test('a session that idles for 30 minutes leaves them too, and returns when it is used', async () => {
    const { scrape } = registerMetrics();
    const { session, clock } = bench({ agent, tools: { a: {} } });
    trip(session, 'a');
    clock.advance(30 * 60_000 - 1);
    expect(circuitsOf(await scrape())).toEqual({ open: 1 });
    clock.advance(1);
    expect(circuitsOf(await scrape())).toEqual({});
    session.acquire('a');
    expect(circuitsOf(await scrape())).toEqual({ half_open: 1 });
    session.end();
    expect(circuitsOf(await scrape())).toEqual({});
  });

  test('telemetry: state and none leave out series, by tool, group and default', async () => {
    const { scrape } = registerMetrics();
    const tools = {
      a: {},
      b: { telemetry: 'none' },
      c: { group: 'mcp' },
      d: { group: 'mcp', telemetry: 'full' },
    } as const;
    const { session } = bench({
      agent,
      tools,
      defaults: { telemetry: 'state' },
      groups: { mcp: { telemetry: 'none' } },
      systemic: false,
    });
    trip(session, 'a');
    session.acquire('a');
    for (const tool of ['b', 'c', 'd']) succeedOnce(session, tool);
    const lines = await scrape();
    expect(allOf(lines, 'a')).toEqual([
      'breakerbox_decisions_total{gen_ai_tool_name="a",breakerbox_decision="call"} 3',
      'breakerbox_decisions_total{gen_ai_tool_name="a",breakerbox_decision="skip"} 1',
      'breakerbox_outcomes_total{gen_ai_tool_name="a",breakerbox_outcome="failure"} 3',
      'breakerbox_transitions_total{gen_ai_tool_name="a",breakerbox_state_from="closed",breakerbox_state_to="open"} 1',
      'breakerbox_circuits{gen_ai_tool_name="a",breakerbox_state="closed"} 0',
      'breakerbox_circuits{gen_ai_tool_name="a",breakerbox_state="open"} 1',
      'breakerbox_circuits{gen_ai_tool_name="a",breakerbox_state="half_open"} 0',
    ]);
    for (const tool of ['b', 'c', 'group:mcp']) expect(allOf(lines, tool)).toEqual([]);
    expect(allOf(lines, 'd').length).toBeGreaterThan(10);
  });

  test('beyond maxTools, and for invented names, series are shared', async () => {
    const { scrape } = registerMetrics();
    const { session } = bench({ agent, tools: { a: {}, b: {}, c: {} }, maxTools: 2 });
    for (const tool of ['a', 'b', 'c', 'made_up_1', 'made_up_2']) succeedOnce(session, tool);
    const successes = ours(await scrape(), 'breakerbox_outcomes_total').filter((line) => line.includes('"success"'));
    expect(successes).toEqual([
      'breakerbox_outcomes_total{gen_ai_tool_name="a",breakerbox_outcome="success"} 1',
      'breakerbox_outcomes_total{gen_ai_tool_name="b",breakerbox_outcome="success"} 1',
      'breakerbox_outcomes_total{gen_ai_tool_name="_OTHER",breakerbox_outcome="success"} 3',
    ]);
    expect(session.peek('c')?.state).toBe('closed'); // Declared: it has a circuit all the same.
  });

  test('names have no line feed, which `.*` of Prometheus 2 does not match and Grafana cannot select', async () => {
    const { scrape } = registerMetrics();
    const { box, session } = bench({ agent });
    box.declare('a\nb');
    failOnce(session, 'a\nb');
    // Of the letters in the text of Prometheus, the first backslash escapes the second one.
    expect(ours(await scrape(), 'breakerbox_outcomes_total')).toContain(
      String.raw`breakerbox_outcomes_total{gen_ai_tool_name="a\\nb",breakerbox_outcome="failure"} 1`,
    );
  });

  test('two boxes of one agent share their series', async () => {
    const { scrape } = registerMetrics();
    succeedOnce(bench({ agent, tools: { a: {} } }).session, 'a');
    succeedOnce(bench({ agent, tools: { a: {} } }).session, 'a');
    expect(ours(await scrape(), 'breakerbox_outcomes_total')).toContain(
      'breakerbox_outcomes_total{gen_ai_tool_name="a",breakerbox_outcome="success"} 2',
    );
  });

  test('the duration that an executor reports is used, unless it is invalid', async () => {
    const { scrape } = registerMetrics();
    const { session, clock } = bench({ agent, tools: { a: {} } });
    const settled = (durationMs: unknown): void => {
      const permit = session.acquire('a');
      clock.advance(60_000); // A person was asked.
      permit.settle({ outcome: 'success', durationMs: durationMs as number });
    };
    for (const durationMs of [2_000, 0, Number.NaN, -1, 'soon']) settled(durationMs);
    expect(ours(await scrape(), 'gen_ai_execute_tool_duration_sum')).toEqual([
      'gen_ai_execute_tool_duration_sum{gen_ai_tool_name="a"} 182',
    ]);
  });

  test('only executed calls have durations; all calls that did not succeed share one series', async () => {
    const { scrape } = registerMetrics();
    const { session, clock } = bench({ agent, tools: { a: {} } });
    const permit = session.acquire('a');
    clock.advance(1_500);
    permit.settle({ outcome: 'success' });
    trip(session, 'a');
    session.acquire('a');
    const lines = await scrape();
    expect(ours(lines, 'gen_ai_execute_tool_duration_sum')).toEqual([
      'gen_ai_execute_tool_duration_sum{gen_ai_tool_name="a"} 1.5',
      'gen_ai_execute_tool_duration_sum{gen_ai_tool_name="a",error_type="_OTHER"} 0',
    ]);
    expect(ours(lines, 'gen_ai_execute_tool_duration_bucket')).toContain(
      'gen_ai_execute_tool_duration_bucket{gen_ai_tool_name="a",le="81.92"} 1',
    );
  });
});

describe('metrics of modes and of restored sessions', () => {
  const transitions = (lines: string[]) =>
    ours(lines, 'breakerbox_transitions_total')
      .filter((line) => !line.endsWith(' 0'))
      .map((line) => line.replace(/^.*from="(\w+)".*to="(\w+)"} (\d+)$/, '$1>$2 $3'));

  test('C1: a change by an operator moves the circuit in the gauge, and is a transition', async () => {
    const { scrape } = registerMetrics();
    const { session } = bench({ agent, tools: { a: {} } });
    trip(session, 'a');
    session.control('a', 'forced_open');
    const lines = await scrape();
    expect(circuitsOf(lines)).toEqual({ forced_open: 1 });
    expect(transitions(lines)).toEqual(['closed>open 1', 'open>forced_open 1']);
    session.control('a', 'automatic');
    expect(circuitsOf(await scrape())).toEqual({ closed: 1 });
    session.control('a', 'disabled');
    session.end();
    expect(circuitsOf(await scrape())).toEqual({});
  });

  test('C1: disabled calls are counted in decisions and outcomes', async () => {
    const { scrape } = registerMetrics();
    const { session } = bench({ agent, tools: { a: { mode: 'disabled' } } });
    failOnce(session, 'a', 'server');
    const lines = await scrape();
    expect(ours(lines, 'breakerbox_decisions_total')).toContain(
      'breakerbox_decisions_total{gen_ai_tool_name="a",breakerbox_decision="call",breakerbox_reason="disabled"} 1',
    );
    expect(ours(lines, 'breakerbox_outcomes_total')).toContain(
      'breakerbox_outcomes_total{gen_ai_tool_name="a",breakerbox_outcome="failure"} 1',
    );
    expect(ours(lines, 'breakerbox_errors_total')).toEqual([
      'breakerbox_errors_total{gen_ai_tool_name="a",breakerbox_outcome="failure",error_type="server"} 1',
    ]);
    expect(ours(lines, 'breakerbox_budget_consumed_total')).toEqual(['breakerbox_budget_consumed_total{} 0']);
  });

  test('C1: a dry run raises no alert: it has no transition, opened time, budget, event or paused session, only decisions', async () => {
    const { scrape } = registerMetrics();
    const { session } = bench({ agent, defaults: { mode: 'observe_only' } });
    trip(session, 'a');
    session.acquire('a');
    trip(session, 'b');
    session.acquire('c');
    const lines = await scrape();
    expect(circuitsOf(lines)).toEqual({ observe_only: 3 });
    expect(transitions(lines)).toEqual([]);
    expect(ours(lines, 'breakerbox_circuit_opened_time')).toEqual([]);
    expect(ours(lines, 'breakerbox_budget_consumed_total')).toEqual(['breakerbox_budget_consumed_total{} 0']);
    expect(ours(lines, 'breakerbox_systemic_events_total').filter((line) => !line.endsWith(' 0'))).toEqual([]);
    expect(ours(lines, 'breakerbox_sessions')).toContain('breakerbox_sessions{breakerbox_session_state="active"} 1');
    expect(ours(lines, 'breakerbox_decisions_total')).toEqual(
      expect.arrayContaining([
        'breakerbox_decisions_total{gen_ai_tool_name="a",breakerbox_decision="call",breakerbox_reason="would_skip"} 1',
        'breakerbox_decisions_total{gen_ai_tool_name="c",breakerbox_decision="call",breakerbox_reason="would_pause"} 1',
      ]),
    );
  });

  test('C11: a restored session has its remaining budget, is not counted as started again, and is in the gauges', async () => {
    const { scrape } = registerMetrics();
    const { session } = bench({ agent: 'elsewhere', tools: { a: {}, b: {} } });
    trip(session, 'a');
    succeedOnce(session, 'b');
    const snapshot = { ...snapshotOf(session), agent };
    const { box } = bench({ agent, tools: { a: {} } });
    expect(budgetOf(await scrape())).toMatchObject({ limit: 5, remaining: 5 });
    const restored = restore(box, snapshot);
    const lines = await scrape();
    expect(budgetOf(lines)).toMatchObject({ limit: 10, remaining: 5 + restored.view().budget.remaining, consumed: 0 });
    expect(ours(lines, 'breakerbox_sessions_started_total')).toEqual(['breakerbox_sessions_started_total{} 1']);
    expect(ours(lines, 'breakerbox_sessions')).toContain('breakerbox_sessions{breakerbox_session_state="active"} 2');
    expect(circuitsOf(lines)).toEqual({ open: 1 });
    expect(transitions(lines)).toEqual([]);
    restored.declare('b');
    expect(ours(await scrape(), 'breakerbox_circuits')).toContain(
      'breakerbox_circuits{gen_ai_tool_name="b",breakerbox_state="closed"} 1',
    );
    restored.end();
    expect(circuitsOf(await scrape())).toEqual({});
  });

  test('C11: a session restored with a spent budget is not counted as exhausted or low again', async () => {
    const { scrape } = registerMetrics();
    const { session, box, clock } = bench({ agent });
    exhaust(session, clock);
    const restored = restore(box, snapshotOf(session));
    restored.step();
    expect(restored.acquire('a').reason).toBe('budget_exhausted');
    expect(budgetOf(await scrape())).toMatchObject({ low: 1, exhaustions: 1 });
  });
});
