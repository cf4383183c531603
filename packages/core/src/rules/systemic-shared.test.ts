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
    expect(eventOf(five, 'rate_limit', { tools, groups })).toBeUndefined();
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

  test('C13, S1: permission of two tools in one group makes no event, because they are one tool', () => {
    const { session } = grouped();
    for (const tool of ['a', 'b', 'c']) trip(session, tool, 'permission');
    expect(session.view().systemic).toBeUndefined();
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

describe('S1: open circuits of one category', () => {
  const together = ['network', 'filesystem', 'resource'] as const;
  const apart = ['server', 'rate_limit', 'timeout', 'permission'] as const;

  /** Circuits open one after the other, with a success of another tool in between and so many steps. */
  const openApart = (category: ErrorCategory, gap: number, config: Parameters<typeof bench>[0] = {}) => {
    const { session } = bench({ ...many, ...config });
    for (const [index, tool] of ['a', 'b', 'c'].entries()) {
      if (index > 0) steps(session, gap);
      trip(session, tool, category);
      succeedOnce(session, 'e');
    }
    return session.view().systemic?.openings.map(({ tool }) => tool);
  };

  test('S1: two tools that open at their first failure make an event, unless a tool succeeds between them', () => {
    const tools = { a: { failureThreshold: 1 }, b: { failureThreshold: 1 }, e: {} };
    const run = (category: ErrorCategory, between: string[] = []) => {
      const { session } = bench({ tools });
      failOnce(session, 'a', category);
      for (const tool of between) succeedOnce(session, tool);
      failOnce(session, 'b', category);
      return session.view().state;
    };
    expect([run('network'), run('network', ['e']), run('server')]).toEqual(['paused_systemic', 'active', 'active']);
  });

  test.each([...together, ...apart])(
    'S1: three of %s within 20 steps make an event, although another tool works',
    (category) => {
      expect([9, 10].map((gap) => openApart(category, gap))).toEqual([
        ['a', 'b', 'c'],
        ['a', 'b', 'c'],
      ]);
      expect(openApart(category, 11)).toBeUndefined();
    },
  );

  test('S1: three within 240 s make an event if no step lies between them', () => {
    const run = (gapMs: number) => {
      const { session, clock } = bench(many);
      for (const tool of ['a', 'b', 'c']) {
        trip(session, tool, 'server');
        succeedOnce(session, 'e');
        if (tool !== 'c') clock.advance(gapMs);
      }
      return session.view().systemic !== undefined;
    };
    expect([run(119_000), run(120_000), run(120_500)]).toEqual([true, true, false]);
  });

  test('S1: three of unknown are not of one category, so they need the window of any three', () => {
    const atOnce = { defaults: { failureThreshold: 1 } };
    expect(openApart('unknown', 5, atOnce)).toEqual(['a', 'b', 'c']);
    expect(openApart('unknown', 6, atOnce)).toBeUndefined();
  });

  test('S1: a circuit that has closed again does not count among the three', () => {
    const { session, clock } = bench({ ...many, defaults: { cooldownMs: 1_000 } });
    trip(session, 'a', 'server');
    clock.advance(1_000);
    expect(succeedOnce(session, 'a')).toBe('probe');
    trip(session, 'b', 'server');
    succeedOnce(session, 'e');
    trip(session, 'c', 'server');
    expect(session.view().systemic).toBeUndefined();
  });

  test.each(together)('S1: two of %s make an event if no tool succeeds between them', (category) => {
    const run = (between: (made: ReturnType<typeof bench>) => unknown) => {
      const made = bench(many);
      trip(made.session, 'a', category);
      between(made);
      trip(made.session, 'b', category);
      return made.session.view().systemic?.category;
    };
    expect(run(() => {})).toBe(category);
    expect(run(({ session }) => succeedOnce(session, 'e'))).toBeUndefined();
    expect(run(({ session }) => session.acquire('e').settle({ outcome: 'ignored', category: 'denied' }))).toBe(
      category,
    );
    expect([10, 11].map((count) => run(({ session }) => steps(session, count)))).toEqual([category, undefined]);
    expect([120_000, 120_001].map((ms) => run(({ clock }) => clock.advance(ms)))).toEqual([category, undefined]);
  });

  test.each([
    { says: 'of an open tool does not interrupt', tools: { a: { alternatives: [{ tool: 'e' }] } }, isEvent: true },
    {
      says: 'of a member of an open group does not interrupt',
      tools: { a: { group: 'g' }, c: { group: 'g', alternatives: [{ tool: 'e' }] } },
      isEvent: true,
    },
    { says: 'of a tool that works interrupts', tools: { c: { alternatives: [{ tool: 'e' }] } }, isEvent: false },
  ])('S1: a success of an alternative $says', ({ tools, isEvent }) => {
    const { session } = bench({ ...many, tools: { ...many.tools, ...tools } });
    for (const tool of 'group' in (tools.a ?? {}) ? ['a', 'c', 'a'] : ['a', 'a', 'a']) failOnce(session, tool);
    succeedOnce(session, 'e');
    trip(session, 'b');
    expect(session.view().systemic !== undefined).toBe(isEvent);
  });

  test('S1: two that have failed once each since the last success make no event; two groups do', () => {
    const pairs = ['g', 'h'].map((group) => [group, { group }] as const);
    const groups = { g: { groupThreshold: 1 }, h: { groupThreshold: 1 } };
    const openLast = (tools: readonly string[]) => {
      const { session } = bench({ ...many, tools: { ...many.tools, ...Object.fromEntries(pairs) }, groups });
      for (const tool of tools) for (let i = 0; i < 2; i += 1) failOnce(session, tool);
      succeedOnce(session, 'e');
      failAll(session, tools, 'network');
      expect(notClosed(session)).toHaveLength(2);
      return session.view().systemic?.openings.map(({ tool }) => tool);
    };
    expect(openLast(['a', 'b'])).toBeUndefined();
    expect(openLast(['g', 'h'])).toEqual(['group:g', 'group:h']);
  });

  test.each(apart)('S1: two of %s make no event, although no tool succeeds between them', (category) => {
    const { session } = bench(many);
    bringDown(session, 'a', 'b');
    expect(session.view().systemic).toBeDefined();
    const other = bench(many).session;
    for (const tool of ['a', 'b']) trip(other, tool, category);
    expect(other.view().systemic).toBeUndefined();
  });

  test.each([...together, ...apart, 'unknown'] as const)(
    'S1: two of %s make an event if the tools have a common dependency, unless it is unknown',
    (category) => {
      const on = { dependsOn: ['gateway'] };
      const { session } = bench({ ...many, tools: { a: on, b: on, e: {} } });
      trip(session, 'a', category);
      succeedOnce(session, 'e');
      trip(session, 'b', category);
      expect(session.view().systemic?.dependency).toBe(category === 'unknown' ? undefined : 'gateway');
    },
  );

  test('S1: sameCategory 2 is enough in every category but two, within 10 steps and whatever succeeds', () => {
    const systemic = { sameCategory: 2, anyCategory: 9 };
    expect(openApart('server', 10, { systemic })).toEqual(['a', 'b']);
    expect(openApart('server', 11, { systemic })).toBeUndefined();
    expect(openApart('timeout', 5, { systemic })).toEqual(['a', 'b', 'c']);
    expect(openApart('timeout', 6, { systemic })).toBeUndefined();
  });

  test('S1: with sameCategory 4, two or three are not enough', () => {
    const on = { dependsOn: ['gateway'] };
    const systemic = { sameCategory: 4, anyCategory: 9, sharedFailures: 99, mixedFailures: 99 };
    const { session } = bench({ ...many, tools: { a: on, b: on, c: {}, d: {} }, systemic });
    for (const tool of ['a', 'b', 'c']) trip(session, tool);
    expect(session.view().systemic).toBeUndefined();
    trip(session, 'd');
    expect(session.view().systemic?.openings).toHaveLength(4);
  });

  test('S1: the steps between openings of one category are a setting', () => {
    expect(openApart('server', 6, { systemic: { sameCategorySteps: 12 } })).toHaveLength(3);
    expect(openApart('server', 7, { systemic: { sameCategorySteps: 12 } })).toBeUndefined();
  });

  test('C11, S1: a snapshot says whether a tool has succeeded since; that of an older version does not, and three are needed', () => {
    const run = (between: (session: ReturnType<typeof bench>['session']) => unknown, older = false) => {
      const { session, box } = bench(many);
      trip(session, 'a');
      between(session);
      const { ledger, ...rest } = snapshotOf(session);
      const { sinceSuccess, ...before } = ledger;
      const restored = restore(box, { ...rest, ledger: older ? before : ledger });
      trip(restored, 'b');
      return restored.view().systemic !== undefined;
    };
    expect(run(() => {})).toBe(true);
    expect(run((session) => succeedOnce(session, 'e'))).toBe(false);
    expect(run(() => {}, true)).toBe(false);
  });
});

describe('S1: seven failures of three tools in any categories, with no success between them', () => {
  const mixed: readonly (readonly [string, ErrorCategory])[] = [
    ['a', 'network'],
    ['b', 'unknown'],
    ['c', 'timeout'],
    ['a', 'server'],
    ['b', 'permission'],
    ['a', 'unknown'],
    ['c', 'rate_limit'],
  ];
  // The budget by itself would pause after the sixth.
  const run = (failures: typeof mixed, config: Parameters<typeof bench>[0] = {}) => {
    const made = bench({ ...many, ...config });
    for (const [tool, category] of failures) failOnce(made.session, tool, category);
    return made;
  };

  test('S1, S2, S4: they make an event without a category, which costs one failure', () => {
    const { session } = run(mixed.slice(0, 6));
    expect(session.view().systemic).toBeUndefined();
    failOnce(session, 'c', 'rate_limit');
    expect(session.view().systemic).toMatchObject({ category: undefined, layer: 'unknown' });
    expect(session.view().systemic?.openings.map(({ tool }) => tool)).toEqual(['a', 'b', 'c']);
    expect(session.acquire('e')).toMatchObject({ decision: 'pause', reason: 'systemic' });
    expect(session.acquire('e').message).toContain("'a', 'b' and 1 more failed at the same time");
    expect(session.view().budget.remaining).toBe(49);
  });

  test('S1: two tools, a success of a tool, and probes are not enough', () => {
    const threshold = { defaults: { failureThreshold: 50 } };
    const ofTwo = mixed.map(([tool, category]) => [tool === 'c' ? 'a' : tool, category] as const);
    expect(run(ofTwo, threshold).session.view().systemic).toBeUndefined();
    const { session } = run(mixed.slice(0, 6));
    succeedOnce(session, 'e');
    failOnce(session, 'c', 'rate_limit');
    expect(session.view().systemic).toBeUndefined();
    const probed = run([
      ['a', 'network'],
      ['a', 'server'],
      ['a', 'timeout'],
      ...mixed.slice(1, 3),
      ['c', 'server'],
    ]).session;
    steps(probed, 3);
    expect(failOnce(probed, 'a', 'network')).toBe('probe');
    expect(probed.view().systemic).toBeUndefined();
    failOnce(probed, 'c', 'network');
    expect(probed.view().systemic).toBeDefined();
  });

  test('S1, O8: failures of unusable tools do not count', () => {
    expect(run(mixed.map(([tool]) => [tool, 'unusable'] as const)).session.view().systemic).toBeUndefined();
    expect(run([...mixed.slice(0, 6), ['c', 'unusable']]).session.view().systemic).toBeUndefined();
  });

  test('S1: failures that blame their keys do not count', () => {
    const { session } = bench({ ...many, tools: { ...many.tools, a: { key: () => 'k' } } });
    for (const [tool, category] of mixed) {
      const blames = tool === 'a' ? ({ blames: 'key' } as const) : {};
      session.acquire(tool, { input: {} }).settle({ outcome: 'failure', category, ...blames });
    }
    expect(session.view().systemic).toBeUndefined();
  });

  test('S1: the tools of one group are one tool, and the number of failures is a setting', () => {
    const tools = { a: { group: 'g' }, b: { group: 'g' }, c: {}, d: {}, e: {} };
    const groups = { g: { failureThreshold: 99 } };
    expect(run(mixed, { tools, groups }).session.view().systemic).toBeUndefined();
    expect(run(mixed.slice(0, 4), { systemic: { mixedFailures: 4 } }).session.view().systemic).toBeDefined();
    expect(run(mixed, { systemic: { mixedFailures: 8 } }).session.view().systemic).toBeUndefined();
  });

  test('S1: the counter of systemic failures counts it as _MIXED, and the report suspects no layer', () => {
    const { session, box } = bench(many);
    const detected = hear(box, 'systemic.detected');
    for (const [tool, category] of mixed) failOnce(session, tool, category);
    expect(detected).toHaveLength(1);
    const { headline, systemic } = report(session);
    expect(systemic).toMatchObject({ category: null, layer: 'unknown' });
    expect(headline).toContain('failed at the same time; suspect a cause that the error categories do not show');
  });

  test('C11, S1: failures of any category before a snapshot count with those after it', () => {
    const { session, box } = run(mixed.slice(0, 6));
    const restored = restore(box, JSON.parse(JSON.stringify(snapshotOf(session))));
    failOnce(restored, 'c', 'rate_limit');
    expect(restored.view().systemic).toMatchObject({ category: undefined });
  });
});
