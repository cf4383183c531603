import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OperatedFleet, startControl } from '@breakerbox/control';
import { createBreakerbox } from '@breakerbox/core';
import { formatReport, report } from '@breakerbox/core/report';
import { expect, onTestFinished, test } from 'vitest';
import { runCommand } from '../test-support-command.ts';
import { ctlCommand } from './ctl-command.ts';

const agent = async (name = 'research', fleet?: OperatedFleet) => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-ctl-'));
  const socket = join(folder, 'a.sock');
  const box = createBreakerbox({ agent: name, tools: { search: {}, fetch: {}, mail: {} } });
  const control = await startControl({ boxes: [box], fleet, listen: { socket } });
  onTestFinished(async () => {
    await control.close();
    rmSync(folder, { recursive: true });
  });
  const ctl = (...args: string[]) => runCommand((io) => ctlCommand(io, { BREAKERBOX_CONTROL: control.url }), args);
  return { box, ctl, folder, control };
};

const fail = (session: ReturnType<ReturnType<typeof createBreakerbox>['session']>, ...tools: string[]) => {
  for (let call = 0; call < 3; call += 1)
    for (const tool of tools) session.acquire(tool).settle({ outcome: 'failure', category: 'network' });
};

test('A7: a person finds a paused session, confirms the recovery, and the session goes on', async () => {
  const { box, ctl } = await agent();
  const session = box.session({ id: 'run-1' });
  fail(session, 'search', 'fetch', 'mail');
  expect(session.view().state).toBe('paused_systemic');
  expect((await ctl('list')).out).toMatch(/agent +process +session +state.*\nresearch +\d+ +run-1 +paused_systemic/s);
  const first = await ctl('confirm', 'run-1');
  expect(first).toMatchObject({
    code: 0,
    out: 'The correlated failure is over. The session probes its tools one after the other.\n',
  });
  expect(session.view().state).toBe('active');
  expect((await ctl('confirm', 'run-1')).code).toBe(3);
  expect(await ctl('resume', 'run-2')).toMatchObject({
    code: 4,
    out: 'No agent that answers has a live session run-2.\n',
  });
  expect((await ctl('resume', 'run-1', '--cycle', '7')).code).toBe(3);
});

test('A7, D2: resume names each sub-agent with this id that a limit pauses', async () => {
  const { box, ctl } = await agent();
  const session = box.session({ id: 'run-1', limits: { calls: 100 } });
  for (const planner of ['one', 'two']) {
    const child = session.child({ id: planner }).child({ id: 'researcher', portion: { calls: 1 } });
    child.acquire('search').settle({ outcome: 'success' });
  }
  expect((await ctl('resume', 'researcher')).out).toContain(
    'breakerbox ctl extend --size 1 run-1/one/researcher calls AMOUNT, or breakerbox ctl extend --size 1 run-1/two/researcher calls AMOUNT\n',
  );
  expect((await ctl('show', 'run-1')).out).toContain('- run-1/two/researcher: 1 call');
});

test('A7, D2: a person extends the limit that pauses a run, and resume says that it does not', async () => {
  const { box, ctl } = await agent();
  const session = box.session({ id: 'run-1', limits: { calls: 1_500, cost: { amount: 5, currency: 'USD' } } });
  const work = () => session.acquire('search').settle({ outcome: 'success' });
  for (let call = 0; call < 1_500; call += 1) work();
  expect(session.acquire('search').reason).toBe('limit_reached');
  expect((await ctl('list')).out).toMatch(/state +budget +limit +age.*paused_limit +5\/5 +1,500 of 1,500 tool calls/s);
  const command = 'breakerbox ctl extend --size 1500 run-1 calls AMOUNT';
  expect((await ctl('show', 'run-1')).out).toContain(`From a terminal: ${command}\n`);
  expect(await ctl('resume', 'run-1')).toMatchObject({
    code: 3,
    out: `Session run-1 is paused by a limit, and resume extends no limit. Nothing was done. To let it go on: ${command}\n`,
  });
  expect(await ctl('extend', 'run-1', 'calls', '500', '--size', '1500')).toMatchObject({
    code: 0,
    out: 'The limit of session run-1 grows from 1,500 tool calls to 2,000 tool calls. It goes on at its next call.\n',
  });
  expect(session.acquire('search').decision).toBe('call');
  expect(await ctl('extend', 'run-1', 'calls', '500', '--size', '1500')).toMatchObject({
    code: 3,
    out: expect.stringContaining('has changed since you read it'),
  });
  expect((await ctl('extend', 'run-1', 'cost', '2.50')).out).toContain('from 5 USD to 7.5 USD.');
});

test.each([
  [['run-1', 'tokens', '500'], 4, 'has no limit tokens, so that nothing stops it. It has limits of calls.'],
  [['run-2', 'calls', '500'], 4, 'No agent that answers has a live session run-2.'],
  [['run-1', 'money', '500'], 1, 'Allowed choices are calls, steps, tokens, cost, durationMs'],
  [['run-1', 'calls', '1.5'], 1, "the amount is '1.5'"],
  [['run-1', 'calls', '0'], 1, 'a whole number above 0 without commas'],
  [['run-1', 'calls', '2h'], 1, "the amount is '2h'"],
  [['run-1', 'calls', '9999999999999'], 1, 'such as 1000, and at most 1099511627776.'],
  [['run-1', 'calls', '9'.repeat(30)], 1, 'such as 1000, and at most 1099511627776.'],
  [['run-1', 'calls', '5', '--size', '0'], 1, 'Write the number that breakerbox ctl show prints after --size.'],
] as const)('E6, A7: ctl extend %j says what is wrong', async (args, code, text) => {
  const { box, ctl } = await agent();
  const session = box.session({ id: 'run-1', limits: { calls: 5 } });
  session.acquire('search').settle({ outcome: 'success' });
  const { out, err, ...ended } = await ctl('extend', ...args);
  expect(ended).toMatchObject({ code });
  expect(`${out}${err}`).toContain(text);
  expect(session.view().limits).toMatchObject([{ size: 5 }]);
});

test('A7, D1: a sub-agent is found by its id, and its limit grows with those above it', async () => {
  const { box, ctl } = await agent();
  const session = box.session({ id: 'run-1', limits: { calls: 10, durationMs: 600_000 } });
  const child = session.child({ id: 'helper', portion: { calls: 1 } });
  child.acquire('search').settle({ outcome: 'success' });
  expect(child.acquire('search').reason).toBe('limit_reached');
  const { out } = await ctl('show', 'helper');
  expect(out).toContain('helper: 1 call, 1 step, 1 of 1 tool calls (reached).');
  expect(out).toContain('From a terminal: breakerbox ctl extend --size 1 run-1/helper calls AMOUNT\n');
  expect((await ctl('resume', 'helper')).out).toContain(
    'To let it go on: breakerbox ctl extend --size 1 run-1/helper calls AMOUNT\n',
  );
  expect((await ctl('extend', 'helper', 'calls', '2')).out).toBe(
    'The limit of session run-1/helper grows from 1 tool calls to 3 tool calls. So does the one of session run-1, above it: 10 tool calls to 12 tool calls.\n',
  );
  expect(child.acquire('search').decision).toBe('call');
  expect((await ctl('extend', 'run-1', 'durationMs', '30m')).out).toContain('from 10 min to 40 min.');
});

test('A7, D1: of several sub-agents with one id, a person names the one that is meant', async () => {
  const { box, ctl } = await agent();
  const [one, two] = ['run-1', 'run-2'].map((id) =>
    box.session({ id, limits: { calls: 10 } }).child({ id: 'helper', portion: { calls: 2 } }),
  );
  const asked = await ctl('extend', 'helper', 'calls', '1');
  expect(asked).toMatchObject({ code: 4, out: expect.stringContaining('run-1/helper, or run-2/helper.') });
  expect((await ctl('extend', 'run-1/helper', 'calls', '1')).code).toBe(0);
  expect([one, two].map((child) => child?.view().limits?.[0]?.size)).toEqual([3, 2]);
  expect((await ctl('show', 'run-2/helper')).out).toContain('run-2');
});

test('A7, D1: of sub-agents with one id in one session, a person names the path that show prints', async () => {
  const { box, ctl } = await agent();
  const session = box.session({ id: 'run-1', limits: { calls: 10 } });
  const teams = ['planner', 'writer'].map((id) => session.child({ id }).child({ id: 'helper', portion: { calls: 1 } }));
  for (const child of teams) child.acquire('search').settle({ outcome: 'success' });
  expect((await ctl('show', 'writer/helper')).out).toContain('extend --size 1 run-1/writer/helper calls AMOUNT\n');
  expect((await ctl('extend', 'run-1/helper', 'calls', '1')).out).toContain(
    'run-1/planner/helper, or run-1/writer/helper.',
  );
  expect((await ctl('extend', 'run-1/writer/helper', 'calls', '1')).out).toContain(
    'The limit of session run-1/writer/helper grows',
  );
  expect(teams.map((child) => child.view().limits?.[0]?.size)).toEqual([1, 2]);
});

test('A7, C14: a person sees how many keys of a tool have failed in a row', async () => {
  const { box, ctl } = await agent();
  const session = box.session({ id: 'run-1' });
  for (const key of ['one', 'two', 'three']) {
    session.acquire('search', { key }).settle({ outcome: 'failure', category: 'network', blames: 'key' });
  }
  expect((await ctl('list')).out).toContain('search closed (3 keys failed in a row)');
  expect((await ctl('show', 'run-1')).out).toContain('Failures of single targets (keys), not of the tool: search 3.');
});

test('A7: a person reads why a session is paused', async () => {
  const { box, ctl } = await agent();
  const session = box.session({ id: 'run-1' });
  fail(session, 'search', 'fetch', 'mail');
  const { code, out } = await ctl('show', 'run-1');
  expect(code).toBe(0);
  // A second may end between the two.
  const timeless = (text: string) => text.replace(/\d\d:\d\d:\d\d UTC/, '');
  expect(timeless(out)).toContain(timeless(formatReport(report(session))));
  expect(await ctl('show', 'run-2')).toMatchObject({ code: 4, err: expect.stringContaining('live session run-2') });
});

test('A7: a person watches changes until the process ends', async () => {
  const { box, ctl, control } = await agent();
  const session = box.session({ id: 'run-1' });
  fail(session, 'search');
  expect((await ctl('disable', 'research', 'mail', '--reason', 'a test')).code).toBe(0);
  const watching = ctl('watch');
  setTimeout(() => control.close(), 200);
  const { out } = await watching;
  expect(out).toMatch(/Z {2}research {2}run-1 {2}search {2}closed to open {2}network\n/);
  expect(out).toMatch(/Z {2}research {2}mail {2}\S+: disable {2}a test\n/);
});

test('A7: the command that show prints is safe to paste', async () => {
  const { box, ctl } = await agent();
  const session = box.session({ id: "x $(touch y) 'z" });
  fail(session, 'search', 'fetch', 'mail');
  const [, command = ''] = /breakerbox ctl (.*)\n$/.exec((await ctl('show', session.id)).out) ?? [];
  expect(command).toMatch(/^confirm --event \S+ -- 'x \$\(touch y\) '\\''z'$/);
  const [confirm = '', flag = '', event = ''] = command.split(' ');
  expect((await ctl(confirm, flag, event, '--', session.id)).code).toBe(0);
});

test('A7: control characters in names and messages do not reach the terminal', async () => {
  const { box, ctl } = await agent('research\u001b[2J');
  fail(box.session({ id: 'run\u001b[31m' }), 'search', 'fetch', 'mail');
  for (const args of [['list'], ['show', 'run\u001b[31m'], ['disable', 'research\u001b[2J', 'x', '--reason', 'y']]) {
    const { out, err } = await ctl(...args);
    expect(`${out}${err}`).not.toContain('\u001b');
    expect(out).not.toBe('');
  }
});

test('E6, A7: a wrong option is an error that says what is wrong', async () => {
  const { ctl } = await agent();
  const { code, err } = await ctl('disable', 'research', 'search', '--reason', 'x', '--for', '8d');
  expect(code).toBe(1);
  expect(err).toContain('at most 7d');
  expect(err).not.toContain('{');
});

test('A7: modes are forced with a reason, listed and released', async () => {
  const { box, ctl } = await agent();
  expect(
    await ctl('force-open', 'research', 'search', '--reason', 'the index is rebuilt', '--for', '30m'),
  ).toMatchObject({ code: 0 });
  expect(box.session().acquire('search').reason).toBe('forced_open');
  expect((await ctl('list')).out).toMatch(
    /research +search +forced_open +all sessions .* 30 min +the index is rebuilt/,
  );
  expect((await ctl('release', 'research', 'search')).code).toBe(0);
  expect(box.session().acquire('search').decision).toBe('call');
  expect((await ctl('release', 'research', 'search')).code).toBe(4);
  expect((await ctl('disable', 'research', 'serach', '--reason', 'x')).out).toContain(
    'no circuit of a tool or group serach',
  );
  expect((await ctl('disable', 'writer', 'search', '--reason', 'x')).code).toBe(4);
});

test('G8, A7: a person sees the store, who probes, and how many processes have applied an action', async () => {
  const shared = {
    fleet: 'research',
    category: 'network',
    ageMs: 4_000,
    waitMs: 60_000,
    generation: 1,
    leaseMs: undefined,
  };
  const status = {
    process: 'p1',
    mode: 'up',
    why: undefined,
    ageMs: 400,
    processes: 3,
    circuits: [
      { ...shared, name: 'search', state: 'open', seenBy: 0, holder: 'p2' },
      { ...shared, name: 'fetch', state: 'pending', seenBy: 1, holder: undefined },
      { ...shared, name: 'mail', state: 'closed', seenBy: 0, holder: undefined },
    ],
    actions: [
      {
        fleet: 'research',
        id: 'x',
        action: 'force',
        tool: 'mail',
        owner: 'ada',
        mode: 'disabled',
        reason: 'a\x1btest',
        leftMs: 60_000,
        applied: 2,
        processes: 3,
      },
      {
        fleet: 'research',
        id: 'y',
        action: 'release',
        tool: 'fetch',
        owner: 'ada',
        mode: undefined,
        reason: undefined,
        leftMs: 60_000,
        applied: undefined,
        processes: undefined,
      },
    ],
  };
  const { ctl } = await agent('research', { status: () => status });
  const { out } = await ctl('list');
  expect(out).toMatch(/process +store +answered +processes\n\d+ +up +0 s ago +3\n/);
  expect(out).toMatch(
    /fleet +shared +state +for +probe\nresearch +search +open \(network\) +4 s +by p2\nresearch +fetch +seen by 1 +4 s +-\n/,
  );
  expect(out).toMatch(/research +mail +disabled +ada +by 2 of 3 +60 s +a\S*test\n/);
  expect(out).toMatch(/research +fetch +release +ada +- +60 s +-\n/);
  expect(out).not.toContain('\x1b');
  expect(out.match(/mail/g)).toHaveLength(1);
  const [{ state }] = JSON.parse((await ctl('list', '--json')).out);
  expect(state.fleet).toMatchObject({ mode: 'up', actions: [{ applied: 2, processes: 3 }, {}] });
});

test('G7, A7: a store that does not answer is named with the reason, and a fleet that cannot tell is left out', async () => {
  const down = {
    process: 'p1',
    mode: 'degraded',
    why: 'Redis did not answer within 1000 ms.',
    circuits: [],
    actions: [],
  };
  const { out } = await (await agent('research', { status: () => down })).ctl('list');
  expect(out).toMatch(/\d+ +degraded: Redis did not answer within 1000 ms\. +- +-\n/);
  for (const status of [() => 'later', () => expect.fail('it cannot tell')]) {
    const { code, out } = await (await agent('research', { status })).ctl('list');
    expect({ code, out }).toEqual({ code: 0, out: expect.not.stringContaining('store') });
  }
});

test('A7: an agent that does not answer is named, and scripts see the exit code', async () => {
  const { folder } = await agent();
  const ctl = (...args: string[]) =>
    runCommand((io) => ctlCommand(io, { BREAKERBOX_CONTROL: join(folder, 'none.sock') }), args);
  expect(await ctl('list')).toMatchObject({ code: 1, out: expect.stringContaining('none.sock: connect ENOENT') });
  expect(await runCommand((io) => ctlCommand(io, { XDG_RUNTIME_DIR: folder }), ['list'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('give breakerbox mcp the option --control'),
  });
});

test('A7: only processes that an action concerns decide the exit code', async () => {
  const [one, other] = [await agent(), await agent()];
  const session = one.box.session({ id: 'run-1' });
  fail(session, 'search', 'fetch', 'mail');
  const all = [one.control.url, other.control.url, `unix:${join(one.folder, 'none.sock')}`];
  const ctl = (endpoints: readonly string[], ...args: string[]) =>
    runCommand((io) => ctlCommand(io, { BREAKERBOX_CONTROL: endpoints.join(',') }), args);
  expect(await ctl(all, 'confirm', 'run-1')).toMatchObject({ code: 0, err: '' });
  const absent = await ctl(all, 'confirm', 'run-2');
  expect([absent.code, absent.err]).toEqual([1, expect.stringContaining('none.sock: connect ENOENT')]);
  const disable = ['disable', 'research', 'search', '--reason', 'x'];
  expect((await one.ctl(...disable)).code).toBe(0);
  expect(await ctl(all.slice(0, 2), 'release', 'research', 'search')).toMatchObject({
    code: 0,
    out: expect.not.stringContaining('forces no mode'),
  });
  expect(await ctl(all.slice(0, 2), ...disable)).toMatchObject({
    code: 0,
    out: expect.stringContaining('Applied by 2 of 2 processes.'),
  });
  expect((await ctl(all, ...disable)).code).toBe(1);
});

test('A7: a session that two processes have is brought back in both, and only if it is paused', async () => {
  const agents = [await agent(), await agent()];
  const sessions = agents.map(({ box }) => box.session({ id: 'run-1' }));
  for (const session of sessions) fail(session, 'search', 'fetch', 'mail');
  const ctl = (...args: string[]) =>
    runCommand(
      (io) => ctlCommand(io, { BREAKERBOX_CONTROL: agents.map(({ control }) => ` ${control.url.slice(5)} `).join() }),
      args,
    );
  const shown = (await ctl('show', 'run-1')).out;
  expect(shown).toMatch(/From a terminal: breakerbox ctl confirm --event \S+ run-1\n$/);
  expect(await ctl('confirm', 'run-1')).toMatchObject({
    code: 0,
    out: expect.stringContaining('Applied by 2 of 2 processes.'),
  });
  expect(sessions.map((session) => session.view().state)).toEqual(['active', 'active']);
  expect(await ctl('resume', 'run-1')).toMatchObject({
    code: 3,
    out: expect.stringContaining('is not paused by its budget'),
  });
  expect(sessions.map((session) => session.view().budget.cycle)).toEqual([1, 1]);
});

test('E6, A7: an endpoint that is no address, and one that does not answer, are errors', async () => {
  const { ctl, folder } = await agent();
  const none = `unix:${join(folder, 'none.sock')}`;
  expect((await ctl('list', '--endpoint', 'foo')).err).toContain("the endpoint 'foo' is not an address");
  expect(await ctl('show', 'run-1', '--endpoint', none)).toMatchObject({
    code: 1,
    err: expect.stringContaining('none.sock: connect ENOENT'),
  });
  expect((await ctl('watch', '--endpoint', none)).code).toBe(1);
  expect((await ctl('resume', 'run-1', '--cycle', 'abc')).err).toContain('prints after --cycle');
});

test('A5, A7: tokens are made, listed and revoked', async () => {
  const { folder } = await agent();
  const ctl = (...args: string[]) => runCommand(ctlCommand, ['token', ...args, '--file', join(folder, 'tokens.json')]);
  expect((await ctl('create', 'ada', '--role', 'operate')).out).toMatch(/^bbx_[\w-]{43}\n$/);
  expect((await ctl('list')).out).toMatch(/ada +operate/);
  expect(await ctl('create', 'ada')).toMatchObject({
    code: 1,
    err: expect.stringContaining('already has a token named ada'),
  });
  expect((await ctl('revoke', 'ada')).code).toBe(0);
  expect((await ctl('revoke', 'ada')).code).toBe(4);
});

/** An endpoint that claims to have the session of another one, with an event of its own, and has no report of it. */
const claiming = async (folder: string, event: string) => {
  const socket = join(folder, 'claiming.sock');
  const server = createServer(({ url }, response) => {
    if (url?.startsWith('/v1/state') !== true) return void response.writeHead(404).end('{"error":"none"}');
    const run = { id: 'run-1', ageMs: 1, state: 'paused_systemic', step: 1, circuits: [] };
    const budget = { limit: 1, remaining: 1, cycle: 1 };
    const sessions = [{ ...run, budget, event: { id: event, layer: 'network', tools: [] } }];
    const boxes = [{ agent: 'research', version: 0, tools: [], modes: [], sessions, sessionsLeftOut: 0 }];
    response.end(JSON.stringify({ pid: 1, startedUnixMs: 1, role: 'operate', boxes }));
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return `unix:${socket}`;
};

test('A7: an endpoint that claims the session of another one does not keep it from its report or its confirmation', async () => {
  for (const event of ['', 'e'.repeat(300), 'e'.repeat(2_000)]) {
    const { box, folder, control } = await agent();
    const session = box.session({ id: 'run-1' });
    fail(session, 'search', 'fetch', 'mail');
    const env = { BREAKERBOX_CONTROL: `${await claiming(folder, event)},${control.url}` };
    const ctl = (...args: string[]) => runCommand((io) => ctlCommand(io, env), args);
    expect(await ctl('show', 'run-1')).toMatchObject({ code: 0, out: expect.stringContaining('search') });
    await ctl('confirm', 'run-1');
    expect(session.view().state).toBe('active');
  }
});
