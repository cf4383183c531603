import { describe, expect, test } from 'vitest';
import { BreakerboxConfigError } from '../checks/checks.ts';
import { operate } from '../control/operator.ts';
import { reconfigure } from '../control/reconfigure.ts';
import { byHost, type SessionOptions } from '../index.ts';
import { restore } from '../snapshot/restore.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { bench, failOnce, manualClock, succeedOnce, trip } from '../test-support.ts';

const issuesOf = (run: () => unknown): readonly string[] => {
  try {
    run();
  } catch (error) {
    if (error instanceof BreakerboxConfigError) return error.issues.map(({ path, message }) => `${path} ${message}`);
    throw error;
  }
  return [];
};

describe('C18: settings of tools that a session has of its own', () => {
  test('C18: its thresholds hold for it alone', () => {
    const { box, session } = bench();
    const tenant = box.session({ tools: { a: { failureThreshold: 1, cooldownMs: 5_000 } } });
    failOnce(tenant, 'a');
    failOnce(session, 'a');
    expect([tenant.peek('a')?.state, session.peek('a')?.state]).toEqual(['open', 'closed']);
    trip(tenant, 'b');
    expect(tenant.peek('b')?.state).toBe('open');
  });

  test('C18: each setting replaces that of the box, and the others stay', () => {
    const { box, clock } = bench({ tools: { a: { failureThreshold: 5, cooldownMs: 1_000 } } });
    const wide = box.session({ tools: { a: { cooldownMs: 9_000 } }, budget: { failures: 20 } });
    for (let call = 0; call < 4; call += 1) failOnce(wide, 'a');
    expect(wide.peek('a')?.state).toBe('closed');
    failOnce(wide, 'a');
    clock.advance(8_999);
    expect(wide.acquire('a').decision).toBe('skip');
    clock.advance(1);
    expect(wide.acquire('a').decision).toBe('probe');
  });

  test('C18: a profile replaces the thresholds of the box', () => {
    const { box } = bench({ tools: { a: { failureThreshold: 1 } } });
    const tenant = box.session({ tools: { a: { profile: 'slow' } } });
    failOnce(tenant, 'a');
    expect(tenant.peek('a')?.state).toBe('closed');
    failOnce(tenant, 'a');
    expect(tenant.peek('a')?.state).toBe('open');
  });

  test('C18: a mode: one tenant may not use a tool, another one only watches it', () => {
    const { box, session } = bench();
    const without = box.session({ tools: { a: { mode: 'forced_open' } } });
    const watched = box.session({ tools: { a: { mode: 'observe_only' } } });
    expect(without.acquire('a')).toMatchObject({ decision: 'skip', reason: 'forced_open' });
    trip(watched, 'a');
    expect(watched.acquire('a')).toMatchObject({ decision: 'call', reason: 'would_skip' });
    expect(session.acquire('a')).toMatchObject({ decision: 'call', reason: 'closed' });
  });

  test.each(['session', 'process'] as const)('C18: a key of its own, also in scope %s', (scope) => {
    const { box, session } = bench({ scope, tools: { a: { key: false } } });
    const tenant = box.session({ tools: { a: { key: byHost('url') } } });
    const ask = (by: typeof session, url: string) => by.acquire('a', { input: { url, at: url.length } });
    for (const path of ['1', '22', '333']) {
      ask(tenant, `https://dead.example/${path}`).settle({ outcome: 'failure', category: 'network', blames: 'key' });
    }
    expect(ask(tenant, 'https://dead.example/4444')).toMatchObject({ decision: 'skip', reason: 'key_open' });
    expect(ask(tenant, 'https://works.example/')).toMatchObject({ decision: 'call' });
    expect(ask(session, 'https://dead.example/4444')).toMatchObject({ decision: 'call' });
  });

  test('C18, C13: the tool stays in the group of the box', () => {
    const { box } = bench({ tools: { a: { group: 'g' }, b: { group: 'g' } } });
    const tenant = box.session({ tools: { a: { failureThreshold: 9 } } });
    failOnce(tenant, 'a');
    failOnce(tenant, 'b');
    failOnce(tenant, 'a');
    expect(tenant.acquire('b')).toMatchObject({ decision: 'skip', reason: 'group_open' });
    expect(tenant.peek('a')?.group).toBe('g');
  });

  test('C18: a tool that an adapter declares later has them too', () => {
    const { box } = bench({ tools: {} });
    const tenant = box.session({ tools: { late: { failureThreshold: 1 } } });
    expect(tenant.acquire('late').reason).toBe('undeclared');
    tenant.declare('late');
    failOnce(tenant, 'late');
    expect(tenant.peek('late')?.state).toBe('open');
  });

  test('C18, A4: an operator and session.control have the last word', () => {
    const { box } = bench();
    const tenant = box.session({ tools: { a: { mode: 'observe_only' } } });
    operate(box).force('a', { owner: 'ada', mode: 'forced_open', expiresInMs: 1_000, reason: 'broken' });
    expect(tenant.acquire('a').reason).toBe('forced_open');
    operate(box).release('a', { owner: 'ada' });
    tenant.control('a', 'automatic');
    trip(tenant, 'a');
    expect(tenant.acquire('a').reason).toBe('open');
  });
});

describe('C18, A10: a change of the settings of the box', () => {
  const failures = { budget: { failures: 20 } };

  test('C18, A10: the session keeps its own, and takes up the others', () => {
    const { box, clock } = bench();
    const tenant = box.session({ ...failures, tools: { a: { failureThreshold: 4 } } });
    succeedOnce(tenant, 'a');
    reconfigure(box, (config) => ({
      ...config,
      tools: { ...config.tools, a: { failureThreshold: 1, cooldownMs: 7_000 } },
    }));
    for (let call = 0; call < 3; call += 1) failOnce(tenant, 'a');
    expect(tenant.peek('a')?.state).toBe('closed');
    failOnce(tenant, 'a');
    clock.advance(6_999);
    expect(tenant.acquire('a').decision).toBe('skip');
    clock.advance(1);
    expect(tenant.acquire('a').decision).toBe('probe');
  });

  test('C18, A10: a mode of the box reaches sessions that have none of their own for the tool', () => {
    const { box } = bench();
    const tenant = box.session({ tools: { a: { failureThreshold: 4 }, b: { mode: 'observe_only' } } });
    for (const tool of ['a', 'b']) succeedOnce(tenant, tool);
    const closed = { a: { mode: 'forced_open' }, b: { mode: 'forced_open' } } as const;
    reconfigure(box, (config) => ({ ...config, tools: { ...config.tools, ...closed } }));
    expect(tenant.acquire('a').reason).toBe('forced_open');
    expect(tenant.acquire('b').decision).toBe('call');
  });

  test('C18, A10: if they no longer fit together, the session goes on as before', () => {
    const { box } = bench();
    const tenant = box.session({ ...failures, tools: { a: { failureThreshold: 1, maxCooldownMs: 70_000 } } });
    succeedOnce(tenant, 'a');
    reconfigure(box, (config) => ({ ...config, tools: { ...config.tools, a: { cooldownMs: 200_000 } } }));
    failOnce(tenant, 'a');
    expect(tenant.peek('a')).toMatchObject({ state: 'open', nextProbe: { ms: 60_000 } });
  });
});

describe('C18, C11: snapshots', () => {
  const again = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
  const other = () => bench({ clock: manualClock() }).box;

  test('C18, C11: a restored session has them, and its own snapshot too', () => {
    const first = bench().box.session({ id: 'run-7', tools: { a: { failureThreshold: 1 }, b: { key: false } } });
    const second = restore(other(), again(snapshot(first)));
    expect(snapshot(second).tools).toEqual({ a: { failureThreshold: 1 }, b: { key: false } });
    failOnce(second, 'a');
    expect(second.peek('a')?.state).toBe('open');
  });

  test('C18, C11: functions are given again', () => {
    const tools = { a: { key: byHost('url'), failureThreshold: 2 } };
    const kept = again(snapshot(bench().box.session({ tools })));
    expect(kept).toMatchObject({ tools: { a: { failureThreshold: 2 } } });
    const session = restore(other(), kept, { tools });
    const call = (path: string) => session.acquire('a', { input: { url: `https://dead.example/${path}` } });
    for (const path of ['1', '2']) call(path).settle({ outcome: 'failure', category: 'network', blames: 'key' });
    expect(call('3').reason).toBe('key_open');
  });

  test('C18, C11: an older snapshot has none, and one without them says nothing of them', () => {
    const kept = snapshot(bench().session);
    expect(kept).not.toHaveProperty('tools');
    expect(restore(other(), again(kept)).acquire('a').reason).toBe('closed');
  });

  test('C18, E6: a malformed one is refused', () => {
    const kept = { ...snapshot(bench().session), tools: { a: { failureThreshold: 0 } } };
    expect(issuesOf(() => restore(other(), again(kept)))).toEqual([
      expect.stringContaining('snapshot.tools.a.failureThreshold is 0'),
    ]);
  });
});

describe('C18, E6: settings that cannot work', () => {
  const tried = (tools: unknown, scope: 'session' | 'process' = 'session') =>
    issuesOf(() => bench({ scope }).box.session({ tools } as SessionOptions));

  test.each<[unknown, string]>([
    [{ a: { group: 'g' } }, 'session.tools.a.group is not a setting of a session. It is that of the box'],
    [{ a: { share: 'fleet' } }, 'session.tools.a.share is not a setting of a session'],
    [{ a: { failureTreshold: 2 } }, "Did you mean 'failureThreshold'?"],
    [{ a: { failureThreshold: 0 } }, 'session.tools.a.failureThreshold is 0'],
    [{ a: { maxCooldownMs: 10 } }, 'more than maxCooldownMs (10)'],
    [{ a: { failureThreshold: false } }, 'nothing else opens the circuit'],
    [['a'], 'session.tools is a list'],
  ])('C18, E6: %j', (tools, message) => {
    expect(tried(tools).join()).toContain(message);
  });

  test('C18, E6: in scope process, sessions share the circuits', () => {
    expect(tried({ a: { failureThreshold: 2, key: false, mode: 'disabled' } }, 'process')).toEqual([
      "session.tools.a.failureThreshold is that of all sessions, because they share their circuits in scope 'process'. Set it in the tools of the box.",
      "session.tools.a.mode is that of all sessions, because they share their circuits in scope 'process'. Set it in the tools of the box.",
    ]);
  });
});
