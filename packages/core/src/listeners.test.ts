import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { agentSeries } from './telemetry/otel-binding.ts';
import { bench, failOnce, steps, succeedOnce, trip, watchDiag } from './test-support.ts';

afterEach(() => diag.disable());

describe('listeners that call the session', () => {
  test('E5, B1: resume() at each exhaustion: each one is emitted, and the session continues', () => {
    const { session, box } = bench({ budget: { failures: 1 }, defaults: { failureThreshold: 50 } });
    const exhausted = vi.fn();
    box.on('budget.exhausted', () => {
      exhausted();
      session.resume();
    });
    for (let i = 0; i < 3; i += 1) expect(failOnce(session, 'made_up', 'server')).toBe('call');
    expect(exhausted).toHaveBeenCalledTimes(3);
    expect(session.view()).toMatchObject({ state: 'active', budget: { cycle: 4, remaining: 1 } });
  });

  test('E5, S5: confirmRecovered() at the transition: detected is emitted before resolved', () => {
    const { session, box } = bench();
    const told: string[] = [];
    box.on('systemic.detected', () => told.push('detected'));
    box.on('systemic.resolved', () => told.push('resolved'));
    box.on('circuit.transition', ({ tool }) => {
      if (tool === 'b') session.confirmRecovered();
    });
    trip(session, 'a');
    trip(session, 'b');
    expect(told).toEqual(['detected', 'resolved']);
    expect(session.view().state).toBe('active');
  });

  test('E5, C1: control() at the outcome: calls under way are settled first', () => {
    const { session, box } = bench();
    const states: unknown[] = [];
    box.on('outcome', () => {
      states.push(session.peek('a')?.failures);
      session.control('a', 'disabled');
    });
    failOnce(session, 'a');
    expect(states).toEqual([1]);
    expect(session.peek('a')).toMatchObject({ state: 'disabled', failures: 0 });
    expect(session.view().budget.remaining).toBe(4);
  });

  test('E5: a listener that throws, with a diag logger that throws too, does not silence other listeners', () => {
    const silent = () => {};
    const error = () => {
      throw new Error('the logger is down');
    };
    const logger: DiagLogger = { error, warn: silent, info: silent, debug: silent, verbose: silent };
    diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
    const { session, box } = bench();
    const seen = vi.fn(() => {
      throw new Error('broken listener');
    });
    box.on('decision', seen);
    for (let i = 0; i < 3; i += 1) expect(succeedOnce(session, 'a')).toBe('call');
    expect(seen).toHaveBeenCalledTimes(3);
  });

  test('E5: a listener that causes more and more events is stopped and reported, and the call continues', () => {
    const error = vi.fn();
    const silent = () => {};
    const logger: DiagLogger = { error, warn: silent, info: silent, debug: silent, verbose: silent };
    diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
    const { session, box } = bench();
    const stop = box.on('decision', () => void session.acquire('a'));
    expect(session.acquire('b').decision).toBe('call');
    expect(error).toHaveBeenCalledOnce();
    stop();
    expect(succeedOnce(session, 'b')).toBe('call');
  });
});

describe('listeners that make sessions', () => {
  test('E5: a listener that makes a session at each decision ends, and the gauges are restored', () => {
    const error = watchDiag();
    const agent = 'made in listeners';
    const { session, box } = bench({ agent, tools: { a: {} } });
    let made = 0;
    box.on('decision', () => {
      made += 1;
      const inner = box.session();
      succeedOnce(inner, 'a');
      inner.end();
    });
    for (let i = 0; i < 3; i += 1) expect(succeedOnce(session, 'a')).toBe('call');
    session.end();
    expect(made).toBe(150);
    expect(error).toHaveBeenCalledTimes(3);
    const { families, tools } = agentSeries(agent);
    expect(families.sessions?.get('active')?.value).toBe(0);
    expect(tools.get('a')?.families.circuits?.get('closed')?.value).toBe(0);
    expect(tools.get('a')?.succeeded.value).toBe(153);
  });
});

describe('a session whose budget is spent', () => {
  test('B1: exhaustion is emitted once, and again after resume', () => {
    const { session, box } = bench({ systemic: false });
    const exhausted = vi.fn();
    box.on('budget.exhausted', exhausted);
    for (let cycle = 1; cycle <= 2; cycle += 1) {
      for (const tool of ['a', 'b', 'c', 'd', 'd']) failOnce(session, tool, 'server');
      expect(session.acquire('a').reason).toBe('budget_exhausted');
      expect(exhausted).toHaveBeenCalledTimes(cycle);
      session.resume();
      for (const tool of ['a', 'b', 'c', 'd']) succeedOnce(session, tool);
    }
  });

  test('B1, B3: an opening that merges enough ends the pause; the next exhaustion is emitted again', () => {
    const { session, box } = bench({ systemic: false });
    const exhausted = vi.fn();
    box.on('budget.exhausted', exhausted);
    const underWay = [1, 2, 3].map(() => session.acquire('a'));
    for (const tool of ['b', 'c', 'd']) failOnce(session, tool, 'server');
    for (const [index, call] of underWay.entries()) {
      call.settle({ outcome: 'failure', category: 'network' });
      expect(session.view().state).toBe(index === 1 ? 'paused_budget' : 'active');
    }
    expect(session.view().budget.remaining).toBe(1); // Three, and one outage.
    failOnce(session, 'b', 'server');
    expect(session.view().state).toBe('paused_budget');
    expect(exhausted).toHaveBeenCalledTimes(2);
  });
});

describe('S1: one event is emitted once', () => {
  test('S1: circuits that open during the event join it without a second event', () => {
    const { session, box } = bench();
    const detected = vi.fn();
    box.on('systemic.detected', detected);
    const underWay = ['c', 'c', 'c'].map((tool) => session.acquire(tool));
    trip(session, 'a');
    trip(session, 'b');
    for (const call of underWay) call.settle({ outcome: 'failure', category: 'network' });
    expect(session.view().systemic?.openings.map(({ tool }) => tool)).toEqual(['a', 'b', 'c']);
    expect(detected).toHaveBeenCalledOnce();
  });
});

describe('C9: every hung probe is accounted for', () => {
  test('C9: the second of two hung probes is a failure too, although late: it is counted and free', () => {
    const { session, box, clock } = bench({ defaults: { probes: 2 } });
    const outcomes: string[] = [];
    box.on('outcome', ({ outcome, category, late }) => outcomes.push(`${outcome} ${category}${late ? ' late' : ''}`));
    trip(session, 'a');
    steps(session, 3);
    session.acquire('a');
    session.acquire('a');
    clock.advance(60_000);
    session.step();
    expect(outcomes.slice(3)).toEqual(['failure timeout', 'failure timeout late']);
    expect(session.view().budget.remaining).toBe(4);
  });

  test('C9, C1: a hung probe is counted too if an operator took over its circuit', () => {
    const { session, box, clock } = bench();
    const outcomes: boolean[] = [];
    trip(session, 'a');
    steps(session, 3);
    session.acquire('a');
    session.control('a', 'forced_open');
    box.on('outcome', ({ late }) => outcomes.push(late));
    clock.advance(60_000);
    session.step();
    expect(outcomes).toEqual([true]);
  });
});
