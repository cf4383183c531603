import { describe, it } from 'vitest';
import { UID } from './links.ts';
import { exprOf, proved, type Sample } from './test-support.ts';

const of = (panel: string, refId = 'A'): string => exprOf(UID.failureBudget, panel, refId);

const source = (agent: string, instance = 'i'): string =>
  `job="j", instance="${instance}", gen_ai_agent_name="${agent}"`;
const limit = (agent: string, instance?: string) => `breakerbox_budget_limit{${source(agent, instance)}}`;
const remaining = (agent: string, instance?: string) => `breakerbox_budget_remaining{${source(agent, instance)}}`;
const low = (agent: string, instance?: string) => `breakerbox_budget_low_total{${source(agent, instance)}}`;
const started = (agent: string, instance?: string) => `breakerbox_sessions_started_total{${source(agent, instance)}}`;
const charged = (agent: string, instance?: string) => `breakerbox_budget_consumed_total{${source(agent, instance)}}`;
const ranOut = (agent: string, instance?: string) => `breakerbox_budget_exhaustions_total{${source(agent, instance)}}`;
const sessions = (agent: string, state = 'active') =>
  `breakerbox_sessions{${source(agent)}, breakerbox_session_state="${state}"}`;
const tasks = (agent: string, disposition: string) =>
  `breakerbox_tasks_total{${source(agent)}, breakerbox_disposition="${disposition}"}`;
const outcome = (agent: string, tool: string, kind: string) =>
  `breakerbox_outcomes_total{${source(agent)}, gen_ai_tool_name="${tool}", breakerbox_outcome="${kind}"}`;
const errors = (agent: string, tool: string, kind: string, category: string) =>
  `breakerbox_errors_total{${source(agent)}, gen_ai_tool_name="${tool}", breakerbox_outcome="${kind}", error_type="${category}"}`;
const wasted = (agent: string, tool: string) =>
  `breakerbox_tokens_wasted_total{${source(agent)}, gen_ai_tool_name="${tool}"}`;
const avoided = (agent: string, tool: string) =>
  `breakerbox_tokens_avoided_total{${source(agent)}, gen_ai_tool_name="${tool}"}`;

const one = (value: number): readonly Sample[] => [{ labels: '{}', value }];
const agent = (name: string, value: number): Sample => ({ labels: `{job="j", gen_ai_agent_name="${name}"}`, value });
/** Labels without a job. */
const named = (name: string, value: number): Sample => ({ labels: `{gen_ai_agent_name="${name}"}`, value });
const at = '10m';

describe('the budget in the time range', () => {
  // Two agents of several instances: one there all the time, one whose first scrape has its first session, one restarted.
  const samples = {
    [limit('a', 'i1')]: '15x4 20x5',
    [remaining('a', 'i1')]: '15x4 12x5',
    [started('a', 'i1')]: '4x4 5x5',
    [charged('a', 'i1')]: '3x4 5x5',
    [low('a', 'i1')]: '1x4 2x5',
    [ranOut('a', 'i1')]: '0x4 1x5',
    [limit('b', 'i2')]: '_x6 5x3',
    [remaining('b', 'i2')]: '_x6 5 3x2',
    [started('b', 'i2')]: '_x6 1x3',
    [charged('b', 'i2')]: '_x6 0 2x2',
    [low('b', 'i2')]: '_x6 0x3',
    [ranOut('b', 'i2')]: '_x6 0x3',
    [limit('b', 'i3')]: '40x3 0 10x5',
    [remaining('b', 'i3')]: '40x3 0 9x5',
    [started('b', 'i3')]: '8x3 0 2x5',
    [charged('b', 'i3')]: '7x3 0 1x5',
    [low('b', 'i3')]: '3x3 0x6',
    [ranOut('b', 'i3')]: '1x3 0x6',
  };

  it.each([
    ['Charged', 2 + 2 + 1],
    ['Fell low', 1],
    ['Ran out', 1],
    ['Budget left', (12 + 3 + 9) / (20 + 5 + 10)],
  ])('is exactly the count of the agents: %s', async (panel, value) => {
    // An earlier sample gives the value before the range.
    await proved({ samples, expr: of(panel), at: '9m', range: '8m', gives: one(value) });
  });

  it('is the same by agent', async () => {
    const withSessions = { ...samples, [sessions('a')]: '1x10', [sessions('b')]: '1x10' };
    for (const state of ['paused_budget', 'paused_systemic']) {
      Object.assign(withSessions, { [sessions('a', state)]: '0x10', [sessions('b', state)]: '1x10' });
    }
    const expected: readonly (readonly [refId: string, a: number, b: number])[] = [
      ['A', 0, 2],
      ['C', 1, 1],
      ['D', 0.6, 0.8],
      ['E', 1, 3],
      ['F', 2, 3],
      ['G', 1, 0],
      ['H', 1, 0],
    ];
    for (const [refId, a, b] of expected) {
      await proved({
        samples: withSessions,
        expr: of('Budget by agent: now, and counts in range', refId),
        at: '9m',
        range: '8m',
        gives: [agent('a', a), agent('b', b)],
      });
    }
    for (const panel of ['Least budget left', 'Budget left over time, by agent'])
      await proved({
        samples,
        expr: of(panel),
        at: '9m',
        range: '8m',
        gives: [agent('a', 0.6), agent('b', 0.8)],
      });
  });

  it('is full without live sessions, and 0 if all of them have run out', async () => {
    const samples = {
      [limit('a')]: '0x10',
      [remaining('a')]: '0x10',
      [limit('b')]: '10x10',
      [remaining('b')]: '0x10',
    };
    await proved({ samples, expr: of('Least budget left'), at, gives: [agent('b', 0), agent('a', 1)] });
    await proved({ samples, expr: of('Budget left'), at, gives: one(0) });
  });

  it('lists agents with paused sessions first, then those with the least left', async () => {
    const samples = {
      [sessions('a')]: '1x10',
      [sessions('a', 'paused_budget')]: '0x10',
      [limit('a')]: '10x10',
      [remaining('a')]: '9x10',
      [sessions('b')]: '1x10',
      [sessions('b', 'paused_systemic')]: '0x9 1',
      [limit('b')]: '10x10',
      [remaining('b')]: '10x10',
      [sessions('c')]: '1x10',
      [sessions('c', 'paused_budget')]: '0x10',
      [limit('c')]: '10x10',
      [remaining('c')]: '1x10',
    };
    // promtool ignores the order, so this checks the first row alone and the first two.
    const first = (rows: number): string =>
      of('Budget by agent: now, and counts in range').replace('topk(100,', `topk(${rows},`);
    await proved({ samples, expr: first(1), at, gives: [agent('b', 1)] });
    await proved({ samples, expr: first(2), at, gives: [agent('b', 1), agent('c', 0)] });
  });

  it.each(['Charged', 'Fell low', 'Ran out', 'Out of budget', 'Tokens wasted', 'Tokens avoided (est.)'])(
    'shows 0 while agents report and nothing happens, and no value if they do not: %s',
    async (panel) => {
      await proved({ samples: { [sessions('a')]: '1x10' }, expr: of(panel), at, gives: one(0) });
      await proved({ samples: { up: '1x10' }, expr: of(panel), at, gives: [] });
    },
  );
});

describe('burn', () => {
  const panels = {
    '5m': 'Fast burn: over the last 5 minutes',
    '30m': 'Slow burn: over the last 30 minutes',
    '1h': 'Fast burn: over the last hour',
    '6h': 'Slow burn: over the last 6 hours',
  } as const;

  it.each([
    ['5m', 0.75],
    ['30m', 0.54],
    ['1h', 0.39],
    ['6h', 0.27],
  ] as const)('show the share of the sessions that fell low within their own window: %s', async (window, value) => {
    // One live all the time, and four started per minute. One of them falls, two in the last half hour, three in the last five minutes.
    const samples = {
      [sessions('a')]: '1x480',
      [started('a')]: '0+4x480',
      [low('a')]: '0+1x450 452+2x24 503+3x4',
    };
    const gives = [agent('a', value)];
    await proved({ samples, expr: `round(${of(panels[window])}, 0.01)`, at: '8h', range: '1h', gives });
  });

  it.each([
    ['5m', '0+2x55 110x4', '0x57 1 2', 2 / (111 / 12)],
    ['30m', '0+2x330 660x29', '0x329 0+1x30', 29 / (661 / 12)],
  ] as const)(
    'use the pace of the long window if no session started in the short one: %s',
    async (window, starts, falls, value) => {
      const samples = { [sessions('a')]: '1x360', [started('a')]: starts, [low('a')]: falls };
      const gives = [agent('a', Math.round(20 * value) / 20)];
      const at = window === '5m' ? '59m' : '5h59m';
      await proved({ samples, expr: `round(${of(panels[window])}, 0.05)`, at, gives });
    },
  );

  it.each(['Fast burn: over the last hour', 'Slow burn: over the last 6 hours'])(
    'count sessions that started before: %s',
    async (panel) => {
      // Ten chats of a day; six of them fall within the window.
      const samples = { [sessions('a')]: '10x1440', [started('a')]: '10x1440', [low('a')]: '2x1437 4 6 8' };
      await proved({ samples, expr: of(panel), at: '24h', gives: [agent('a', 0.6)] });
    },
  );

  it.each(Object.values(panels))(
    'include first values of short-lived processes, as the alerts do: %s',
    async (panel) => {
      // An old process with 20 sessions of which 2 fall, and two new ones with 5 sessions of which 3 have fallen.
      const samples = {
        [sessions('a')]: '0x500',
        [started('a')]: '0x476 20x4',
        [low('a')]: '0x476 2x4',
        [started('a', 'new')]: '_x476 5x4',
        [low('a', 'new')]: '_x476 3x4',
        [started('a', 'newer')]: '_x477 5x3',
        [low('a', 'newer')]: '_x477 3x3',
      };
      await proved({ samples, expr: `round(${of(panel)}, 0.01)`, at: '8h', gives: [agent('a', 0.27)] });
    },
  );

  it.each(Object.values(panels))('are never above 1, and 0 if no session fell: %s', async (panel) => {
    const samples = {
      [sessions('a')]: '1x600',
      [started('a')]: '0+5x600',
      [low('a')]: '4x600',
      [sessions('b')]: '1x600',
      [started('b')]: '1x600',
      [low('b')]: '0+1x600',
    };
    await proved({ samples, expr: of(panel), at: '10h', gives: [agent('a', 0), agent('b', 1)] });
  });
});

describe('failures that burn the budget', () => {
  const samples = {
    [sessions('a')]: '1x10',
    [outcome('a', 'search', 'failure')]: '0x5 5x5',
    [outcome('b', 'search', 'failure')]: '0x5 2x5',
    // A category has a series from its first error on.
    [errors('a', 'search', 'failure', 'server')]: '_x5 4x5',
    [errors('a', 'search', 'failure', 'network')]: '_x5 1x5',
    [errors('b', 'search', 'failure', 'server')]: '0x5 2x5',
    // Ignored outcomes cost nothing.
    [outcome('a', 'mail', 'ignored')]: '0x5 9x5',
    [errors('a', 'mail', 'ignored', 'invalid_input')]: '_x5 9x5',
  };

  it('are listed by agent, tool and category, without other outcomes', async () => {
    const cause = (name: string, category: string, value: number): Sample => ({
      labels: `{job="j", gen_ai_agent_name="${name}", gen_ai_tool_name="search", error_type="${category}"}`,
      value,
    });
    const gives = [cause('a', 'server', 4), cause('b', 'server', 2), cause('a', 'network', 1)];
    await proved({ samples, expr: of('What burns the budget in range'), at, gives });
  });

  it('are drawn by tool and by category', async () => {
    await proved({
      samples,
      expr: of('Failures by tool'),
      at,
      gives: [{ labels: '{gen_ai_tool_name="search"}', value: 7 }],
    });
    await proved({
      samples,
      expr: of('Failures by error category'),
      at,
      gives: [
        { labels: '{error_type="network"}', value: 1 },
        { labels: '{error_type="server"}', value: 6 },
      ],
    });
  });

  it('show none without failures, in a column without links', async () => {
    const quiet = { [sessions('a')]: '1x10', [errors('a', 'search', 'failure', 'server')]: '7x10' };
    await proved({
      samples: quiet,
      expr: of('What burns the budget in range'),
      at,
      gives: [{ labels: '{error_type="none"}', value: 0 }],
    });
  });
});

describe('deferred work', () => {
  it('is a share of the planned tasks of each agent, and 0 without tasks', async () => {
    const samples = {
      [tasks('a', 'achievable')]: '0+3x10',
      [tasks('a', 'deferred')]: '0+1x10',
      [tasks('b', 'achievable')]: '4x10',
      [tasks('b', 'deferred')]: '4x10',
    };
    const gives = [named('a', 0.25), named('b', 0)];
    await proved({ samples, expr: of('Share of tasks deferred, by agent'), at, gives });
  });
});

describe('tokens', () => {
  const samples = {
    [sessions('a')]: '1x10',
    [wasted('a', 'search')]: '0+10x10',
    [wasted('b', 'search')]: '0+30x10',
    [avoided('b', 'search')]: '0+60x10',
    [avoided('b', 'mail')]: '0+60x10',
  };

  it.each<[string, string, readonly Sample[]]>([
    ['Tokens wasted', 'A', one(400)],
    ['Tokens avoided (est.)', 'A', one(1200)],
    ['Tokens wasted and avoided', 'A', one(400)],
    ['Tokens wasted and avoided', 'B', one(1200)],
    ['Tokens by agent in range', 'A', [agent('a', 100), agent('b', 300)]],
    ['Tokens by agent in range', 'B', [agent('a', 0), agent('b', 1200)]],
    [
      'Tokens by tool in range',
      'A',
      [
        { labels: '{gen_ai_tool_name="search"}', value: 400 },
        { labels: '{gen_ai_tool_name="mail"}', value: 0 },
      ],
    ],
  ])('add up over agents and tools: %s %s', async (panel, refId, gives) => {
    await proved({ samples, expr: `round(${of(panel, refId)})`, at, gives });
  });
});
