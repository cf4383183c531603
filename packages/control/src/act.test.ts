import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Breakerbox, createBreakerbox } from '@breakerbox/core';
import { operate } from '@breakerbox/core/control';
import { createAdmission, createShares } from '@breakerbox/listen';
import { expect, onTestFinished, test } from 'vitest';
import { act } from './act.ts';
import { createAgentModes } from './agent-modes.ts';
import { createApp } from './app.ts';
import type { Audit } from './audit.ts';
import { createChanges } from './changes.ts';
import { perform, readReport, readState, type Target } from './client.ts';
import { openApi } from './open-api.ts';
import { operatedBoxes } from './operated-boxes.ts';
import { startControl } from './start-control.ts';

const served = async (...boxes: readonly Breakerbox[]) => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-act-'));
  const { url, close } = await startControl({ boxes, listen: { socket: join(folder, 'a.sock') } });
  onTestFinished(async () => {
    await close();
    rmSync(folder, { recursive: true });
  });
  const target: Target = { url };
  return { target, audit: () => readFileSync(join(folder, 'audit.jsonl'), 'utf8') };
};

const appOf = (box: Breakerbox, write: Audit['write'] = async () => {}) => {
  const [changes, modes] = [createChanges(), createAgentModes()];
  const boxes = operatedBoxes(changes, modes);
  boxes.add(box);
  const limits = { admission: createAdmission({ unknown: 1, known: 1 }), streams: createShares(1, 1) };
  const app = createApp({
    ...limits,
    boxes,
    changes,
    modes,
    tokens: undefined,
    hosts: [],
    audit: { promise: '', write, close: async () => {} },
  });
  return Object.assign(app, { boxes });
};

test('A3: of two sessions with one id the paused one is shown, resumed and recorded', async () => {
  const tools = { search: {}, other: {} };
  const boxes = [createBreakerbox({ agent: 'a', tools }), createBreakerbox({ agent: 'a', tools })] as const;
  const { target, audit } = await served(...boxes);
  const use = (box: (typeof boxes)[number]) => {
    const session = box.session({ id: 'run-1', budget: { failures: 1 } });
    session.acquire('search').settle({ outcome: 'success' });
    return session;
  };
  const paused = use(boxes[1]);
  paused.acquire('search').settle({ outcome: 'failure', category: 'server' });
  paused.acquire('search').settle({ outcome: 'success' });
  expect(paused.view().state).toBe('paused_budget');
  const active = [use(boxes[0]), use(boxes[1])];
  expect((await readReport(target, 'a', 'run-1')).text).toContain('PAUSED');
  const { cycle } = paused.view().budget;
  const action = { action: 'resume', agent: 'a', session: 'run-1', cycle } as const;
  expect(await perform(target, action)).toMatchObject({ result: 'done' });
  expect([paused, ...active].map((one) => one.view().state)).toEqual(['active', 'active', 'active']);
  const [asked] = audit().split('\n');
  expect(JSON.parse(asked ?? '').before).toContainEqual({ state: 'paused_budget', cycle });
});

test('A3: two boxes of an agent have one version, and a box that is made later does not change it', async () => {
  const make = () => createBreakerbox({ agent: 'a', tools: { search: {} } });
  const boxes = [make(), make()];
  const { target } = await served(...boxes);
  const versions = async () => (await readState(target)).boxes.map(({ version }) => version);
  const [before = 0] = await versions();
  const action = { action: 'disable', agent: 'a', tool: 'search', reason: 'x', expiresInMs: 60_000 } as const;
  expect(await perform(target, { ...action, version: before })).toMatchObject({ result: 'done' });
  expect(await perform(target, { ...action, version: before })).toMatchObject({ result: 'stale' });
  const [one, other] = await versions();
  expect(one).toBe(other);
  expect(await perform(target, { ...action, action: 'observe', version: one })).toMatchObject({ result: 'done' });
});

test('A3: who confirms the recovery of a session without budget is told that it stays paused', async () => {
  const box = createBreakerbox({ agent: 'a', tools: { search: {}, fetch: {}, mail: {} } });
  const { target } = await served(box);
  const session = box.session({ id: 'run-1', budget: { failures: 1 } });
  for (let call = 0; call < 3; call += 1)
    for (const tool of ['search', 'fetch', 'mail'])
      session.acquire(tool).settle({ outcome: 'failure', category: 'network' });
  const event = (await readState(target)).boxes[0]?.sessions[0]?.event?.id ?? '';
  const { message } = await perform(target, { action: 'confirm', agent: 'a', session: 'run-1', event });
  expect([session.view().state, message]).toEqual(['paused_budget', expect.stringContaining('until you resume it')]);
});

test('A6: nothing is done before its line is in the file', async () => {
  const box = createBreakerbox({ agent: 'a', tools: { search: {} } });
  let recorded = (): void => {};
  const app = appOf(box, ({ phase }) =>
    phase === 'ended'
      ? Promise.resolve()
      : new Promise((resolve) => {
          recorded = resolve;
        }),
  );
  const body = JSON.stringify({ action: 'force_open', agent: 'a', tool: 'search', reason: 'x' });
  const headers = { host: 'localhost', 'content-length': `${body.length}` };
  const answer = app.request('/v1/actions', { method: 'POST', headers, body });
  await setTimeout(20);
  expect(box.session().acquire('search').decision).toBe('call');
  recorded();
  expect((await answer).status).toBe(200);
  expect(box.session().acquire('search').decision).toBe('skip');
});

test('A5: requests that change nothing are GET, and a page of the same address may act', async () => {
  const box = createBreakerbox({ agent: 'a', tools: { search: {} } });
  const app = appOf(box);
  const body = JSON.stringify({ action: 'disable', agent: 'a', tool: 'search', reason: 'x' });
  const act = async (host: string, origin: string) =>
    (
      await app.request('/v1/actions', {
        method: 'POST',
        headers: { host, origin, 'content-length': `${body.length}` },
        body,
      })
    ).status;
  expect((await app.request('/v1/changes', { method: 'HEAD', headers: { host: 'localhost' } })).status).toBe(405);
  expect((await app.request('/v1/state', { method: 'DELETE', headers: { host: 'localhost' } })).status).toBe(405);
  expect(await act('localhost:80', 'http://localhost')).toBe(200);
  expect(await act('localhost:80', 'http://localhost:81')).toBe(403);
  expect(await act('localhost:80', 'null')).toBe(403);
});

test('A3: a mode for an agent is for the boxes that it makes later too, until it is released', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-act-'));
  const { url, close } = await startControl({ listen: { socket: join(folder, 'a.sock') } });
  onTestFinished(async () => {
    await close();
    rmSync(folder, { recursive: true });
  });
  const make = () => {
    const box = createBreakerbox({ agent: 'per-request' });
    box.declare('search'); // As adapters do.
    return box;
  };
  const first = make();
  const action = { agent: 'per-request', tool: 'search' } as const;
  await perform({ url, user: 'ada' }, { ...action, action: 'force_open', reason: 'x', expiresInMs: 60_000 });
  const { version } = (await readState({ url })).boxes.find(({ agent }) => agent === 'per-request') ?? {};
  const later = make();
  expect([first, later].map((box) => box.session().acquire('search').reason)).toEqual(['forced_open', 'forced_open']);
  expect(await perform({ url, user: 'ada' }, { ...action, action: 'release', version })).toMatchObject({
    result: 'done',
  });
  expect([first, later, make()].map((box) => box.session().acquire('search').decision)).toEqual([
    'call',
    'call',
    'call',
  ]);
});

test('A3: one release ends the modes of all owners, those for later boxes too', () => {
  const boxes = operatedBoxes(createChanges(), createAgentModes());
  const box = createBreakerbox({ agent: 'a', tools: { search: {} } });
  boxes.add(box);
  for (const owner of ['x0', 'x1'])
    operate(box).force('search', { mode: 'forced_open', owner, reason: 'x', isRemote: true });
  const modes = createAgentModes();
  modes.forced('a', 'search', { mode: 'disabled', owner: 'ada', reason: 'x', expiresInMs: 1_000 });
  const acting = { boxes: boxes.list('a'), version: 0, modes };
  const release = { action: 'release', agent: 'a', tool: 'search', allOwners: true } as const;
  expect(act(acting, { ...release, allOwners: undefined }, 'root').result).toBe('unknown');
  expect(act(acting, release, 'root')).toEqual({
    result: 'done',
    message: 'Each mode that one of 3 owners forced on search has ended.',
  });
  expect([box.session().acquire('search').decision, modes.ownersOf('a', 'search')]).toEqual(['call', []]);
  expect(act(acting, release, 'root').message).toMatch(/^No owner has forced a mode on search for all sessions/);
});

test('A6: an action on two boxes counts once, and one that no box can do changes none', async () => {
  const tools = { search: {} };
  const boxes = [createBreakerbox({ agent: 'a', tools }), createBreakerbox({ agent: 'a', tools, scope: 'none' })];
  const { target } = await served(...boxes, createBreakerbox({ agent: 'a', tools }));
  const counted: string[] = [];
  for (const box of boxes) box.on('operator.action', ({ action, result }) => counted.push(`${action} ${result}`));
  const base = { agent: 'a', tool: 'search' } as const;
  await perform(target, { ...base, action: 'disable', reason: 'x', expiresInMs: 60_000 });
  expect(await perform(target, { ...base, action: 'release' })).toMatchObject({ result: 'done' });
  expect(counted).toEqual(['disable done', 'release done']);
});

test('A2: a session beyond those that are listed is found by its id', async () => {
  const box = createBreakerbox({ agent: 'a', tools: { search: {} } });
  const sessions = Array.from({ length: 501 }, (_, index) => box.session({ id: `run-${index}` }));
  const { target } = await served(box);
  for (const session of sessions) session.acquire('search').settle({ outcome: 'success' });
  const [all] = (await readState(target)).boxes;
  expect([all?.sessions.length, all?.sessionsLeftOut]).toEqual([500, 1]);
  const [one] = (await readState(target, 'run-500')).boxes;
  expect([one?.sessions.map(({ id }) => id), one?.sessionsLeftOut]).toEqual([['run-500'], 0]);
});

test('A2: tools most of whose calls came back with an error that is not counted are named', async () => {
  const box = createBreakerbox({
    agent: `uncounted-${process.pid}`,
    tools: { search: {}, fine: {}, stopped: {}, fetch: {} },
  });
  const session = box.session();
  for (let call = 0; call < 6; call += 1) {
    session.acquire('search').settle({ outcome: call === 0 ? 'success' : 'ignored', category: 'tool_error' });
    session.acquire('stopped').settle({ outcome: 'ignored', category: 'cancelled' });
    session.acquire('fine').settle({ outcome: 'success' });
    // C14: these count for the hosts.
    session.acquire('fetch').settle({ outcome: 'failure', category: 'network', blames: 'key' });
  }
  const { target } = await served(box);
  const [state] = (await readState(target)).boxes;
  expect(state?.uncounted).toEqual([{ tool: 'search', errors: 5, calls: 6 }]);
});

test('A2: every schema that the OpenAPI document names is in it', () => {
  const text = JSON.stringify(openApi());
  const names = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name);
  expect(new Set(names)).toEqual(new Set(Object.keys(openApi().components.schemas)));
  expect(text).not.toContain('$defs');
});

test('A3: a box that is made while an action is recorded has the mode too', async () => {
  const make = () => createBreakerbox({ agent: 'a', tools: { search: {} } });
  const late = make();
  const app = appOf(make(), async ({ phase }) => {
    if (phase === 'asked') app.boxes.add(late);
  });
  const body = JSON.stringify({ action: 'force_open', agent: 'a', tool: 'search', reason: 'x' });
  const headers = { host: 'localhost', 'content-length': `${body.length}` };
  expect((await app.request('/v1/actions', { method: 'POST', headers, body })).status).toBe(200);
  expect(late.session().acquire('search').reason).toBe('forced_open');
});

test('A3: a mode of boxes that are gone can be released, and the version does not go back', () => {
  const boxes = operatedBoxes(createChanges(), createAgentModes());
  const version = () => boxes.version('a');
  const forced = () => {
    const box = createBreakerbox({ agent: 'a', tools: { search: {} } });
    boxes.add(box);
    operate(box).force('search', { mode: 'disabled', owner: 'ada', reason: 'x' });
    return version();
  };
  const seen = [forced(), forced(), forced()];
  expect(seen).toEqual([1, 2, 3]);
  const modes = createAgentModes();
  modes.forced('a', 'search', { mode: 'disabled', owner: 'ada', reason: 'x', expiresInMs: 1_000 });
  const acting = { boxes: [], version: 0, modes };
  const release = { action: 'release', agent: 'a', tool: 'search' } as const;
  expect(act(acting, release, 'ada').result).toBe('done');
  expect(act(acting, release, 'ada').result).toBe('unknown');
});
