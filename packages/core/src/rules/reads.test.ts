import { describe, expect, test } from 'vitest';
import { operate } from '../control/operator.ts';
import { report } from '../report/report.ts';
import type { Session } from '../session-api.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { bench, failOnce, steps, succeedOnce, trip } from '../test-support.ts';
import { bringDown, FIVE_STRAY, failAll, grouped, hearAll, openGroup, reasonsOf, two } from './test-support.rules.ts';

const TOOLS = ['a', 'b', 'c', 'd'];

/** What readers say is what the next decisions find. */
const agrees = (session: Session) => {
  const said = reasonsOf(session, ...TOOLS);
  const out = session.unavailable();
  const { state } = session.view();
  const headline = report(session).state;
  const found = TOOLS.map((tool) => session.acquire(tool));
  const rejected = found.filter(({ decision }) => decision === 'skip' || decision === 'pause').map(({ tool }) => tool);
  return {
    said,
    found: found.map(({ reason }) => reason),
    out,
    rejected,
    states: [state, headline, session.view().state],
  };
};

describe('C11: readers show the state that the next decision would find', () => {
  test('C11, C9: for all readers, a probe whose lease has ended has failed', () => {
    const { session, clock, box } = bench();
    trip(session, 'a');
    steps(session, 3);
    session.acquire('a');
    clock.advance(60_000);
    const events = hearAll(box);
    expect(session.peek('a')).toMatchObject({ state: 'open', category: 'timeout', trip: 'probe' });
    expect(session.unavailable()).toEqual(['a']);
    expect(session.explain('a')).toMatchObject({
      decision: 'skip',
      reason: 'open',
      nextProbe: { steps: 3, ms: 120_000 },
    });
    expect(session.view().circuits.map(({ state }) => state)).toEqual(['open']);
    expect(report(session).tools[0]).toMatchObject({ state: 'open', category: 'timeout' });
    expect(events).toEqual([]);
    expect(session.acquire('a').reason).toBe('open');
    expect(events.length).toBeGreaterThan(1);
  });

  test('C11, S5: readers see the end of an event by time, but the next decision emits it', () => {
    const { session, clock, box } = bench({ systemic: { recovery: { afterMs: 1_000 } } });
    bringDown(session);
    clock.advance(1_000);
    const events = hearAll(box);
    expect(session.view()).toMatchObject({ state: 'active', systemic: undefined });
    expect(report(session)).toMatchObject({ state: 'active', systemic: null });
    expect([session.unavailable(), reasonsOf(session, 'a', 'c')]).toEqual([
      ['a', 'b'],
      ['open', 'closed'],
    ]);
    expect(events).toEqual([]);
    session.acquire('c');
    expect(events.join()).toContain('"by":"time"');
  });

  test('B1, C11, S3: readers see that charges have left the window, and that final ones pause', () => {
    const left = bench();
    for (const tool of ['a', 'b']) failOnce(left.session, tool, tool === 'a' ? 'server' : 'network');
    left.clock.advance(600_001);
    expect(left.session.view().budget).toMatchObject({ remaining: 5, provisional: 0 });
    expect(left.session.explain('a').charges).toEqual([]);
    const { session, clock, box } = bench();
    for (const [tool, category] of FIVE_STRAY) failOnce(session, tool, category);
    const events = hearAll(box);
    clock.advance(120_001);
    expect(session.view()).toMatchObject({ state: 'paused_budget', budget: { provisional: 0 } });
    expect(report(session).state).toBe('paused_budget');
    expect(session.note()).toContain('Tool calls are paused');
    expect(session.unavailable()).toEqual(TOOLS);
    expect(events).toEqual([]);
    session.acquire('a');
    expect(events.filter((event) => event.includes('"limit":5'))).toHaveLength(1);
  });

  test('C11, C12, S2: readers see the findings of another session, but only the next use charges them', () => {
    const { session, other } = two();
    for (const tool of ['a', 'b', 'c', 'd']) session.acquire(tool).settle({ outcome: 'success' });
    failAll(other, ['b', 'b'], 'network');
    trip(session, 'a');
    failOnce(session, 'b');
    expect(other.view()).toMatchObject({
      state: 'active',
      systemic: { category: 'network' },
      budget: { remaining: 4 },
    });
    expect(reasonsOf(other, ...TOOLS)).toEqual(['systemic', 'systemic', 'closed', 'closed']);
    expect(other.unavailable()).toEqual(['a', 'b']);
    expect(other.note().split('\n')).toHaveLength(3);
    expect(snapshot(other).ledger).toEqual(snapshot(other).ledger);
  });

  test('C11: tools that were not used yet are shown as the next decision finds them', () => {
    const { session } = bench({ tools: { a: {}, b: { mode: 'forced_open' }, c: { mode: 'disabled' }, d: {} } });
    expect(reasonsOf(session, ...TOOLS, 'made_up')).toEqual([
      'closed',
      'forced_open',
      'disabled',
      'closed',
      'undeclared',
    ]);
    expect(session.view().circuits).toEqual([]);
  });

  test('C1, C11: readers see that all tools are only observed, so that a limit that is reached pauses nothing', () => {
    const { box, session } = bench({ tools: { a: {} }, limits: { calls: 1 } });
    succeedOnce(session, 'a');
    expect([report(session).state, session.note()]).toEqual(['paused_limit', expect.stringContaining('1 of 1')]);
    operate(box).force('a', { mode: 'observe_only', owner: 'ada', reason: 'a test' });
    const read = () => [session.view().state, report(session).state, report(session).limits?.[0]?.mode, session.note()];
    const before = read();
    expect(before).toEqual(['active', 'active', 'observe', '']);
    session.step();
    expect(read()).toEqual(before);
  });

  test('C1, C11, D1: of sub-agents too', () => {
    const { box, session } = bench({ tools: { a: {} }, limits: { calls: 10 } });
    const operator = operate(box);
    succeedOnce(session.child({ id: 'child', portion: { calls: 1 } }), 'a');
    const read = () => [
      report(session).children?.[0]?.limits[0]?.mode,
      operator.session('run-1')?.tree?.children[0]?.limits[0]?.mode,
    ];
    expect(read()).toEqual(['pause', 'pause']);
    operator.force('a', { mode: 'observe_only', owner: 'ada', reason: 'a test' });
    const before = read();
    session.step();
    expect([before, read()]).toEqual([
      ['observe', 'observe'],
      ['observe', 'observe'],
    ]);
  });

  /** What readers say before and after a use of the session that changes nothing but what time has brought. */
  const beforeAndAfterUse = (session: Session, read: () => unknown) => {
    const before = read();
    expect(read()).toEqual(before);
    session.confirmRecovered();
    return [before, read()];
  };

  /** A probe that never settles, and whose lease has ended. */
  const hang = (session: Session, clock: ReturnType<typeof bench>['clock'], input?: unknown) => {
    clock.advance(2_000);
    expect(session.acquire('a', { input }).decision).toBe('probe');
    clock.advance(60_000);
  };

  const HANGS = { failureThreshold: 1, cooldownMs: 1_000, probeLeaseMs: 5_000 } as const;

  test('C11, C9, D3: readers see that a probe whose lease has ended has spent what it was expected to use', () => {
    const { session, clock } = bench({ tools: { a: HANGS, b: {} }, limits: { tokens: 100 }, budget: false });
    session.acquire('a').settle({ outcome: 'success', tokens: 60 });
    session.acquire('a').settle({ outcome: 'failure', category: 'server', tokens: 1 });
    hang(session, clock);
    const [before, after] = beforeAndAfterUse(session, () => [
      session.view(),
      session.note(),
      session.unavailable(),
      ['a', 'b'].map((tool) => session.explain(tool)),
      report(session),
    ]);
    expect(session.view()).toMatchObject({
      state: 'paused_limit',
      limits: [{ used: 100, estimated: 39, underWay: 0 }],
    });
    expect(session.note()).toContain('Tool calls are paused');
    expect(session.unavailable()).toEqual(['a', 'b']);
    expect(before).toEqual(after);
  });

  test('C11, C9, D1: of a tree, readers see the same for the run of the probe and for those above it', () => {
    const { box, session, clock } = bench({ tools: { a: HANGS, b: {} }, limits: { tokens: 100 }, budget: false });
    const operator = operate(box);
    const child = session.child({ id: 'child', portion: { tokens: 50 } });
    const other = session.child({ id: 'other' });
    child.acquire('a').settle({ outcome: 'success', tokens: 20 });
    child.acquire('a').settle({ outcome: 'failure', category: 'server', tokens: 1 });
    hang(child, clock);
    const readers = [session, child, other];
    const [before, after] = beforeAndAfterUse(session, () => [
      readers.map((one) => [one.view(), one.note(), one.unavailable(), one.explain('b')]),
      report(session),
      operator.session('child')?.tree,
    ]);
    expect(child.view().limits?.[0]).toMatchObject({ session: 'child', used: 41, estimated: 20, level: 'advised' });
    expect(before).toEqual(after);
    child.end();
    expect(session.view().limits?.[0]).toMatchObject({ used: 41, underWay: 0 });
  });

  test('C11, C9, O5: readers see that a probe whose lease has ended repeats the calls before it', () => {
    const tools = { a: { ...HANGS, failureThreshold: 2 } };
    const { session, clock } = bench({ tools, budget: false, systemic: false });
    const input = { q: 1 };
    for (let i = 0; i < 2; i += 1) session.acquire('a', { input }).settle({ outcome: 'failure', category: 'timeout' });
    clock.advance(2_000);
    expect(session.acquire('a', { input }).decision).toBe('probe');
    session.control('a', 'disabled');
    session.control('a', 'automatic');
    clock.advance(60_000);
    const said = session.explain('a', input);
    expect(session.explain('a', { q: 2 }).reason).toBe('closed');
    expect([said.reason, session.acquire('a', { input }).reason]).toEqual(['repeat', 'repeat']);
  });

  test('C11, C9, Q1: reports and explanations count a probe whose lease has ended', () => {
    const { session, clock } = bench({ tools: { a: { ...HANGS, key: () => 'k' } } });
    session.acquire('a', { input: 'x' }).settle({ outcome: 'failure', category: 'timeout', blames: 'key' });
    hang(session, clock, 'x');
    const [before, after] = beforeAndAfterUse(session, () => [session.explain('a', 'x'), report(session).tools]);
    expect(session.explain('a', 'x').ignored).toMatchObject([{ category: 'key', times: 2 }]);
    expect(before).toEqual(after);
    const failed = bench({ tools: { a: HANGS } });
    failOnce(failed.session, 'a');
    hang(failed.session, failed.clock);
    expect(report(failed.session).tools).toMatchObject([{ tool: 'a', calls: { failed: 2 } }]);
  });

  test('C11, C12: what another session pays for a probe whose lease has ended is not in this one', () => {
    const { session, other, clock } = two({ tools: { a: HANGS, b: {} }, limits: { tokens: 100 } });
    for (const one of [session, other]) one.acquire('b').settle({ outcome: 'success', tokens: 30 });
    failOnce(other, 'a');
    hang(other, clock);
    const [before, after] = beforeAndAfterUse(session, () => [session.view(), session.note(), report(session)]);
    expect(before).toEqual(after);
  });

  test('C11: in many states, readers and decisions agree', () => {
    const states: [string, () => Session][] = [
      ['fresh', () => bench().session],
      [
        'open and due',
        () => {
          const { session } = bench();
          trip(session, 'a');
          trip(session, 'b', 'server');
          steps(session, 3);
          return session;
        },
      ],
      [
        'a group',
        () => {
          const { session } = grouped();
          openGroup(session);
          return session;
        },
      ],
      [
        'an event',
        () => {
          const { session } = bench();
          bringDown(session);
          return session;
        },
      ],
      [
        'an event of all sessions',
        () => {
          const { session, other } = two();
          bringDown(other);
          return session;
        },
      ],
      [
        'a spent budget',
        () => {
          const { session } = bench({ budget: 'strict' });
          for (const [tool, category] of FIVE_STRAY) failOnce(session, tool, category);
          return session;
        },
      ],
      [
        'by hand',
        () => {
          const { session } = bench({ allowedTools: ['a', 'b', 'd'] });
          session.control('a', 'forced_open');
          session.control('b', 'observe_only');
          trip(session, 'b');
          return session;
        },
      ],
    ];
    for (const [name, make] of states) {
      const { said, found, out, rejected, states: seen } = agrees(make());
      expect(said, name).toEqual(found);
      expect(out, name).toEqual(rejected);
      expect(new Set(seen).size, name).toBe(1);
    }
  });
});
