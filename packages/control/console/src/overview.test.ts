import { expect, test } from 'vitest';
import type { ConsoleChange, EndpointState } from '../../src/console/console-state.ts';
import type { BoxState, SessionState } from '../../src/schema.ts';
import { overview } from './overview.ts';

const BUDGET = { limit: 5, remaining: 5, cycle: 1 };

const session = (id: string, more: Partial<SessionState> = {}): SessionState => ({
  id,
  ageMs: 1_000,
  state: 'active',
  step: 0,
  budget: BUDGET,
  circuits: [],
  ...more,
});

const circuit = (tool: string, state: 'open' | 'closed' = 'open', steps = 3): SessionState['circuits'][number] => ({
  tool,
  state,
  generation: 1,
  failures: 0,
  openKeys: 0,
  ...(state === 'open' && { category: 'network', openForMs: 1_000, nextProbe: { steps, notBeforeMs: 0 } }),
});

const box = (agent: string, more: Partial<BoxState> = {}): BoxState => ({
  agent,
  version: 1,
  tools: ['search'],
  modes: [],
  sessions: [],
  sessionsLeftOut: 0,
  ...more,
});

const endpoint = (id: string, boxes: readonly BoxState[], more: Partial<EndpointState> = {}): EndpointState => ({
  id,
  status: 'answers',
  state: { pid: 1, startedUnixMs: 0, role: 'operate', boxes: [...boxes] },
  ...more,
});

const of = (endpoints: readonly EndpointState[], changes: readonly ConsoleChange[] = []) =>
  overview({ unixMs: 0, endpoints }, changes);

test('A8: an agent is all processes of its name, and those that need a person come first', () => {
  const agents = of([
    endpoint('a', [box('calm'), box('paused', { sessions: [session('s', { state: 'paused_budget' })] })]),
    endpoint('b', [box('paused'), box('open', { sessions: [session('t', { circuits: [circuit('search')] })] })]),
    endpoint('c', [box('gone')], { status: 'ended' }),
  ]);
  expect(agents.map(({ name, processes }) => [name, processes.length])).toEqual([
    ['paused', 2],
    ['open', 1],
    ['calm', 1],
  ]);
});

test('A8: circuits of a tool are counted together, with the probe that comes first', () => {
  const sessions = [
    session('one', { circuits: [circuit('search', 'open', 5), circuit('fetch', 'closed')] }),
    session('two', { circuits: [circuit('search', 'open', 2)] }),
  ];
  const [agent] = of([endpoint('a', [box('x', { sessions })])]);
  expect(agent?.troubled.map((one) => one.session.id)).toEqual(['one', 'two']);
  expect(agent?.circuits).toMatchObject([
    { tool: 'search', sessions: 2, nextProbe: { steps: 2 }, category: 'network' },
  ]);
  expect(agent?.tools).toEqual(['fetch', 'search']);
});

test('A8, C14: a session is in trouble if keys of its tools have failed in a row', () => {
  const failing = { ...circuit('fetch', 'closed'), failedKeys: 6 };
  const sessions = [
    session('keys', { circuits: [failing] }),
    session('calm', { circuits: [circuit('fetch', 'closed')] }),
  ];
  const [agent] = of([endpoint('a', [box('x', { sessions })])]);
  expect(agent?.troubled.map((one) => one.session.id)).toEqual(['keys']);
});

test('A3: the version is expected of processes that answer', () => {
  const [agent] = of([
    endpoint('answers', [box('x', { version: 4 })]),
    endpoint('silent', [box('x', { version: 5 })], { status: 'silent' }),
  ]);
  expect(agent?.versions).toEqual({ answers: 4 });
  expect(agent?.silent.map(({ id }) => id)).toEqual(['silent']);
});

test('A4: a mode that several processes have is one row, with the earliest end', () => {
  const mode = { tool: 'search', mode: 'disabled', owner: 'ada', reason: 'r', sinceUnixMs: 0 } as const;
  const [agent] = of([
    endpoint('a', [box('x', { modes: [{ ...mode, untilUnixMs: 9 }] })]),
    endpoint('b', [
      box('x', {
        modes: [
          { ...mode, untilUnixMs: 7 },
          { ...mode, owner: 'bob', untilUnixMs: 8 },
        ],
      }),
    ]),
  ]);
  expect(agent?.modes.map(({ owner, processes, untilUnixMs }) => [owner, processes, untilUnixMs])).toEqual([
    ['ada', 2, 7],
    ['bob', 1, 8],
  ]);
});

test('A8: a tool that an operator disabled is in the list of modes, and its sessions are not in trouble', () => {
  const mode = { tool: 'search', mode: 'disabled', owner: 'ada', reason: 'r', sinceUnixMs: 0, untilUnixMs: 9 } as const;
  const disabled = (tool: string) => ({ ...circuit(tool, 'closed'), state: 'disabled' as const });
  const sessions = [session('one', { circuits: [disabled('search'), disabled('by_code')] })];
  const [agent] = of([endpoint('a', [box('x', { modes: [mode], sessions })])]);
  expect(agent?.troubled).toEqual([]);
  expect(agent?.circuits.map(({ tool, state }) => [tool, state])).toEqual([['by_code', 'disabled']]);
});

test('A8: a pause is dated by the change that began it, in its own process, else by its event', () => {
  const paused = (id: string) => session(id, { state: 'paused_budget' });
  const event = { id: '1', layer: 'network', tools: ['search'], sinceUnixMs: 3 };
  const exhausted = { kind: 'budget.exhausted', agent: 'x' } as const;
  const [agent] = of(
    [
      endpoint('a', [box('x', { sessions: [paused('s'), session('e', { state: 'paused_systemic', event })] })]),
      endpoint('b', [box('x', { sessions: [paused('s')] })]),
    ],
    [
      { ...exhausted, endpoint: 'a', session: 's', unixMs: 20 },
      { ...exhausted, endpoint: 'a', session: 's', unixMs: 10 },
      { ...exhausted, endpoint: 'b', session: 'other', unixMs: 5 },
    ],
  );
  expect(agent?.paused.map((one) => [one.endpoint.id, one.session.id, one.pausedUnixMs])).toEqual([
    ['a', 'e', 3],
    ['a', 's', 20],
    ['b', 's', undefined],
  ]);
});

test('A8: tools most of whose errors are not counted are those of all processes together', () => {
  const [agent] = of([
    endpoint('a', [box('calm', { uncounted: [{ tool: 'search', errors: 20, calls: 20 }] })]),
    endpoint('b', [box('calm', { uncounted: [{ tool: 'search', errors: 6, calls: 7 }] }), box('calm')]),
  ]);
  expect(agent?.uncounted).toEqual([{ tool: 'search', errors: 26, calls: 27 }]);
});
