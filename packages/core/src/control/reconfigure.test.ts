import { describe, expect, test } from 'vitest';
import { BreakerboxConfigError, BreakerboxUsageError } from '../checks/checks.ts';
import type { ToolConfig } from '../config/config.ts';
import { restore } from '../snapshot/restore.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { bench, failOnce, journal, succeedOnce, trip } from '../test-support.ts';
import { operate } from './operator.ts';
import { reconfigure } from './reconfigure.ts';

type Box = ReturnType<typeof bench>['box'];
const setTool = (box: Box, tool: string, own: ToolConfig): void =>
  reconfigure(box, (config) => ({ ...config, tools: { ...config.tools, [tool]: own } }));
const setDefaults = (box: Box, defaults: ToolConfig): void => reconfigure(box, (config) => ({ ...config, defaults }));

describe.each(['session', 'process'] as const)('A10: settings of a living box, scope %s', (scope) => {
  test('A10: a threshold counts from the next use, together with what was counted before', () => {
    const { box, session } = bench({ scope });
    failOnce(session, 'a');
    failOnce(session, 'a');
    setTool(box, 'a', { failureThreshold: 5 });
    failOnce(session, 'a');
    failOnce(session, 'a');
    expect(session.peek('a')?.state).toBe('closed');
    failOnce(session, 'a');
    expect(session.acquire('a')).toMatchObject({ decision: 'skip', reason: 'open' });
    expect(trip(session, 'b')).toBeUndefined();
    expect(session.peek('b')?.state).toBe('open');
  });

  test('A10: an open circuit stays open, and calls under way count', () => {
    const { box, session, clock } = bench({ scope, defaults: { cooldownMs: 60_000 } });
    trip(session, 'a');
    const underWay = session.acquire('b');
    setDefaults(box, { cooldownMs: 60_000, failureThreshold: 1 });
    expect(session.acquire('a')).toMatchObject({ decision: 'skip', reason: 'open' });
    underWay.settle({ outcome: 'failure', category: 'server' });
    expect(session.peek('b')?.state).toBe('open');
    clock.advance(60_000);
    expect(succeedOnce(session, 'a')).toBe('probe');
    expect(session.peek('a')?.state).toBe('closed');
  });

  test('A10: the wait of an open circuit is cut to the new maximum', () => {
    const { box, session, clock } = bench({ scope, defaults: { cooldownMs: 60_000 } });
    trip(session, 'a');
    setDefaults(box, { cooldownMs: 5_000, maxCooldownMs: 10_000 });
    clock.advance(9_999);
    expect(session.acquire('a').decision).toBe('skip');
    clock.advance(1);
    expect(session.acquire('a').decision).toBe('probe');
  });

  test('A10: a probe under way settles the circuit', () => {
    const { box, session, clock } = bench({ scope, defaults: { cooldownMs: 1_000 } });
    trip(session, 'a');
    clock.advance(1_000);
    const probe = session.acquire('a');
    setDefaults(box, { cooldownMs: 2_000 });
    expect(session.acquire('a').decision).toBe('skip');
    probe.settle({ outcome: 'success' });
    expect(session.peek('a')?.state).toBe('closed');
  });

  test('A10, C1: a circuit whose mode changes starts again, and is reported', () => {
    const { box, session } = bench({ scope });
    trip(session, 'a');
    trip(session, 'b', 'server');
    const lines = journal(box);
    setTool(box, 'a', { mode: 'observe_only' });
    expect(session.peek('a')?.state).toBe('observe_only');
    expect(succeedOnce(session, 'a')).toBe('call');
    expect(session.acquire('b').decision).toBe('skip');
    expect(lines).toContain('a open>observe_only');
    setTool(box, 'a', { mode: 'forced_open' });
    setTool(box, 'a', {});
    expect(succeedOnce(session, 'a')).toBe('call');
    expect(session.peek('a')?.state).toBe('closed');
  });

  test('A10: a mode that the program or an operator has set stays', () => {
    const { box, session } = bench({ scope });
    session.control('a', 'disabled');
    operate(box).force('b', { mode: 'forced_open', owner: 'ada', reason: 'maintenance' });
    succeedOnce(session, 'c');
    setDefaults(box, { mode: 'observe_only' });
    const states = () => ['a', 'b', 'c', 'd'].map((tool) => session.acquire(tool).state);
    expect(states()).toEqual(['disabled', 'forced_open', 'observe_only', 'observe_only']);
    operate(box).release('b', { owner: 'ada' });
    expect(states()).toEqual(['disabled', 'observe_only', 'observe_only', 'observe_only']);
  });

  test('A10, A3: modes can be forced after a change too', () => {
    const { box, session } = bench({ scope });
    setTool(box, 'a', { failureThreshold: 1 });
    failOnce(session, 'a');
    operate(box).force('a', { mode: 'disabled', owner: 'ada', reason: 'a test' });
    expect(session.acquire('a').state).toBe('disabled');
    setTool(box, 'a', { failureThreshold: 2 });
    operate(box).release('a', { owner: 'ada' });
    expect(session.acquire('a')).toMatchObject({ decision: 'skip', reason: 'open' });
  });
});

describe('A10: the parts of the settings', () => {
  test('A10, R2: alternatives and fallbacks', () => {
    const { box, session } = bench();
    trip(session, 'a');
    setTool(box, 'a', { alternatives: [{ tool: 'b' }], fallback: 'ask a person' });
    expect(session.acquire('a').route).toMatchObject({ kind: 'alternative', tool: 'b' });
    setTool(box, 'a', { fallback: 'ask the user' });
    expect(session.acquire('a').message).toContain('ask the user');
  });

  test('A10: tools that are new, also as alternatives of one another', () => {
    const { box, session } = bench();
    reconfigure(box, (config) => ({
      ...config,
      tools: { ...config.tools, e: { alternatives: [{ tool: 'f' }], failureThreshold: 1 }, f: { group: 'g' } },
    }));
    expect(box.tools).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    failOnce(session, 'e');
    expect(session.acquire('e').route).toMatchObject({ kind: 'alternative', tool: 'f' });
  });

  test('A10: tools that are declared later, that were declared in code, and that never were', () => {
    const { box, session } = bench();
    box.declare('own', { failureThreshold: 2 });
    setDefaults(box, { failureThreshold: 1, outcomes: { unknown: 'ignored' } });
    box.declare('later');
    failOnce(session, 'later');
    failOnce(session, 'own');
    expect([session.peek('later')?.state, session.peek('own')?.state]).toEqual(['open', 'closed']);
    const permit = session.acquire('undeclared');
    permit.settle({ error: new Error('?') });
    expect(session.view().budget.remaining).toBe(3);
  });

  test('A10, C13: groups', () => {
    const tools = { a: { group: 'g' }, b: { group: 'g' }, c: {} };
    const { box, session } = bench({ tools });
    succeedOnce(session, 'a');
    reconfigure(box, (config) => ({ ...config, groups: { g: { failureThreshold: 1, groupThreshold: 1 } } }));
    failOnce(session, 'a');
    expect(session.acquire('b')).toMatchObject({ decision: 'skip', reason: 'group_open' });
  });

  test('A10, B1: a budget is for sessions that begin later', () => {
    const { box, session } = bench();
    reconfigure(box, (config) => ({ ...config, budget: { failures: 1 }, allowedTools: ['a'] }));
    expect(session.view().budget.remaining).toBe(5);
    expect(session.acquire('b').decision).toBe('call');
    const later = box.session();
    expect(later.view().budget.remaining).toBe(1);
    expect(later.acquire('b')).toMatchObject({ decision: 'skip', reason: 'not_allowed' });
  });

  test('A10, C11: a session that was kept is restored under the new settings', () => {
    const { box, session } = bench();
    trip(session, 'a');
    const kept = snapshot(session);
    setTool(box, 'a', { mode: 'observe_only' });
    expect(restore(box, kept).acquire('a').state).toBe('observe_only');
  });
});

describe('A10, E6: what cannot be', () => {
  test.each([
    ['agent', (config: object) => ({ ...config, agent: 'other' }), /agent: has changed, but cannot change while/],
    ['scope', (config: object) => ({ ...config, scope: 'process' }), /scope: has changed/],
    ['systemic', (config: object) => ({ ...config, systemic: false }), /systemic: has changed/],
    ['group', (config: object) => ({ ...config, tools: { a: { group: 'g' } } }), /tools\.a\.group: has changed, but/],
    ['a fault', (config: object) => ({ ...config, defaults: { failureThreshold: 0 } }), /defaults\.failureThreshold/],
    ['nothing', () => undefined, /config: is undefined/],
    ['a wrong type', (config: object) => ({ ...config, tools: 'ab' }), /tools: is 'ab'/],
    ['a fixed one', (config: object) => ({ ...config, budget: 'strict' }), /budget: has changed/],
  ])('A10: %s is an error, and nothing changes', (_, change, why) => {
    const { box, session } = bench();
    const both = () =>
      reconfigure(box, (config) => change({ ...config, defaults: { failureThreshold: 1 } }) as typeof config, {
        fixed: ['budget'],
      });
    expect(both).toThrow(BreakerboxConfigError);
    expect(both).toThrow(why);
    failOnce(session, 'a');
    expect(session.peek('a')?.state).toBe('closed');
    expect(box.session().view().budget.remaining).toBe(5);
  });

  test('what is not a box', () => {
    expect(() => reconfigure({} as never, (config) => config)).toThrow(BreakerboxUsageError);
  });

  test('E6: settings in place of a function that returns them', () => {
    const { box } = bench();
    expect(() => reconfigure(box, { defaults: {} } as never)).toThrow(
      /^reconfigure\(.*change is not a function\. Give/,
    );
  });
});
