import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { USUAL_HABIT } from './agent/habits.ts';
import type { TakeTurn } from './agent/meter.ts';
import { readingOf, scriptedAgent } from './agent/script.ts';
import { Store } from './airline/database.ts';
import { hasSucceeded, referenceOf } from './airline/task.ts';
import { OWN_TASKS } from './airline/tasks.ts';
import { readPublished } from './airline/tau2.ts';
import { TOOL_NAMES } from './airline/tools.ts';
import { runOutages } from './command.ts';
import { aiSdkLoop } from './frameworks/ai-sdk.ts';
import { INSTRUCTIONS } from './frameworks/loop.ts';
import { OUTAGE_PAGE, pageWith, readResults } from './page/page.ts';
import { drawPlot, PLOTS } from './page/plots.ts';
import { pageTables, readmeSentence } from './page/tables.ts';
import { type Figures, playRun } from './play.ts';
import { MODELS, OWN_CIRCUITS, WITH_MAP } from './protections/breakerbox.ts';
import { NONE, OPOSSUM, OPOSSUM_MODELS, SECOND_MODEL } from './protections/peers.ts';
import { FRAMEWORKS, named, PEERS, protectionOf, quickCells } from './table/cells.ts';
import { expectations } from './table/headlines.ts';
import { PUBLISHED_FILE, RESULTS_FILE, resultsOf } from './table/results.ts';
import type { PlayedCell } from './table/run-cells.ts';
import { estimate } from './table/statistics.ts';
import { callTool, type World } from './world/client.ts';
import { FAULTS, type Fate, PROVIDER, toolsDown } from './world/faults.ts';
import { startToolServer, type ToolServer } from './world/server.ts';
import { simulatedTime } from './world/time.ts';

let server: ToolServer;
beforeAll(async () => {
  server = await startToolServer();
});
afterAll(() => server.close());

test('each task changes the database, its tools answer its facts, and an agent that does nothing fails', () => {
  const { database, tasks } = OWN_TASKS;
  expect(tasks).toHaveLength(40);
  for (const task of tasks) {
    const { changes, answers } = referenceOf(database, task);
    expect(changes, task.id).not.toBe('[]');
    for (const fact of task.facts) expect(answers, task.id).toContain(fact);
    expect(hasSucceeded(database, task, new Store(database), task.facts.join()), task.id).toBe(false);
  }
});

test.each<[Fate, RegExp]>([
  ['refused', /^fetch failed$/],
  ['status 503', /^HTTP 503/],
  ['hang', /timeout/],
  ['cut off', /^terminated$/],
  ['no JSON', /JSON/],
  ['empty', /JSON/],
])('a call that meets %s really fails on the socket', async (fate, text) => {
  const time = simulatedTime(() => 0.5);
  const fault = { id: 'test', text: '', outage: { tools: ['get_user_details'], isThere: () => true, fate } };
  const log = { calls: 0, deadCalls: 0, firstFailureMs: undefined, answeredMs: [] };
  const world: World = { time, url: server.url, fault, seed: 'test', log, task: 0, attempts: new Map() };
  server.use('test', new Store(OWN_TASKS.database));
  const call = (tool: string) => callTool(world, tool, { user_id: 'mira_holm' });
  try {
    await time.play(async () => {
      await expect(call('get_user_details')).rejects.toThrow(text);
      await expect(call('find_customer')).resolves.toContain('mira_holm');
    });
    expect(log).toMatchObject({ calls: 2, deadCalls: 1, firstFailureMs: 0 });
  } finally {
    time.end();
  }
});

const NO_FIGURES: Figures = {
  ...{ tasks: 12, succeeded: 6, calls: 0, deadCalls: 4, tokens: 0, dollars: 0.1, seconds: 0, secondsAfterFailure: 9 },
  ...{ tokensAfterFailure: 0, wastedTokens: 500, rejected: 0, goodRejected: 0, goodAvoided: 0 },
  ...{ pauses: 0, falsePauses: 0, recoverySeconds: 10, recoveries: 1 },
};

const play = (protection: typeof NONE, fault: string, loop = aiSdkLoop) =>
  playRun({ loop, protection, fault: named(FAULTS, fault), tasks: OWN_TASKS, server, number: 1 });

test('one seed gives the same calls, tasks, tokens and seconds', async () => {
  const first = await play(OPOSSUM, 'mix');
  expect(first.deadCalls + first.rejected).toBeGreaterThan(0);
  expect(await play(OPOSSUM, 'mix')).toEqual(first);
});

test('in each framework tasks succeed without an outage, and a capability map saves those that a dead tool costs', async () => {
  for (const { id, loop } of FRAMEWORKS) {
    const healthy = await play(NONE, 'none', loop);
    expect(healthy.deadCalls).toBe(0);
    // OpenAI Agents hides why a call failed, so a wrong argument may cost a task.
    expect(healthy.succeeded).toBeGreaterThanOrEqual(healthy.tasks - 1);
    const dead = await play(NONE, 'permanent', loop);
    const mapped = await play(protectionOf(id, WITH_MAP.id), 'permanent', loop);
    expect(mapped.succeeded).toBeGreaterThan(dead.succeeded);
    expect(mapped.deadCalls).toBeLessThan(dead.deadCalls);
  }
});

test('while the provider of the model is down, a second model does the tasks, and the first one is not asked each time', async () => {
  for (const { loop, ofModels } of FRAMEWORKS) {
    if (typeof ofModels === 'string') continue;
    const alone = await play(NONE, PROVIDER, loop);
    for (const peer of [SECOND_MODEL, OPOSSUM_MODELS])
      expect((await play(peer, PROVIDER, loop)).succeeded).toBeGreaterThan(alone.succeeded);
    const guarded = await play(MODELS, PROVIDER, loop);
    expect(guarded.succeeded).toBeGreaterThan(alone.succeeded);
    expect(guarded.deadCalls).toBeLessThan(6);
    expect(guarded.recoveries).toBe(1);
  }
});

test('tasks of a clone are read with its database, and what is wrong with that is said', () => {
  const clone = mkdtempSync(join(tmpdir(), 'breakerbox-tau2-'));
  const folder = join(clone, 'data/tau2/domains/airline');
  expect(() => readPublished(clone)).toThrow(`${join(folder, 'db.json')} (ENOENT`);
  mkdirSync(folder, { recursive: true });
  const actions = [{ name: 'send_certificate', arguments: { user_id: 'mia', amount: 100 } }];
  const task = { id: '1', user_scenario: { instructions: 'A certificate' }, evaluation_criteria: { actions } };
  writeFileSync(join(folder, 'tasks.json'), JSON.stringify([task, { ...task, id: '2', evaluation_criteria: null }]));
  const write = (user: object) =>
    writeFileSync(
      join(folder, 'db.json'),
      JSON.stringify({
        flights: {},
        reservations: {},
        users: { mia: { reservations: [], payment_methods: {}, ...user } },
      }),
    );
  write({});
  expect(() => readPublished(clone)).toThrow('(users.mia.user_id: ');
  write({ user_id: 'mia' });
  expect(readPublished(clone).tasks.map(({ id }) => id)).toEqual(['1']);
});

test.each(FRAMEWORKS)(
  '$text: tokens are those of instructions, messages, calls and definitions of tools',
  async ({ loop }) => {
    const [first, ...rest] = OWN_TASKS.tasks;
    const { tool = '', given = {} } = first?.actions[0] ?? {};
    const sent: string[] = [];
    const takeTurn: TakeTurn = async (all, result, system) => {
      sent.push(JSON.stringify([all, system]));
      return result === undefined ? { call: { tool, input: given } } : { text: 'Done.' };
    };
    await loop(`the request, ${rest.length}`, takeTurn, { call: async () => '{"answer":1}' });
    const id = /call_?id|"id":/i;
    for (const text of [...TOOL_NAMES, INSTRUCTIONS, 'the request']) expect(sent[0]).toContain(text);
    expect(sent[0]).toContain('additionalProperties');
    expect(sent[1]).toMatch(id);
    expect(sent[1]).toContain('answer');
  },
);

test('a call that a note prevents is told, and the next turn forgets it', () => {
  const [first] = OWN_TASKS.tasks;
  const tool = first?.actions[0]?.tool ?? '';
  if (first === undefined) throw new Error('There are no tasks.');
  const agent = scriptedAgent(first, { ...USUAL_HABIT, follows: 1 }, 'test');
  const turn = agent.next(undefined, `- '${tool}': unavailable. Use 'another' instead.`);
  expect(turn).toMatchObject({ call: { tool: 'another' } });
  expect(agent.avoided).toBe(tool);
  agent.next('{"a":1}', '');
  expect(agent.avoided).toBeUndefined();
});

test('an agent that finds no alternative gives the task up, or goes on if that is its habit', () => {
  const [first] = OWN_TASKS.tasks;
  if (first === undefined) throw new Error('There are no tasks.');
  const next = (goesOn: boolean) => {
    const agent = scriptedAgent(first, { ...USUAL_HABIT, repeats: 0, findsAlternative: 0, goesOn }, 'test');
    agent.next(undefined, '');
    return agent.next('fetch failed', '');
  };
  expect(next(false)).toMatchObject({ text: expect.stringContaining('I could not') });
  expect(next(true)).toHaveProperty('call');
});

test('a conversation learns of a dead tool from those before it, unless its circuits are its own', async () => {
  const own = await play(OWN_CIRCUITS, 'permanent');
  const shared = await play(WITH_MAP, 'permanent');
  expect(shared.deadCalls).toBeLessThan(own.deadCalls / 2);
  expect(shared.succeeded).toBeGreaterThan(own.succeeded);
});

test('a pause is false while fewer than two tools are down', () => {
  const down = (fault: string, seconds: number) => toolsDown(named(FAULTS, fault), 1_000 * seconds);
  expect([down('mix', 60), down('permanent', 60), down('correlated', 60), down('correlated', 240)]).toEqual([
    0, 1, 3, 0,
  ]);
});

test('an expectation about a peer that wasted nothing has no ratio', () => {
  const cells = [...PEERS, WITH_MAP].flatMap(({ id: protection }) =>
    ['none', 'permanent'].map((fault): PlayedCell => {
      const figures = [{ ...NO_FIGURES, wastedTokens: protection === WITH_MAP.id ? 500 : 0 }];
      return { framework: 'ai-sdk', protection, fault, habit: 'usual', runs: 1, figures };
    }),
  );
  const found = expectations(resultsOf(cells)).find(({ says }) => says === 'the same for wasted tokens');
  expect(found).toMatchObject({ found: '*none* has none', met: false });
});

test('--quick has its own number of runs, and a file that cannot be written is told before cells are played', async () => {
  expect(new Set(quickCells(5).map(({ runs }) => runs))).toEqual(new Set([5, 1]));
  const path = join(mkdtempSync(join(tmpdir(), 'breakerbox-json-')), 'missing', 'results.json');
  await expect(runOutages(['--json', path], () => {})).rejects.toThrow('ENOENT');
});

test('an interval of few runs is as wide as Student says', () => {
  expect(estimate([0, 1]).half).toBeCloseTo(6.353, 3);
  expect(estimate(Array.from({ length: 25 }, (_, run) => run % 2)).half).toBeCloseTo((2.0639 * 0.5099) / 5, 3);
});

test('the scripted model does what messages say, and takes other texts for failures', () => {
  expect(readingOf('{"a":1}')).toBe('answer');
  expect(readingOf('Error: HTTP 404: {"error":"User x not found"}')).toBe('mistake');
  expect(readingOf("Tool 'a' is unavailable: …. Do not call it now. Use 'b' instead.")).toEqual({ use: 'b' });
  expect(readingOf('Tool calls are paused. Do not call any tools, including ones that still work.')).toBe('stop');
  expect(readingOf('Breaker is open')).toBe('failure');
});

test('each figure of Breakerbox that is worse than that of another protection is marked, with the largest difference', () => {
  const figures = (more: Partial<Figures>): Figures => ({ ...NO_FIGURES, ...more });
  const cell = (framework: string, protection: string, all: readonly Figures[]): PlayedCell => ({
    ...{ framework, protection, fault: 'flapping', habit: 'usual', runs: all.length, figures: all },
  });
  const results = resultsOf([
    cell('mcp-relay', 'none', [figures({ secondsAfterFailure: 8 }), figures({ secondsAfterFailure: 8 })]),
    cell('mcp-relay', 'opossum', [figures({ secondsAfterFailure: 0 }), figures({ secondsAfterFailure: 10 })]),
    cell('mcp-relay', 'opossum-fallback', [figures({ succeeded: 12 }), figures({ succeeded: 12, dollars: 0.2 })]),
    cell('mcp-relay', 'breakerbox', [
      figures({ succeeded: 8, dollars: 0.15, deadCalls: 2, recoverySeconds: 40, recoveries: 2, wastedTokens: 0 }),
      figures({ succeeded: 8, dollars: 0.15, deadCalls: 8, recoverySeconds: 40, recoveries: 2, goodRejected: 0.01 }),
    ]),
  ]);
  const rows = pageTables({ date: '', seconds: 0, cores: 1, cells: results }).split('\n');
  const row = rows.find((one) => one.includes('Breakerbox, relay')) ?? '';
  const marks = row.split(' | ').map((one) => one.split('▼')[1]?.trim());
  const none = undefined;
  // In seconds, opossum is best by chance, and no protection is surely better.
  expect(marks).toEqual([none, '33.3', none, none, none, '1', none, none, none, none, '10', '5.0 |']);
});

test('the page, its plots and the README have the figures of results.json; `npm run bench -- outages --render` renews them', async () => {
  const results = readResults(RESULTS_FILE);
  const page = readFileSync(OUTAGE_PAGE, 'utf8');
  expect(page).toBe(pageWith(page, results, readResults(PUBLISHED_FILE)));
  expect(readFileSync(new URL('../../README.md', import.meta.url), 'utf8')).toContain(readmeSentence(results));
  for (const plot of PLOTS) {
    const picture = readFileSync(new URL(`../../docs/pictures/${plot.file}`, import.meta.url), 'utf8');
    expect(picture).toBe(`${await drawPlot(plot, results)}\n`);
  }
});
