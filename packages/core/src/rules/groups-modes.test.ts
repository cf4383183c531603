import { describe, expect, test } from 'vitest';
import { BreakerboxConfigError, BreakerboxUsageError } from '../checks/checks.ts';
import { planScope } from '../scope/scope.ts';
import { bench, failOnce, steps, succeedOnce, trip, watchWarnings } from '../test-support.ts';
import { failAll, grouped, hear, notClosed, openGroup, reasonsOf, words } from './test-support.rules.ts';

describe('C1: groups in other modes', () => {
  test('C1, C13: an observed group rejects no call; observed tools say what it would have done', () => {
    const tools = { a: { group: 'g' }, b: { group: 'g' }, seen: { group: 'g', mode: 'observe_only' }, d: {} } as const;
    const { session, box } = grouped({ tools, groups: { g: { mode: 'observe_only' } } });
    const transitions = hear(box, 'circuit.transition');
    openGroup(session);
    expect(session.peek('group:g')).toMatchObject({ state: 'observe_only', trip: 'consecutive' });
    expect(transitions).toMatchObject([{ tool: 'group:g', from: 'closed', to: 'open', observed: true }]);
    expect(session.acquire('a')).toMatchObject({ decision: 'call', reason: 'closed' });
    expect(session.acquire('seen')).toMatchObject({ decision: 'call', reason: 'would_skip', wouldDecide: 'skip' });
    expect(session.peek('a')?.failures).toBe(2); // Nothing was absorbed.
    expect(session.view().budget.remaining).toBe(2);
    expect(session.unavailable()).toEqual([]);
  });

  test('C1, C13: a dry run of the whole box observes its groups too, and pauses no session', () => {
    const { session } = grouped({ defaults: { mode: 'observe_only' } });
    openGroup(session);
    expect(session.peek('group:g')?.state).toBe('observe_only');
    expect(session.acquire('c')).toMatchObject({ decision: 'call', reason: 'would_skip' });
    expect(session.view()).toMatchObject({ state: 'active', budget: { remaining: 5 } });
    steps(session, 3);
    expect(session.acquire('a').decision).toBe('probe'); // As it would be: the dryRun goes on.
  });

  test('C1, C13: an automatic group counts calls of automatic tools only, and gives its slot to them only', () => {
    const tools = { a: { group: 'g' }, b: { group: 'g' }, seen: { group: 'g', mode: 'observe_only' }, d: {} } as const;
    const { session } = grouped({ tools });
    failAll(session, ['seen', 'a', 'seen', 'seen']);
    expect(session.peek('group:g')).toMatchObject({ state: 'closed', failures: 1 });
    failAll(session, ['b', 'a']);
    expect(session.acquire('seen').reason).toBe('would_skip');
    steps(session, 3);
    const observed = session.acquire('seen');
    expect(observed.reason).toBe('probe_due'); // Of its own circuit. The group has no say once it is due.
    observed.settle({ outcome: 'failure', category: 'network' });
    expect(session.peek('group:g')?.state).toBe('open');
    expect(succeedOnce(session, 'b')).toBe('probe');
  });

  test('C1, C13: a group switched off skips its tools, a disabled one never opens, and automatic starts again', () => {
    const { session } = grouped({ budget: { failures: 50 } });
    failAll(session, ['a', 'b']);
    session.control('group:g', 'forced_open');
    expect(session.acquire('c')).toMatchObject({ decision: 'skip', reason: 'forced_open', state: 'closed' });
    expect(session.explain('c')).toMatchObject({ rejectedBy: 'group:g', reason: 'forced_open' });
    expect(session.acquire('d').decision).toBe('call');
    session.control('group:g', 'disabled');
    failAll(session, ['c', 'b', 'c']);
    session.acquire('a').settle({ outcome: 'failure', category: 'network', blames: 'group' });
    expect(session.peek('group:g')?.state).toBe('disabled');
    expect(succeedOnce(session, 'c')).toBe('call');
    session.control('group:g', 'automatic');
    expect(session.peek('group:g')).toMatchObject({ state: 'closed', failures: 0 });
  });

  test('C1, S1: an open group that an operator controls is not evidence for an event', () => {
    const { session } = grouped();
    openGroup(session);
    session.control('group:g', 'disabled');
    trip(session, 'd');
    expect(session.view().systemic).toBeUndefined();
    expect(session.acquire('a').decision).toBe('call');
  });

  test('C1, E6: a group without tools cannot be controlled', () => {
    expect(() => grouped().session.control('group:nope', 'disabled')).toThrow(BreakerboxUsageError);
  });
});

describe('C13: membership of a group', () => {
  test('C13: an adapter names the group of a tool, also of a configured tool or one called before', () => {
    const { session } = bench({ tools: { a: {}, b: {} } });
    succeedOnce(session, 'a');
    for (const tool of ['a', 'b', 'new']) session.declare(tool, { group: 'github' });
    failAll(session, ['a', 'b', 'new']);
    expect(notClosed(session)).toEqual(['group:github open']);
    expect(session.acquire('a')).toMatchObject({ reason: 'group_open', group: 'github' });
  });

  test("C13: a tool's own group has priority, group false means no group, and a later hint changes nothing", () => {
    const { session } = bench({ tools: { own: { group: 'g' }, alone: { group: false }, hinted: {} } });
    for (const tool of ['own', 'alone', 'hinted']) session.declare(tool, { group: 'server' });
    session.declare('hinted', { group: 'other' });
    const groups = ['own', 'alone', 'hinted'].map((tool) => session.acquire(tool).group);
    expect(groups).toEqual(['g', undefined, 'server']);
  });

  test('C13, E6: names that begin with group: are rejected in settings', () => {
    for (const tools of [{ 'group:x': {} }, { a: { group: '' } }, { a: { group: 7 } }]) {
      expect(() => bench({ tools: tools as never })).toThrow(BreakerboxConfigError);
    }
    expect(() => bench({ defaults: { group: 'g' } })).toThrow(/defaults\.group: is not allowed in defaults/);
    expect(() => bench({ groups: { g: { failureThreshold: 0 } } })).toThrow(/groups\.g\.failureThreshold/);
    expect(() => bench({ groups: { g: { failureRate: {} } } as never })).toThrow(
      /groups\.g\.failureRate: is not a setting/,
    );
    expect(() => bench().box.declare('group:x')).toThrow(BreakerboxConfigError);
  });

  test('C13: a tool with such a name from a server or a model is never declared, and gets one warning', () => {
    const warnings = watchWarnings();
    const { session, box } = grouped();
    for (const name of ['group:g', 'group:x']) session.declare(name, { group: 'g' });
    expect(warnings().filter((text) => text.includes("names that begin with 'group:'"))).toHaveLength(1);
    expect(box.tools).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('C13: a call of a tool with such a name changes no group', () => {
    const { session } = grouped();
    expect(session.acquire('group:g')).toMatchObject({ decision: 'call', reason: 'undeclared', state: undefined });
    failAll(session, ['a', 'b']);
    succeedOnce(session, 'group:g');
    failOnce(session, 'a');
    expect(session.peek('group:g')?.state).toBe('open');
    steps(session, 3);
    expect(session.acquire('group:g').reason).toBe('undeclared');
    expect(session.acquire('a').reason).toBe('group_probe_due');
  });
});

describe('R2, R3: an open group in routes and messages', () => {
  const routed = {
    a: { group: 'g', alternatives: [{ tool: 'b' }, { tool: 'd', degradation: 'low', note: 'recent items only' }] },
    b: { group: 'g' },
    x: { alternatives: [{ tool: 'b' }], fallback: 'ask the user' },
    d: {},
  } as const;

  test('C15, R2: alternatives in an open group are not usable', () => {
    const { session } = bench({ tools: routed });
    session.control('x', 'forced_open');
    expect(session.acquire('x').route).toMatchObject({ tool: 'b' });
    openGroup(session);
    expect(session.acquire('x').route).toEqual({ kind: 'manual', fallback: 'ask the user' });
    expect(session.acquire('a').route).toMatchObject({ kind: 'alternative', tool: 'd' });
    steps(session, 3); // Due for a probe is not usable either.
    expect(session.acquire('x').route?.kind).toBe('manual');
    succeedOnce(session, 'a');
    expect(session.acquire('x').route).toMatchObject({ tool: 'b' });
  });

  test('R3: the message says which tool, why, until when, its replacement and not to retry, in 60 words at most', () => {
    const { session } = bench({ tools: routed });
    session.step();
    openGroup(session, 'timeout');
    const { message } = session.acquire('a');
    expect(message).toBe(
      "Tool 'a' is unavailable: the tools of group 'g' failed (timeout). Do not call it now. It may work again in about 3 of " +
        "your turns. Use 'd' instead (recent items only; little is lost). [breakerbox:not-called]",
    );
    expect(words(message)).toBeLessThanOrEqual(60);
    steps(session, 3);
    session.acquire('a');
    expect(session.acquire('b').message).toContain(
      'One call is testing that now. It may work again later in this run.',
    );
  });

  test('R3: the message has the wait of the tool: one whose probe failed waits longer', () => {
    const { session } = grouped();
    session.acquire('a').settle({ outcome: 'failure', category: 'network', blames: 'group' });
    expect(session.acquire('b').message).toContain('in about 60 s');
    steps(session, 3);
    failOnce(session, 'a');
    expect(session.acquire('a').message).toContain('in about 6 of your turns');
    expect(session.acquire('b').message).toContain('in about 3 of your turns');
  });

  test('R3: note() and unavailable() list all tools of the group, until one is due for a probe', () => {
    const { session } = grouped();
    openGroup(session);
    expect(session.unavailable()).toEqual(['a', 'b', 'c']);
    const [, ...lines] = session.note().split('\n');
    expect(lines.map((line) => line.slice(0, line.indexOf('. ')))).toEqual(
      ['a', 'b', 'c'].map((tool) => `- '${tool}': the tools of group 'g' failed (network)`),
    );
    steps(session, 3);
    expect([session.unavailable(), session.note()]).toEqual([[], '']);
    session.acquire('a');
    expect(session.unavailable()).toEqual(['a', 'b', 'c']);
  });

  test('F2: a call that the group skips may be answered with the last good result', () => {
    const { session } = grouped({ tools: { a: { group: 'g', serveStaleMs: 60_000 }, b: { group: 'g' } } });
    session.acquire('a', { input: 1 }).settle({ result: 'kept' });
    openGroup(session);
    expect(session.acquire('a', { input: 1 }).route).toMatchObject({ kind: 'stale', result: 'kept' });
  });

  test('W1: a task that needs a tool of the group waits for a probe of any of its tools', () => {
    const { session } = grouped();
    openGroup(session);
    const [deferred] = planScope(session, [{ name: 'x', tools: ['c'] }]).deferred;
    expect(deferred?.blockers).toMatchObject([
      {
        tool: 'c',
        reason: 'group_open',
        unblock: expect.stringContaining("a probe of a tool in the group of 'c' succeeds"),
      },
    ]);
  });

  test('C15: explain says which circuit rejects, until when, and the charges', () => {
    const { session } = grouped();
    openGroup(session);
    const explained = session.explain('c');
    expect(explained).toMatchObject({
      tool: 'c',
      decision: 'skip',
      reason: 'group_open',
      rejectedBy: 'group:g',
      nextProbe: { steps: 3, ms: 60_000, notBeforeMs: 0 },
      charges: [{ tool: 'group:g', category: 'network', count: 1, standing: 'provisional', step: 0, agoMs: 0 }],
    });
    expect(explained.text).toBe(session.acquire('c').message);
    expect(session.explain('a').circuits.map(({ tool, group, state }) => [tool, group, state])).toEqual([
      ['group:g', undefined, 'open'],
      ['a', 'g', 'closed'],
    ]);
    expect(JSON.parse(JSON.stringify(explained))).toMatchObject({ rejectedBy: 'group:g' });
    expect(reasonsOf(session, 'd')).toEqual(['closed']);
    expect(session.explain('d')).toMatchObject({
      decision: 'call',
      rejectedBy: undefined,
      nextProbe: undefined,
      text: '',
    });
  });
});
