import { describe, expect, test } from 'vitest';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import {
  type Correlation,
  type CorrelationPolicy,
  correlateClosing,
  correlateFailure,
  correlateOpening,
  correlateSuccess,
  DEFAULT_SYSTEMIC,
  latestOf,
  latestOpening,
  NO_CORRELATION,
  type Opening,
} from './systemic.ts';

const one = (tool: string, category: ErrorCategory = 'network', ms = 0, step = 0): Opening => ({
  tool,
  category,
  at: { ms, step, stepMs: 0 },
  unixMs: ms,
});

/** What all of these tools have in common in a table of tools; `group:NAME` is in NAME. */
const sharedIn =
  (table: Readonly<Record<string, string>>) =>
  (tools: readonly string[]): string | undefined => {
    const [first, ...others] = new Set(tools.map((tool) => (tool.startsWith('group:') ? tool.slice(6) : table[tool])));
    return others.length === 0 ? first : undefined;
  };

const policy: CorrelationPolicy = {
  ...DEFAULT_SYSTEMIC,
  sharedDependency: sharedIn({ search: 'proxy', weather: 'proxy', orders: 'database' }),
  sharedGroup: sharedIn({ read: 'files', write: 'files' }),
  joinsAll: true,
};
const process: CorrelationPolicy = { ...policy, joinsAll: false };

const opened = (openings: readonly Opening[], by: CorrelationPolicy | undefined = policy, from = NO_CORRELATION) =>
  openings.reduce((correlation, opening) => correlateOpening(correlation, opening, by), from);

const failed = (entries: readonly Opening[], by: CorrelationPolicy | undefined = policy, from = NO_CORRELATION) =>
  entries.reduce((correlation, entry) => correlateFailure(correlation, entry, by), from);

const toolsOf = ({ event }: Correlation) => event?.openings.map(({ tool }) => tool);

describe('S1: circuits that open', () => {
  test('S1: a second opening with the category network, and no success in between, makes an event', () => {
    expect(opened([one('a')]).event).toBeUndefined();
    const { event } = opened([one('a'), one('b')]);
    expect(event).toMatchObject({ category: 'network', layer: 'network', openings: [one('a'), one('b')] });
  });

  test('S1: two openings with different categories make no event, three do', () => {
    const two = [one('a', 'network'), one('b', 'server')];
    expect(opened(two).event).toBeUndefined();
    const { event } = opened([...two, one('c', 'filesystem')]);
    expect(event).toMatchObject({ category: undefined, layer: 'unknown' });
    expect(event?.openings).toHaveLength(3);
  });

  test('S1: the event has the openings that share a category, not the other open circuits', () => {
    expect(toolsOf(opened([one('a', 'network'), one('b', 'server'), one('c', 'network')]))).toEqual(['a', 'c']);
  });

  test('S1: openings make an event only within one window, by steps or by time', () => {
    expect(toolsOf(opened([one('a', 'network', 0, 0), one('b', 'network', 1, 10)]))).toEqual(['a', 'b']);
    expect(opened([one('a', 'network', 0, 0), one('b', 'network', 1, 11)]).event).toBeUndefined();
    expect(toolsOf(opened([one('a'), one('b', 'network', 120_000)]))).toEqual(['a', 'b']);
    expect(opened([one('a'), one('b', 'network', 120_001)]).event).toBeUndefined();
    const three = [one('a', 'network'), one('b', 'server', 60_000), one('c', 'resource', 120_001)];
    expect(opened(three).event).toBeUndefined();
  });

  test('O6: unknown is not a shared category, but three circuits of it are three circuits', () => {
    const two = [one('a', 'unknown'), one('b', 'unknown')];
    expect(opened(two).event).toBeUndefined();
    expect(opened([...two, one('c', 'unknown')]).event).toMatchObject({ category: undefined, layer: 'unknown' });
    expect(opened(two, { ...policy, anyCategory: 2 }).event).toMatchObject({ category: undefined });
  });

  test.each(['timeout', 'permission'] as const)('S1: %s needs a third tool or a common dependency', (category) => {
    const open = (...tools: string[]) => opened(tools.map((tool) => one(tool, category)));
    expect(open('a', 'b').event).toBeUndefined();
    expect(open('a', 'b', 'c').event).toMatchObject({ category });
    const three = ['a', 'b', 'c'].map((tool) => one(tool, category));
    expect(opened(three, { ...policy, anyCategory: 4 }).event).toMatchObject({ category });
    expect(open('search', 'weather').event).toMatchObject({ category, layer: 'dependency', dependency: 'proxy' });
    expect(open('search', 'orders').event).toBeUndefined();
  });

  test('S1, C13: two tools of one group are one tool, whatever their category', () => {
    expect(opened([one('read', 'permission'), one('write', 'permission')]).event).toBeUndefined();
  });

  test.each(['network', 'timeout', 'server', 'resource'] as const)(
    'S1, C13: tools of one group that open with %s are one source together with their group',
    (category) => {
      const open = (...tools: string[]) => toolsOf(opened(tools.map((tool) => one(tool, category))));
      expect(open('read', 'write')).toBeUndefined();
      expect(open('group:files', 'write')).toBeUndefined();
      expect(open('read', 'write', 'a')).toEqual(
        category === 'network' || category === 'resource' ? ['read', 'write', 'a'] : undefined,
      );
      expect(open('read', 'write', 'a', 'b')).toBeDefined();
    },
  );

  test('S1, C13: they are also one source among circuits of any category', () => {
    const open = (...openings: Opening[]) => toolsOf(opened(openings, { ...policy, sameCategory: 9 }));
    const two = [one('read', 'network'), one('write', 'server')];
    expect(open(...two, one('a', 'filesystem'))).toBeUndefined();
    expect(open(...two, one('a', 'filesystem'), one('b', 'rate_limit'))).toHaveLength(4);
    expect(open(one('read', 'network'), one('write', 'rate_limit'), one('a', 'filesystem'))).toBeUndefined();
  });

  test('S1: two tools that time out and a third of another category make an event of three', () => {
    const three = [one('x', 'server'), one('a', 'timeout'), one('b', 'timeout')];
    expect(toolsOf(opened(three))).toEqual(['x', 'a', 'b']);
  });

  test('S4: the event names what its tools share, and a tool that joins may change that', () => {
    const event = opened([one('search'), one('weather')]);
    expect(event.event).toMatchObject({ layer: 'dependency', dependency: 'proxy' });
    const grown = correlateOpening(event, one('orders'), policy);
    expect(grown.event).toMatchObject({ layer: 'network', dependency: undefined });
  });

  test('S1: a failed probe of a listed circuit adds no opening', () => {
    const before = opened([one('a')]);
    expect(correlateOpening(before, one('a', 'server', 5), policy)).toBe(before);
  });

  test('S1: without a policy openings are listed, failures are not, and no event begins', () => {
    const listed = [one('a'), one('b'), one('c'), one('d')];
    expect(listed.reduce((all, opening) => correlateOpening(all, opening, undefined), NO_CORRELATION)).toEqual({
      openings: listed,
      sinceSuccess: ['a', 'b', 'c', 'd'],
      failures: [],
      event: undefined,
    });
    expect(correlateFailure(NO_CORRELATION, one('a'), undefined)).toBe(NO_CORRELATION);
  });
});

describe('S1: circuits that open while an event lasts', () => {
  const event = opened([one('a'), one('b')]);

  test('S1: each circuit joins, whatever its category and however late, and the event becomes a new object', () => {
    const grown = correlateOpening(event, one('c', 'server', 1e9), policy);
    expect(toolsOf(grown)).toEqual(['a', 'b', 'c']);
    expect(grown.event).toMatchObject({ category: undefined });
    expect(event.event?.openings).toHaveLength(2);
    expect(correlateOpening(grown, one('c', 'server', 1e9), policy).event).toBe(grown.event);
  });

  test('S1: a tool that closes and opens again counts as one tool', () => {
    const reopened = correlateOpening(correlateClosing(event, new Set(['a'])), one('a', 'network', 9), policy);
    expect(reopened.event?.openings).toEqual([one('b'), one('a', 'network', 9)]);
    expect(reopened.openings).toEqual([one('b'), one('a', 'network', 9)]);
  });

  test('S1, C12: in scope process a circuit joins only with the same category and in the window of the latest opening', () => {
    const join = (opening: Opening) => correlateOpening(event, opening, process);
    expect(toolsOf(join(one('c', 'network', 120_000)))).toEqual(['a', 'b', 'c']);
    for (const other of [one('c', 'server'), one('c', 'network', 120_001), one('c', 'unknown')]) {
      expect(join(other).event).toBe(event.event);
      expect(join(other).openings).toEqual([one('a'), one('b'), other]);
    }
    const grown = join(one('c', 'network', 120_000));
    expect(toolsOf(correlateOpening(grown, one('d', 'network', 240_000), process))).toEqual(['a', 'b', 'c', 'd']);
  });

  test('S1, C12: in scope process no circuit joins an event without a shared category', () => {
    const mixed = opened([one('a', 'network'), one('b', 'server'), one('c', 'unknown')], process);
    expect(toolsOf(mixed)).toEqual(['a', 'b', 'c']);
    for (const category of ['network', 'server', 'unknown'] as const) {
      expect(correlateOpening(mixed, one('d', category), process).event).toBe(mixed.event);
    }
  });
});

test('S5: the latest opening of an event is found; of several at the same time, the first', () => {
  const [earlier, first, second] = [one('a'), one('b', 'network', 2, 1), one('c', 'network', 2, 2)];
  const { event } = opened([earlier, first, second]);
  expect(event && [latestOpening(event), latestOf(event)]).toEqual([first, 2]);
});

describe('S1: failures with no success between them', () => {
  const five = [
    one('a', 'server', 1),
    one('b', 'server', 2),
    one('a', 'server', 3),
    one('c', 'server', 4),
    one('b', 'server', 5),
  ];

  test('S1: 5 failures of 3 tools in one category make an event, though no circuit is open', () => {
    expect(failed(five.slice(0, 4)).event).toBeUndefined();
    const { event, openings } = failed(five);
    expect(event).toMatchObject({ category: 'server', layer: 'upstream' });
    expect(event?.openings).toEqual([one('a', 'server', 1), one('b', 'server', 2), one('c', 'server', 4)]);
    expect(openings).toEqual([]);
  });

  test('S1: 5 failures of 2 tools make no event; the sixth, of a third tool, does', () => {
    const two = failed(['a', 'b', 'a', 'b', 'a'].map((tool) => one(tool)));
    expect(two.event).toBeUndefined();
    expect(toolsOf(correlateFailure(two, one('c'), policy))).toEqual(['a', 'b', 'c']);
  });

  test('S1: 5 failures of 3 categories make no event, and failures of other categories do not count', () => {
    const mixed = failed([...five.slice(0, 4), one('x', 'network', 4), one('y', 'timeout', 4)]);
    expect(mixed.event).toBeUndefined();
    expect(toolsOf(failed(five.slice(4), policy, mixed))).toEqual(['a', 'b', 'c']);
  });

  test('S1: a success of any tool clears the log', () => {
    const four = failed(five.slice(0, 4));
    const emptied = correlateSuccess(four, 'd', policy);
    expect(emptied).toEqual(NO_CORRELATION);
    expect(failed(five.slice(4), policy, emptied).event).toBeUndefined();
    expect(correlateSuccess(emptied, 'd', policy)).toBe(emptied);
  });

  test('S1: tools that no other replaces and that share nothing: a success is as usual, and a closing takes its own tools', () => {
    const alone: CorrelationPolicy = { ...DEFAULT_SYSTEMIC, joinsAll: true };
    const two = opened([one('a', 'server'), one('b', 'server', 1)], alone);
    expect([two.event, two.sinceSuccess]).toEqual([undefined, ['a', 'b']]);
    expect(correlateSuccess(two, 'd', alone).sinceSuccess).toEqual([]);
    expect(correlateClosing(two, new Set(['a'])).sinceSuccess).toEqual(['b']);
  });

  test('O6: unknown failures share no category, and count among seven of any category', () => {
    const unknown = ['a', 'b', 'c', 'a', 'b', 'c', 'a'].map((tool, ms) => one(tool, 'unknown', ms));
    expect(failed(unknown.slice(0, 6)).event).toBeUndefined();
    const { event } = failed(unknown);
    expect(event).toMatchObject({ category: undefined, openings: unknown.slice(0, 3) });
  });

  test('S1: the event of mixed failures names no category, though the first failures of its tools have one', () => {
    const firsts = [one('a', 'server', 1), one('b', 'server', 2), one('c', 'server', 3)];
    const odd = one('b', 'network', 4);
    const rest = [odd, one('a', 'timeout', 5), one('b', 'timeout', 6), one('a', 'rate_limit', 7)];
    const { event } = failed([...firsts, ...rest]);
    expect(event).toMatchObject({ category: undefined, openings: [firsts[0], odd, firsts[2]] });
  });

  test('S1: failures outside the window of the newest are dropped', () => {
    const old = failed([one('a', 'server', 0), one('a', 'network', 120_001)]);
    expect(old.failures).toEqual([one('a', 'network', 120_001)]);
    const late = failed([...five.slice(0, 4), one('b', 'server', 120_002)]);
    expect(late.event).toBeUndefined(); // The first of the five has left.
    expect(toolsOf(failed([...five.slice(0, 4), one('b', 'server', 120_001)]))).toEqual(['a', 'b', 'c']);
  });

  test('S1: the latest 7 failures of each tool and category are kept, because more add no evidence', () => {
    const many = failed([one('b', 'server', 0), ...Array.from({ length: 80 }, (_, ms) => one('a', 'server', ms))]);
    expect(many.failures).toEqual([
      one('b', 'server', 0),
      ...[73, 74, 75, 76, 77, 78, 79].map((ms) => one('a', 'server', ms)),
    ]);
    const other = correlateFailure(many, one('a', 'network', 80), policy);
    expect(other.failures).toHaveLength(9);
    expect(failed([one('b')], { ...policy, sharedFailures: 9 }, many).failures).toHaveLength(9);
    expect(toolsOf(correlateFailure(other, one('c', 'server', 81), policy))).toEqual(['b', 'a', 'c']);
  });

  test('S1, C13: tools of one group are one source, with each of their failures', () => {
    const two = failed(['read', 'write', 'read', 'a', 'a'].map((tool) => one(tool)));
    expect(two.event).toBeUndefined();
    expect(toolsOf(correlateFailure(two, one('b'), policy))).toEqual(['read', 'write', 'a', 'b']);
    const apart = failed(['read', 'write', 'read', 'a', 'a'].map((tool) => one(tool, 'rate_limit')));
    expect(apart.event).toBeUndefined();
  });

  test('S4: a tool with an open circuit is part of the event with its opening', () => {
    const open = correlateOpening(failed(five.slice(0, 3)), one('a', 'server', 3), policy);
    expect(failed(five.slice(3), policy, open).event?.openings).toEqual([
      one('a', 'server', 3),
      one('b', 'server', 2),
      one('c', 'server', 4),
    ]);
  });

  test('S1: during an event no failure is logged, and a tool of the event that opens does not join twice', () => {
    const event = failed(five);
    expect(correlateFailure(event, one('d', 'server', 6), policy)).toBe(event);
    const grown = correlateOpening(event, one('b', 'server', 7), policy);
    expect(grown.event?.openings).toEqual([one('a', 'server', 1), one('c', 'server', 4), one('b', 'server', 7)]);
    expect(grown.event).not.toBe(event.event);
  });

  test('S1: the numbers are configurable', () => {
    const own = { ...policy, sharedFailures: 3, sharedTools: 2 };
    expect(failed([one('a'), one('b')], own).event).toBeUndefined();
    expect(toolsOf(failed([one('a'), one('b'), one('b')], own))).toEqual(['a', 'b']);
  });
});
