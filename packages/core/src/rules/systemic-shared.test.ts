import { describe, expect, test } from 'vitest';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import { report } from '../report/report.ts';
import { restore } from '../snapshot/restore.ts';
import { snapshot as snapshotOf } from '../snapshot/snapshot.ts';
import { bench, failOnce, steps, succeedOnce, trip } from '../test-support.ts';
import { bringDown, failAll, grouped, hear, notClosed, openGroup, stray } from './test-support.rules.ts';

const many = { tools: { a: {}, b: {}, c: {}, d: {}, e: {} }, budget: { failures: 50 } } as const;
const five = ['a', 'b', 'c', 'a', 'b'];

const eventOf = (
  tools: readonly string[],
  category: ErrorCategory = 'server',
  config: Parameters<typeof bench>[0] = {},
) => {
  const { session } = bench({ ...many, ...config });
  failAll(session, tools, category);
  return session.view().systemic;
};

describe('S1: five failures of three tools in one category, without a success between them', () => {
  test('S1, S2: they make an event although no circuit is open, and it pauses the session', () => {
    const { session, box } = bench(many);
    const detected = hear(box, 'systemic.detected');
    failAll(session, five.slice(0, 4), 'server');
    expect(session.view().state).toBe('active');
    failOnce(session, 'b', 'server');
    expect(notClosed(session)).toEqual([]);
    expect(session.acquire('d')).toMatchObject({ decision: 'pause', reason: 'systemic' });
    expect(detected.map(({ event }) => event)).toMatchObject([
      { category: 'server', layer: 'upstream', openings: [{ tool: 'a' }, { tool: 'b' }, { tool: 'c' }] },
    ]);
    expect(report(session)).toMatchObject({ state: 'paused_systemic', systemic: { category: 'server' } });
  });

  test('S1, S3: the event costs one failure in total, including earlier charges of its tools', () => {
    const { session } = bench();
    failAll(session, five, 'server');
    expect(session.view().budget).toMatchObject({ remaining: 4, provisional: 0, consumed: 1 });
  });

  test('S1: two tools, four failures, or two categories are not enough', () => {
    const high = { defaults: { failureThreshold: 50 } };
    expect(eventOf(['a', 'b', 'a', 'b', 'a', 'b', 'a'], 'server', high)).toBeUndefined();
    expect(eventOf(['a', 'b', 'c', 'd'])).toBeUndefined();
    const { session } = bench(many);
    for (const [index, tool] of five.entries()) failOnce(session, tool, index % 2 === 0 ? 'server' : 'network');
    expect(session.view().systemic).toBeUndefined();
    expect(eventOf(five)).toBeDefined();
  });

  test('S1: a success of any tool with a circuit resets the count; a tool without a circuit does not', () => {
    const run = (tool: string) => {
      const { session } = bench(many);
      failAll(session, five.slice(0, 4), 'server');
      succeedOnce(session, tool);
      failOnce(session, 'b', 'server');
      return session.view().systemic === undefined;
    };
    expect([run('e'), run('a'), run('made_up')]).toEqual([true, true, false]);
  });

  test('S1: single failures in a run that works make no event', () => {
    const { session } = bench(many);
    for (const tool of [...five, ...five]) stray(session, tool, 'server');
    expect(session.view().systemic).toBeUndefined();
  });

  test('S1: the first and the last failure are in one window, of steps or of time', () => {
    const run = (gap: (made: ReturnType<typeof bench>) => void) => {
      const made = bench(many);
      made.session.step();
      failAll(made.session, five.slice(0, 4), 'server');
      gap(made);
      failOnce(made.session, 'b', 'server');
      return made.session.view().systemic !== undefined;
    };
    expect([10, 11].map((count) => run(({ session }) => steps(session, count)))).toEqual([true, false]);
    expect([120_000, 120_001].map((ms) => run(({ clock }) => clock.advance(ms)))).toEqual([true, false]);
  });

  test('S1: failed probes, ignored outcomes and calls of undeclared tools are not evidence', () => {
    const { session } = bench({
      ...many,
      defaults: { failureThreshold: 1 },
      systemic: { sameCategory: 9, anyCategory: 9 },
    });
    failAll(session, ['a', 'b', 'c'], 'server');
    steps(session, 3);
    for (const tool of ['a', 'b', 'c']) expect(failOnce(session, tool, 'server')).toBe('probe');
    session.acquire('d').settle({ outcome: 'ignored', category: 'server' });
    failAll(session, ['made_up', 'other'], 'server');
    expect(session.view().systemic).toBeUndefined();
    failAll(session, ['d', 'e'], 'server');
    expect(session.view().systemic).toBeDefined();
  });

  test('S1: an open circuit among the tools keeps its own opening in the event', () => {
    const { session, clock } = bench(many);
    trip(session, 'a', 'server');
    clock.advance(1_000);
    failAll(session, ['b', 'c'], 'server');
    const openings = session.view().systemic?.openings ?? [];
    expect(openings.map(({ tool, at }) => `${tool} ${at.ms}`)).toEqual(['a 1000', 'b 2000', 'c 2000']);
  });

  test('S1: the numbers of failures and tools are configurable', () => {
    expect(eventOf(['a', 'b'], 'server', { systemic: { sharedFailures: 2, sharedTools: 2 } })).toBeDefined();
    expect(eventOf([...five, 'c', 'd'], 'server', { systemic: { sharedTools: 5 } })).toBeUndefined();
    expect(eventOf(five, 'server', { systemic: false })).toBeUndefined();
    expect(() => bench({ systemic: { sharedTools: 1 } })).toThrow(/systemic\.sharedTools/);
  });

  test('C13, S1: members of one group are one source', () => {
    const tools = { a: { group: 'g' }, b: { group: 'g' }, c: { group: 'g' }, d: {}, e: {} };
    const groups = { g: { failureThreshold: 99 } };
    expect(eventOf(['a', 'b', 'c', 'a', 'b', 'd'], 'server', { tools, groups })).toBeUndefined();
    expect(eventOf(['a', 'b', 'c', 'a', 'd', 'e'], 'server', { tools, groups })).toBeDefined();
    // A group does not open by these, so they say something of each tool.
    expect(eventOf(five, 'rate_limit', { tools, groups })).toBeDefined();
  });

  test('C15, S1: a group that opens with the failure which makes the event counts as its members', () => {
    const tools = { a: {}, b: {}, c: { group: 'g' }, d: { group: 'g' } };
    const { session } = bench({ ...many, tools });
    failAll(session, ['a', 'b', 'c', 'd', 'c'], 'server');
    expect(session.view().systemic?.openings.map(({ tool }) => tool)).toEqual(['a', 'b', 'group:g']);
    expect(session.view().circuits.map(({ tool, state }) => `${tool} ${state}`)).toContain('group:g open');
  });

  test('S5: the event ends like other events, and earlier failures are not evidence for the next', () => {
    const { session } = bench(many);
    failAll(session, five, 'server');
    session.confirmRecovered();
    expect(session.acquire('a').reason).toBe('closed');
    failOnce(session, 'd', 'server');
    expect(session.view().systemic).toBeUndefined();
  });

  test('C11, S1: failures before a snapshot count with those after it', () => {
    const { session, box } = bench(many);
    failAll(session, five.slice(0, 4), 'server');
    const snapshot = JSON.parse(JSON.stringify(snapshotOf(session)));
    const [soon, late] = [120_000, 120_001].map((elapsedMs) => restore(box, snapshot, { elapsedMs }));
    for (const one of [soon, late]) if (one !== undefined) failOnce(one, 'b', 'server');
    expect([soon?.view().state, late?.view().state]).toEqual(['paused_systemic', 'active']);
  });
});

describe('S1: timeout and permission are shared only with more evidence', () => {
  test.each(['timeout', 'permission'] as const)('S1: %s of two tools that share nothing makes no event', (category) => {
    const { session } = bench(many);
    trip(session, 'a', category);
    trip(session, 'b', category);
    expect(session.view().systemic).toBeUndefined();
    expect(session.acquire('c').decision).toBe('call');
  });

  test.each(['timeout', 'permission'] as const)(
    'S1, S4: %s of two tools with one dependency makes an event',
    (category) => {
      const on = { dependsOn: ['gateway'] };
      const { session } = bench({ ...many, tools: { a: on, b: on, c: {} } });
      trip(session, 'a', category);
      trip(session, 'b', category);
      expect(session.view().systemic).toMatchObject({ category, layer: 'dependency', dependency: 'gateway' });
    },
  );

  test('C13, S1, S4: permission of two tools in one group makes an event, and the group is suspected', () => {
    const { session } = grouped();
    trip(session, 'a', 'permission');
    trip(session, 'b', 'permission');
    expect(session.view().systemic).toMatchObject({ category: 'permission', layer: 'group', group: 'g' });
    expect(session.acquire('d').message).toContain("the cause is probably 'g', which they belong to");
    expect(report(session).headline).toContain('g');
  });

  test('S1: a third tool is enough', () => {
    const { session } = bench(many);
    for (const tool of ['a', 'b', 'c']) trip(session, tool, 'timeout');
    expect(session.view().systemic).toMatchObject({ category: 'timeout', openings: [{}, {}, {}] });
  });

  test('C13, S1: two groups that time out count as two sources, and a third is enough', () => {
    const pairs = ['g', 'h', 'i'].flatMap((group) => [1, 2].map((n) => [`${group}${n}`, { group }] as const));
    const config = { tools: Object.fromEntries(pairs), budget: { failures: 50 }, systemic: { sharedFailures: 99 } };
    const { session } = bench(config);
    const down = (group: string) =>
      failAll(
        session,
        [1, 2, 1].map((n) => `${group}${n}`),
        'timeout',
      );
    down('g');
    down('h');
    expect(notClosed(session)).toEqual(['group:g open', 'group:h open']);
    expect(session.view().systemic).toBeUndefined();
    down('i');
    expect(session.view().systemic?.openings).toHaveLength(3);
  });

  test('S1: other categories need two tools only', () => {
    for (const category of ['network', 'rate_limit', 'filesystem', 'server', 'resource'] as const) {
      const { session } = bench(many);
      trip(session, 'a', category);
      trip(session, 'b', category);
      expect(session.view().systemic?.category, category).toBe(category);
    }
  });

  test('C13, S4: an event of a group and a tool outside of it names no group', () => {
    const { session } = grouped();
    openGroup(session);
    trip(session, 'd');
    expect(session.view().systemic).toMatchObject({ group: undefined, layer: 'network' });
    const other = bench().session;
    bringDown(other);
    expect(other.view().systemic).toMatchObject({ group: undefined, dependency: undefined });
  });
});
