import { describe, it } from 'vitest';
import { UID } from './links.ts';
import { exprOf, proved, type Sample } from './test-support.ts';

const of = (panel: string, refId = 'A'): string => exprOf(UID.failureBudget, panel, refId);

const source = (agent: string, instance = 'i'): string =>
  `job="j", instance="${instance}", gen_ai_agent_name="${agent}"`;
const granted = (agent: string, instance?: string) => `breakerbox_budget_granted_total{${source(agent, instance)}}`;
const charged = (agent: string, instance?: string) => `breakerbox_budget_consumed_total{${source(agent, instance)}}`;
const ranOut = (agent: string, instance?: string) => `breakerbox_budget_exhaustions_total{${source(agent, instance)}}`;
const sessions = (agent: string, state = 'active') =>
  `breakerbox_sessions{${source(agent)}, breakerbox_session_state="${state}"}`;
const tasks = (agent: string, disposition: string) =>
  `breakerbox_tasks_total{${source(agent)}, breakerbox_disposition="${disposition}"}`;
const outcome = (agent: string, tool: string, kind: string, category: string) =>
  `breakerbox_outcomes_total{${source(agent)}, gen_ai_tool_name="${tool}", breakerbox_outcome="${kind}", error_type="${category}"}`;
const wasted = (agent: string, tool: string) =>
  `breakerbox_tokens_wasted_total{${source(agent)}, gen_ai_tool_name="${tool}"}`;
const avoided = (agent: string, tool: string) =>
  `breakerbox_tokens_avoided_total{${source(agent)}, gen_ai_tool_name="${tool}"}`;

const one = (value: number): readonly Sample[] => [{ labels: '{}', value }];
const agent = (name: string, value: number): Sample => ({ labels: `{job="j", gen_ai_agent_name="${name}"}`, value });
/** Of what is no job's alone. */
const named = (name: string, value: number): Sample => ({ labels: `{gen_ai_agent_name="${name}"}`, value });
const at = '10m';

describe('the budget in the time range', () => {
  // Two agents of several instances: one there all along, one born with its first grant, one started anew.
  const samples = {
    [granted('a', 'i1')]: '20x4 25x5',
    [charged('a', 'i1')]: '3x4 5x5',
    [ranOut('a', 'i1')]: '0x4 1x5',
    [granted('b', 'i2')]: '_x6 5x3',
    [charged('b', 'i2')]: '_x6 0 2x2',
    [ranOut('b', 'i2')]: '_x6 0x3',
    [granted('b', 'i3')]: '40x3 0 10x5',
    [charged('b', 'i3')]: '7x3 0 1x5',
    [ranOut('b', 'i3')]: '1x3 0x6',
  };

  it.each([
    ['Granted', 5 + 5 + 10],
    ['Charged', 2 + 2 + 1],
    ['Ran out', 1],
    ['Budget left', 1 - 5 / 20],
  ])('is to the last failure what the agents counted: %s', async (panel, value) => {
    // What was there before the range is known by an earlier sample.
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
      ['D', 5, 15],
      ['E', 2, 3],
      ['F', 1, 0],
      ['G', 0.6, 0.8],
    ];
    for (const [refId, a, b] of expected) {
      await proved({
        samples: withSessions,
        expr: of('Budget by agent', refId),
        at: '9m',
        range: '8m',
        gives: [agent('a', a), agent('b', b)],
      });
    }
    await proved({
      samples,
      expr: of('Least budget left'),
      at: '9m',
      range: '8m',
      gives: [agent('a', 0.6), agent('b', 0.8)],
    });
  });

  it('is told of paused agents first, then of those with the least left', async () => {
    const samples = {
      [sessions('a')]: '1x10',
      [sessions('a', 'paused_budget')]: '0x10',
      [granted('a')]: '0+10x10',
      [charged('a')]: '0+1x10',
      [sessions('b')]: '1x10',
      [sessions('b', 'paused_systemic')]: '0x9 1',
      [granted('b')]: '0+10x10',
      [charged('b')]: '0x10',
      [sessions('c')]: '1x10',
      [sessions('c', 'paused_budget')]: '0x10',
      [granted('c')]: '0+10x10',
      [charged('c')]: '0+9x10',
    };
    // promtool doesn't look at the order: so the first alone, and the first two.
    const first = (rows: number): string => of('Budget by agent').replace('topk(100,', `topk(${rows},`);
    await proved({ samples, expr: first(1), at, gives: [agent('b', 1)] });
    await proved({ samples, expr: first(2), at, gives: [agent('b', 1), agent('c', 0)] });
  });

  it.each(['Granted', 'Charged', 'Ran out', 'Paused on budget', 'Tokens wasted', 'Tokens avoided (est.)'])(
    'says 0 while agents report and nothing happens, and nothing if they do not: %s',
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
    ['1h', 0.4],
    ['6h', 0.27],
  ] as const)('is charged over granted within its own window: %s', async (window, value) => {
    // Four granted a minute all along; charged one a minute, two in the last half hour, three in the last five minutes.
    const samples = { [granted('a')]: '0+4x480', [charged('a')]: '0+1x450 452+2x24 503+3x4' };
    const gives = [agent('a', value)];
    await proved({ samples, expr: `round(${of(panels[window])}, 0.01)`, at: '8h', range: '1h', gives });
  });

  it.each([
    ['5m', '0+2x55 110x4', '0x57 1 2', 2 / (110 / 12)],
    ['30m', '0+2x330 660x29', '0x329 0+1x30', 29 / (660 / 12)],
  ] as const)(
    'goes by the pace of the long window where a short one has no grants: %s',
    async (window, grants, charges, value) => {
      const samples = { [granted('a')]: grants, [charged('a')]: charges };
      const gives = [agent('a', Math.round(100 * value) / 100)];
      const at = window === '5m' ? '59m' : '5h59m';
      await proved({ samples, expr: `round(${of(panels[window])}, 0.01)`, at, gives });
    },
  );

  it.each(Object.values(panels))('goes by what was ever granted where nothing was: %s', async (panel) => {
    // A session that has been running for a day: ten granted then, six charged now.
    const samples = { [granted('a')]: '10x1440', [charged('a')]: '2x1437 4 6 8' };
    await proved({ samples, expr: of(panel), at: '24h', gives: [agent('a', 0.6)] });
  });

  it.each(Object.values(panels))(
    'has what short-lived processes were first seen with, as the alerts have it: %s',
    async (panel) => {
      // Two grants of 5 that were there at the first scrape, each with 3 charges, beside a process of old with 20 and 2.
      const samples = {
        [sessions('a')]: '1x500',
        [granted('a')]: '0x476 20x4',
        [charged('a')]: '0x476 2x4',
        [granted('a', 'new')]: '_x476 5x4',
        [charged('a', 'new')]: '_x476 3x4',
        [granted('a', 'newer')]: '_x477 5x3',
        [charged('a', 'newer')]: '_x477 3x3',
      };
      await proved({ samples, expr: `round(${of(panel)}, 0.01)`, at: '8h', gives: [agent('a', 0.27)] });
    },
  );

  it.each(Object.values(panels))('is 0 where nothing was charged: %s', async (panel) => {
    const samples = { [granted('a')]: '0+5x600', [charged('a')]: '4x600' };
    await proved({ samples, expr: of(panel), at: '10h', gives: [agent('a', 0)] });
  });
});

describe('what burns the budget', () => {
  const samples = {
    [sessions('a')]: '1x10',
    [outcome('a', 'search', 'failure', 'server')]: '0x5 4x5',
    [outcome('a', 'search', 'failure', 'network')]: '0x5 1x5',
    [outcome('b', 'search', 'failure', 'server')]: '0x5 2x5',
    // Ignored outcomes cost nothing.
    [outcome('a', 'mail', 'ignored', 'invalid_input')]: '0x5 9x5',
    [outcome('a', 'mail', 'failure', 'timeout')]: '0x10',
  };

  it('is told by agent, tool and category, and only failures', async () => {
    const cause = (name: string, category: string, value: number): Sample => ({
      labels: `{job="j", gen_ai_agent_name="${name}", gen_ai_tool_name="search", error_type="${category}"}`,
      value,
    });
    const gives = [cause('a', 'server', 4), cause('b', 'server', 2), cause('a', 'network', 1)];
    await proved({ samples, expr: of('What burns the budget'), at, gives });
  });

  it('is drawn by tool, and by category', async () => {
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

  it('is none where nothing failed', async () => {
    const quiet = { [sessions('a')]: '1x10', [outcome('a', 'search', 'failure', 'server')]: '7x10' };
    await proved({ samples: quiet, expr: of('What burns the budget'), at, gives: [named('none', 0)] });
  });
});

describe('deferred work', () => {
  it('is a share of what was planned, of each agent, and 0 while nothing is', async () => {
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
    [wasted('b', 'mail')]: '0x10',
    [avoided('a', 'search')]: '0x10',
    [avoided('b', 'search')]: '0+60x10',
    [avoided('b', 'mail')]: '0+60x10',
  };

  it.each<[string, string, readonly Sample[]]>([
    ['Tokens wasted', 'A', one(400)],
    ['Tokens avoided (est.)', 'A', one(1200)],
    ['Tokens wasted and avoided per minute', 'A', one(40)],
    ['Tokens wasted and avoided per minute', 'B', one(120)],
    ['Tokens by agent', 'A', [agent('a', 100), agent('b', 300)]],
    ['Tokens by agent', 'B', [agent('a', 0), agent('b', 1200)]],
    [
      'Tokens by tool',
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
