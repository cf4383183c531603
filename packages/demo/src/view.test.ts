import { type BudgetRule, type CircuitView, createBreakerbox } from '@breakerbox/core';
import type { SessionReport } from '@breakerbox/core/report';
import { report as reportOf } from '@breakerbox/core/report';
import { planScope } from '@breakerbox/core/scope';
import { expect, test } from 'vitest';
import type { AgentStatus, DemoStatus, ToolStatus } from './demo-status.ts';
import type { JournalEntry } from './journal.ts';
import { colour, plain } from './paint.ts';
import { renderView } from './view.ts';

const circuit = (tool: string, facts: Partial<CircuitView> = {}): CircuitView => ({
  tool,
  group: undefined,
  state: 'closed',
  generation: 0,
  failures: 0,
  openKeys: 0,
  failedKeys: 0,
  category: undefined,
  trip: undefined,
  openForMs: undefined,
  nextProbe: undefined,
  ...facts,
});

const row = (tool: string, facts: Partial<CircuitView>, instead = ''): ToolStatus => {
  return { name: tool, circuit: circuit(tool, facts), instead, isAlternative: false };
};

/** The report of a session that has spent its budget. */
const pausedReport = (): SessionReport => {
  const session = createBreakerbox({ agent: 'ops-agent', tools: { 'get-sum': {} } }).session({
    id: 's-1',
    budget: { rule: 'strict', failures: 1 },
  });
  session.acquire('get-sum').settle({ error: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) });
  planScope(session, [{ name: 'costs 1', tools: ['get-sum'] }]);
  return reportOf(session);
};
const paused = pausedReport();

const session = (
  state: 'active' | 'paused_budget',
  remaining: number,
  provisional = 0,
  rule: BudgetRule = 'window',
): NonNullable<AgentStatus['session']> => ({
  state,
  budget: {
    rule,
    limit: 5,
    cycle: 1,
    remaining,
    consumed: 5 - remaining,
    tokensRemaining: undefined,
    provisional,
  },
});

const entry = (atMs: number, who: string, text: string, tone: JournalEntry['tone'], times = 1): JournalEntry => {
  return { atMs, who, text, tone, times };
};

const open = { state: 'open', category: 'network', openForMs: 1234 } as const;

const status: DemoStatus = {
  elapsedMs: 42_000,
  forMs: 90_000,
  round: 1,
  places: {
    metrics: 'http://127.0.0.1:9464/metrics',
    prometheus: 'http://127.0.0.1:40001/alerts',
    alertmanager: 'down; the agents keep running',
    console: 'http://127.0.0.1:40002/#token=abc',
  },
  agents: [
    {
      name: 'research-agent',
      session: session('active', 2, 1),
      decisions: { call: 120, probe: 2, skip: 14, pause: 0 },
      deferrals: 3,
      report: undefined,
      tools: [
        row('web_search', { ...open, nextProbe: { ms: 1500, notBeforeMs: 0 } }, 'news_search'),
        row('get_weather', { failures: 2 }),
        row('read_page', { ...open, state: 'half_open' }),
        { ...row('news_search', {}), isAlternative: true },
      ],
    },
    {
      name: 'ops-agent',
      session: session('paused_budget', 0),
      decisions: { call: 80, probe: 0, skip: 3, pause: 4 },
      deferrals: 7,
      report: paused,
      tools: [
        row('get-sum', { ...open, nextProbe: { ms: 100, notBeforeMs: 0 } }),
        { ...row('query_logs', {}), circuit: undefined },
      ],
    },
    {
      name: 'support-agent',
      session: undefined,
      decisions: { call: 0, probe: 0, skip: 0, pause: 0 },
      deferrals: 0,
      report: undefined,
      tools: [],
    },
  ],
  alerts: [
    {
      labels: { alertname: 'BreakerboxBudgetExhausted', gen_ai_agent_name: 'ops-agent' },
      state: 'firing',
      delivered: true,
    },
    {
      labels: { alertname: 'BreakerboxCircuitOpen', gen_ai_agent_name: 'ops-agent', gen_ai_tool_name: 'get-sum' },
      state: 'inhibited',
      delivered: false,
    },
  ],
  deliveries: 3,
  entries: [
    entry(38_000, 'incident', 'begins: the MCP server is killed', 'bad'),
    entry(39_100, 'ops-agent', 'get-sum: closed -> open (network)', 'bad'),
    entry(39_500, 'ops-agent', 'skip get-sum (open)', 'plain', 12),
  ],
};

test('at 80 columns and 24 rows', () => {
  expect(renderView(status, { columns: 80, rows: 24 }, plain)).toEqual([
    'Breakerbox demo  00:42 of 01:30  round 1 of the script, ctrl-c stops it',
    'metrics       http://127.0.0.1:9464/metrics',
    'prometheus    http://127.0.0.1:40001/alerts',
    'alertmanager  down; the agents keep running',
    'console       http://127.0.0.1:40002/#token=abc',
    'agent           tool         state      next probe    trouble',
    'research-agent  web_search   open       in 1.5 s      network, 1.2 s',
    'research-agent  get_weather  closed                   2 failures',
    'research-agent  read_page    half_open  under way     network, 1.2 s',
    'ops-agent       get-sum      open       when resumed  network, 1.2 s',
    'ops-agent       query_logs   unused',
    'agent           session        budget        call  probe  skip  pause  defer',
    'research-agent  active         ##?.. 2 left  120   2      14    0      3',
    'ops-agent       paused_budget  ..... 0 left  80    0      3     4      7',
    'support-agent   between                      0     0      0     0      0',
    'ops-agent: PAUSED, failure budget: the one failure allowed is used up.',
    'alerts  0 pending, 1 firing, 1 inhibited; 3 notifications delivered so far',
    '  firing     BreakerboxBudgetExhausted ops-agent  delivered',
    '  inhibited  BreakerboxCircuitOpen ops-agent/get-sum',
    '00:38  incident        begins: the MCP server is killed',
    '00:39  ops-agent       get-sum: closed -> open (network)',
    '00:39  ops-agent       skip get-sum (open) x12',
  ]);
});

test.each([
  ['window', 2, 1, '##?.. 2 left'],
  ['window', 1, 9, '#???? 1 left'],
  ['strict', 2, 1, '#?... 2 left'],
  ['strict', 1, 9, '?.... 1 left'],
] as const)('S3: the rule %s with %i left and %i provisional: %s', (rule, remaining, provisional, bar) => {
  const [agent] = status.agents;
  if (agent === undefined) throw new Error('the status has no agent');
  const agents = [{ ...agent, session: session('active', remaining, provisional, rule) }];
  expect(renderView({ ...status, agents }, { columns: 80, rows: 24 }, plain).join('\n')).toContain(`active   ${bar}`);
});

test('C13: shows the circuit of the group in the row of a tool while the group decides', () => {
  const group = circuit('group:github', { ...open, nextProbe: { steps: 2, notBeforeMs: 0 } });
  const agent = {
    ...status.agents[0],
    tools: [{ name: 'list_issues', circuit: group, instead: '', isAlternative: false }],
  };
  const lines = renderView({ ...status, agents: [agent as AgentStatus] }, { columns: 80, rows: 24 }, plain);
  expect(lines.find((line) => line.includes('list_issues'))).toBe(
    'research-agent  list_issues  group open  in 2 steps  network, 1.2 s',
  );
});

test('keeps the next probe on a narrow terminal, and drops the older columns', () => {
  const lines = renderView(status, { columns: 60, rows: 20 }, plain);
  expect(lines.find((line) => line.includes('  web_search'))).toContain('  in 1.5 s');
  expect(lines.find((line) => line.includes('  get-sum'))).toContain('  when resumed');
});

test('shows headings, blank lines, and what to do about a pause if there is room', () => {
  const lines = renderView(status, { columns: 120, rows: 40 }, plain);
  expect(lines.filter((line) => line === '')).toHaveLength(5);
  expect(lines).toContain('events');
  expect(lines.join('\n')).toContain('  1. Look at get-sum first');
  expect(lines.find((line) => line.includes('  web_search'))).toMatch(/in 1\.5 s +network, 1\.2 s +news_search$/);
  expect(lines.some((line) => line.includes('  news_search  closed'))).toBe(true);
});

test('shows the full report on a tall terminal', () => {
  const text = renderView(status, { columns: 120, rows: 70 }, plain).join('\n');
  expect(text).toContain('Failure budget: 0 of 1 failure left');
  expect(text).toContain('deferred: costs 1: waits for get-sum');
});

test('does not repeat the report of a paused session among the events', () => {
  const entries = [...status.entries, { ...entry(40_000, 'ops-agent', paused.headline, 'bad'), report: paused }];
  const lines = renderView({ ...status, entries }, { columns: 80, rows: 24 }, plain);
  expect(lines.filter((line) => line.includes(paused.headline))).toEqual([`ops-agent: ${paused.headline}`]);
});

test.each([
  [20, 5],
  [80, 24],
  [40, 60],
])('fits into %i columns and %i rows, with and without colours', (columns, rows) => {
  const lines = renderView(status, { columns, rows }, plain);
  expect(lines.length).toBeLessThanOrEqual(rows);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them
  const uncoloured = renderView(status, { columns, rows }, colour).map((line) => line.replace(/\x1b\[[\d;]*m/g, ''));
  expect(uncoloured).toEqual(lines);
});
