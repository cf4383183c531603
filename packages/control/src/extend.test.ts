import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Breakerbox, createBreakerbox, type Session } from '@breakerbox/core';
import { expect, onTestFinished, test } from 'vitest';
import { perform, readChanges, readState, type Target } from './client.ts';
import { openApi } from './open-api.ts';
import { startControl } from './start-control.ts';

/** An agent with a control API, and a run with limits. */
const served = async (...others: Breakerbox[]) => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-extend-'));
  const box = createBreakerbox({ agent: 'a', tools: { search: {} } });
  const { url, close } = await startControl({ boxes: [box, ...others], listen: { socket: join(folder, 'a.sock') } });
  onTestFinished(async () => {
    await close();
    rmSync(folder, { recursive: true });
  });
  const session = box.session({
    id: 'run-1',
    limits: { calls: 10, tokens: { limit: 1_000, mode: 'advise' }, cost: { amount: 5, currency: 'USD' } },
  });
  const target: Target = { url };
  const audit = () =>
    readFileSync(join(folder, 'audit.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  return { box, session, target, audit };
};

const call = (session: Session, times: number): void => {
  for (let made = 0; made < times; made += 1)
    session.acquire('search').settle({ outcome: 'success', tokens: 90, cost: 0.25 });
};

const EXTEND = { action: 'extend', agent: 'a', session: 'run-1', limit: 'calls', by: 5, size: 10 } as const;

test('A2, D1: the state has limits, what was used, and the sub-agents', async () => {
  const { session, target } = await served();
  call(session, 8);
  const child = session.child({ id: 'helper', name: 'Helper', portion: { calls: 1 } });
  call(child, 1);
  session.child({ id: 'gone' }).end();
  const [shown] = (await readState(target)).boxes[0]?.sessions ?? [];
  expect(shown).toMatchObject({
    state: 'active',
    limits: [
      { limit: 'calls', session: 'run-1', size: 10, used: 9, reserved: 0, mode: 'pause', level: 'advised' },
      { limit: 'tokens', size: 1_000, used: 810, underWay: 0, mode: 'advise', level: 'advised' },
      { limit: 'cost', size: 5, used: 2.25, currency: 'USD' },
    ],
    used: { calls: 9, steps: 2, tokens: 810, cost: 2.25 },
    children: [
      {
        id: 'helper',
        name: 'Helper',
        parent: 'run-1',
        path: 'run-1/helper',
        depth: 1,
        ended: false,
        limits: [{ size: 1, level: 'reached' }],
      },
      { id: 'gone', ended: true, used: { calls: 0 }, limits: [] },
    ],
    childrenLeftOut: 0,
  });
});

test('A2: a session without limits has none of it', async () => {
  const { box, target } = await served();
  const plain = box.session({ id: 'plain' });
  call(plain, 1);
  const [shown = {}] = (await readState(target, 'plain')).boxes[0]?.sessions ?? [];
  expect(Object.keys(shown)).toEqual(['id', 'ageMs', 'state', 'step', 'budget', 'circuits']);
});

test('A3, A6, D2: a limit is extended once for the size that was seen, and recorded', async () => {
  const { session, target, audit } = await served();
  call(session, 10);
  expect(session.acquire('search').reason).toBe('limit_reached');
  const resumed = await perform(target, { action: 'resume', agent: 'a', session: 'run-1', cycle: 1 });
  expect(resumed).toMatchObject({
    result: 'stale',
    message: expect.stringContaining(
      'resume extends no limit. A limit pauses the session: 10 of 10 tool calls. To let it go on, extend the limit: Extend in the console, or breakerbox ctl extend SESSION calls AMOUNT.',
    ),
  });
  const done = await perform(target, EXTEND);
  expect(done).toMatchObject({
    result: 'done',
    message: 'The limit of session run-1 grows from 10 tool calls to 15 tool calls. It goes on at its next call.',
    boxes: [{ sessions: [{ state: 'active', limits: [{ limit: 'calls', size: 15 }, {}, {}] }] }],
  });
  expect(session.acquire('search').decision).toBe('call');
  expect(await perform(target, EXTEND)).toMatchObject({ result: 'stale' });
  expect(audit().slice(2, 4)).toMatchObject([
    { phase: 'asked', request: EXTEND, before: [{ limits: [{ session: 'run-1', size: 10, used: 10 }] }] },
    { phase: 'ended', result: 'done', after: [{ limits: [{ session: 'run-1', size: 15, used: 10 }] }] },
  ]);
});

test('A3: if a limit is reached too, resume says so', async () => {
  const { box, target } = await served();
  const session = box.session({ id: 'both', budget: { failures: 1 }, limits: { calls: 3 } });
  session.acquire('search').settle({ outcome: 'success' });
  session.acquire('search').settle({ outcome: 'failure', category: 'server' });
  session.acquire('search').settle({ outcome: 'success' });
  const { state, budget } = session.view();
  expect(state).toBe('paused_budget');
  expect(await perform(target, { action: 'resume', agent: 'a', session: 'both', cycle: budget.cycle })).toMatchObject({
    result: 'done',
    message: expect.stringContaining('A limit pauses the session: 3 of 3 tool calls.'),
  });
});

test('A3, D1: a sub-agent whose id others have, in another box too, is named with the id of its session', async () => {
  const other = createBreakerbox({ agent: 'a', tools: { search: {} } });
  const { session, target, audit } = await served(other);
  const [one, two] = [session, other.session({ id: 'run-2', limits: { calls: 10 } })].map((root) =>
    root.child({ id: 'helper', portion: { calls: 2 } }),
  );
  const asked = { ...EXTEND, session: 'helper', by: 1, size: 2 } as const;
  expect(await perform(target, asked)).toMatchObject({
    result: 'unknown',
    message:
      'Nothing was done: several sub-agents of agent a have the id helper. Name the one that you mean: run-1/helper, or run-2/helper.',
  });
  expect(await perform(target, { ...asked, session: 'run-2/helper' })).toMatchObject({ result: 'done' });
  expect([one, two].map((child) => child?.view().limits?.[0]?.size)).toEqual([2, 3]);
  expect(audit().at(-1)).toMatchObject({ after: [{ limits: [{ session: 'run-2' }, { session: 'helper', size: 3 }] }] });
  call(one as Session, 2);
  expect(await perform(target, asked)).toMatchObject({ result: 'done' });
  expect([one, two].map((child) => child?.view().limits?.[0]?.size)).toEqual([3, 3]);
});

test('A3, D1: the path of a sub-agent names it alone, and the answer says which one was extended', async () => {
  const other = createBreakerbox({ agent: 'a', tools: { search: {} } });
  const { session, target } = await served(other);
  const [one, two] = ['planner', 'writer'].map((id) =>
    session.child({ id }).child({ id: 'helper', portion: { calls: 2 } }),
  );
  const asked = { ...EXTEND, by: 1, size: 2 } as const;
  const extend = (name: string) => perform(target, { ...asked, session: name });
  for (const name of ['helper', 'run-1/helper'])
    expect((await extend(name)).message).toContain('run-1/planner/helper, or run-1/writer/helper.');
  call(two as Session, 2);
  const resumed = await perform(target, { action: 'resume', agent: 'a', session: 'writer/helper', cycle: 1 });
  expect(resumed).toMatchObject({ result: 'stale', message: expect.stringContaining('extend SESSION calls AMOUNT') });
  expect((await extend('run-1/planner/helper')).message).toContain('The limit of session run-1/planner/helper grows');
  expect([one, two].map((child) => child?.view().limits?.[0]?.size)).toEqual([3, 2]);
  other.session({ id: 'run-1', limits: { calls: 10 } }).child({ id: 'helper', portion: { calls: 2 } });
  expect((await extend('run-1/helper')).message).toContain('The limit of session run-1/helper grows');
  expect([one, two].map((child) => child?.view().limits?.[0]?.size)).toEqual([3, 2]);
});

test('A3, D1: if another box has a session of the same name, the answer says so', async () => {
  const other = createBreakerbox({ agent: 'a', tools: { search: {} } });
  const { session, target } = await served(other);
  for (const root of [session, other.session({ id: 'run-1', limits: { calls: 10 } })])
    call(root.child({ id: 'helper', portion: { calls: 2 } }), 2);
  const asked = { ...EXTEND, session: 'helper', by: 1, size: 2 } as const;
  const twin = 'Another box of the agent has a session run-1/helper too: it stays as it was.';
  expect((await perform(target, asked)).message).toContain(twin);
  expect(await perform(target, asked)).toMatchObject({ result: 'done' });
  expect(await perform(target, asked)).toMatchObject({ result: 'stale' });
});

test.each([
  [{ limit: 'steps' }, 'has no limit steps, so that nothing stops it. It has limits of calls, tokens, cost.'],
  [{ session: 'run-2' }, 'has no live session run-2'],
] as const)('A3: %j is unknown', async (change, message) => {
  const { session, target } = await served();
  call(session, 1);
  expect(await perform(target, { ...EXTEND, ...change } as never)).toMatchObject({
    result: 'unknown',
    message: expect.stringContaining(message),
  });
});

test.each([
  [{ by: 0 }, 'by'],
  [{ by: -1 }, 'by'],
  [{ by: 1.5 }, 'whole number'],
  [{ by: 2 ** 41 }, 'by'],
  [{ by: '5' }, 'by'],
  [{ limit: 'money' }, 'limit'],
  [{ size: undefined }, 'size'],
  [{ version: 3 }, 'version'],
] as const)('E6: an action with %j is refused', async (change, message) => {
  const { session, target } = await served();
  call(session, 1);
  await expect(perform(target, { ...EXTEND, ...change } as never)).rejects.toThrow(message);
  expect(session.view().limits?.[0]).toMatchObject({ size: 10 });
});

test('A2, D2: the stream of changes tells of limits', async () => {
  const { session, target } = await served();
  call(session, 10);
  await perform(target, EXTEND);
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const told: string[] = [];
  for await (const { kind, session: of, limit, reason } of readChanges(target, stop.signal)) {
    told.push([kind, of, limit, reason].filter(Boolean).join(' '));
    if (kind === 'action') break;
  }
  expect(told).toEqual([
    'limit.advised run-1 8 of 10 tool calls',
    'limit.advised run-1 810 of 1,000 tokens',
    'limit.reached run-1 10 of 10 tool calls',
    'limit.extended run-1 calls: 10 tool calls to 15 tool calls',
    'limit.lifted run-1 10 of 15 tool calls',
    'action run-1 calls + 5',
  ]);
});

test('A2: the OpenAPI document has the action and the limits', () => {
  const { Action, Limit } = openApi().components.schemas as Record<string, { oneOf?: unknown[]; properties?: object }>;
  expect(JSON.stringify(Action)).toContain('"const":"extend"');
  expect(Object.keys(Limit?.properties ?? {})).toContain('underWay');
});
