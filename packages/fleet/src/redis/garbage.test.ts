/** What a fleet does with a hash in Redis that it did not write. Random contents: `test/fuzz/fleet.test.ts`. */
import { setTimeout as wait } from 'node:timers/promises';
import { type Breakerbox, createBreakerbox } from '@breakerbox/core';
import { operate } from '@breakerbox/core/control';
import { shareCircuits } from '@breakerbox/core/fleet';
import { diag } from '@opentelemetry/api';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createFleet } from '../fleet.ts';
import { BOUNDS } from '../fleet-state.ts';
import { NOWHERE, type ProbeResult, type Report } from '../protocol.ts';
import { fleetKey, redisStore } from './redis-store.ts';
import { connectedRedis } from './test-support.redis-server.ts';

const NOW = 1_700_000_000_000;
const PREFIX = 'breakerbox';

let redis: Awaited<ReturnType<typeof connectedRedis>>;
beforeAll(async () => {
  redis = await connectedRedis();
});
afterAll(() => redis.stop());

const storeOf = (name: string) => {
  const options = { prefix: PREFIX, name, commandTimeoutMs: 5_000, now: () => NOW, epoch: () => 'new' };
  return { store: redisStore(redis.connection, options), key: fleetKey(PREFIX, name) };
};

const report = (id: string, more: Partial<Report> = {}): Report => ({
  ...{ id, process: 'p', category: 'network', waitMs: 1_000, quorum: 1, windowMs: 60_000, generation: 0, ageMs: 0 },
  ...more,
});

const OPEN = JSON.stringify({ s: 'open', g: 1, c: 'network', t: NOW, w: 1_000 });

const many = (count: number, field: (at: number) => readonly [string, string]): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => field(at)));

const put = async (key: string, fields: Record<string, string>): Promise<void> => {
  const all = Object.entries(fields);
  for (let at = 0; at < all.length; at += 10_000)
    await redis.client.hSet(key, Object.fromEntries(all.slice(at, at + 10_000)));
};

describe('the scripts', () => {
  test('G11: leave out a record that does not fit, count it, and write over it', async () => {
    const { store, key } = storeOf('unfit');
    const unfit = ['garbage', `900 ${OPEN}`, `2 ${'['.repeat(500)}`, '3 {}', `4 ${OPEN.replace('1000', '"x"')}`];
    await put(key, { e: 'e1', v: '7', 'c:fits': `7 ${OPEN}`, ...many(5, (at) => [`c:${at}`, unfit[at] ?? '']) });
    const { circuits, ignored, position } = await store.read(NOWHERE);
    expect({ circuits: circuits.map(({ id }) => id), ignored, position }).toEqual({
      circuits: ['fits'],
      ignored: 5,
      position: { epoch: 'e1', version: 7 },
    });
    for (const id of ['0', '1', '2', '3', '4']) {
      expect(await store.claim(id, 'p', 1, 'token', 1_000, false)).toBeUndefined();
      expect(await store.report(report(id))).toMatchObject({ state: 'open', generation: 1 });
    }
    expect(await store.read(NOWHERE)).toMatchObject({ ignored: 0, position: { epoch: 'e1', version: 12 } });
  });

  test.each([
    ['no version', { e: 'e1' }],
    ['a version that is no number', { e: 'e1', v: 'abc' }],
    ['a version that cannot grow', { e: 'e1', v: '9223372036854775807' }],
    ['no epoch', { v: '7' }],
    ['a long epoch', { e: 'e'.repeat(100), v: '7' }],
    ['more fields than a fleet has', { e: 'e1', v: '7', ...many(1_201, (at) => [`a:${at}`, 'x']) }],
  ])('G11: count a hash with %s as lost, and replace it with the next message', async (what, fields) => {
    const { store, key } = storeOf(what);
    await put(key, { ...fields, 'c:old': `7 ${OPEN}` });
    const { circuits, ignored, position } = await store.read(NOWHERE);
    expect({ circuits, ignored, position }).toEqual({
      circuits: [],
      ignored: Object.keys(fields).length + 1,
      position: NOWHERE,
    });
    expect(await store.settle('old', 'p', { epoch: 'e1', generation: 1, token: 't' }, { result: 'success' })).toBe(
      'stale',
    );
    expect(await redis.client.hLen(key)).toBe(Object.keys(fields).length + 1);
    expect(await store.report(report('new'))).toMatchObject({ state: 'open' });
    expect(await store.read(NOWHERE)).toMatchObject({ ignored: 0, position: { epoch: 'new', version: 1 } });
  });

  test('G11: a message that fails raises no version', async () => {
    const { store, key } = storeOf('failed');
    await store.report(report('before'));
    await expect(store.report(report('c', { waitMs: Number.NaN }))).rejects.toThrow();
    expect(await redis.client.hGetAll(key)).toMatchObject({ v: '1' });
    expect(await redis.client.hLen(key)).toBe(3);
  });

  test('G11: never load or send a long record, nor more of them than a fleet has', async () => {
    const { store, key } = storeOf('long');
    await put(key, { e: 'e1', v: '7', 'c:long': `7 ${OPEN}${' '.repeat(20_000_000)}`, 'c:fits': `7 ${OPEN}` });
    const word = await store.read(NOWHERE);
    expect(word).toMatchObject({ circuits: [{ id: 'fits' }], ignored: 1 });
    const full = many(BOUNDS.circuits + 50, (at) => [`c:${at}`, `7 ${OPEN}`]);
    const { store: other, key: otherKey } = storeOf('full');
    await put(otherKey, { e: 'e1', v: '7', ...full });
    const { circuits, ignored } = await other.read(NOWHERE);
    expect([circuits.length, ignored]).toEqual([BOUNDS.circuits, 50]);
  });

  test('G11: settle the probe of the largest generation, and leave out one that is no whole number', async () => {
    const { store, key } = storeOf('generation');
    const open = (g: number, t: number) => `7 ${JSON.stringify({ s: 'open', g, c: 'network', t, w: 1_000 })}`;
    const fields = ['success', 'end', 'failure'].map((id) => [`c:${id}`, open(1e12, NOW - 1_000)] as const);
    await put(key, { e: 'e1', v: '7', ...Object.fromEntries(fields), 'c:half': open(1.234_567_890_123_456_7, NOW) });
    expect((await store.read(NOWHERE)).ignored).toBe(1);
    const settle = async (id: string, result: ProbeResult) => {
      const grant = await store.claim(id, 'p', 1e12, 'token', 1_000, false);
      return store.settle(id, 'p', grant ?? expect.fail('no grant'), result);
    };
    expect(await settle('success', { result: 'success' })).toBe('done');
    expect(await settle('failure', { result: 'failure', category: 'network', waitMs: 2_000 })).toBe('done');
    expect(await store.end('end', 1e12)).toBe(true);
    const { circuits, ignored } = await store.read(NOWHERE);
    expect(circuits.map(({ id, state, generation }) => [id, state, generation])).toEqual([
      ['success', 'closed', 1e12],
      ['failure', 'open', 1e12],
      ['end', 'closed', 1e12],
    ]);
    expect(ignored).toBe(1);
  });

  test('G11: leave out an action whose body is no object, and count it', async () => {
    const { store, key } = storeOf('bodies');
    const action = (b: string) => `7 ${JSON.stringify({ i: 'i', m: NOW, o: NOW + 9_000, u: NOW + 9_000, b })}`;
    const bodies = ['xxx', '[]', '"x"', 'null', '{"do":"what a later release does"}'];
    await put(key, { e: 'e1', v: '7', ...many(bodies.length, (at) => [`a:${at}`, action(bodies[at] ?? '')]) });
    expect(await store.read(NOWHERE)).toMatchObject({ ignored: 4, actions: [{ key: '4' }] });
  });

  test('G11: count the listeners of more channels than one command takes', async () => {
    const { store } = storeOf('channels');
    const listening = store.listen(() => {});
    onTestFinished(() => store.close());
    listening.to(new Set(['topic 8400']));
    const topics = Array.from({ length: 8_500 }, (_, at) => `topic ${at}`);
    await vi.waitFor(async () => expect((await store.read(NOWHERE, topics)).topics.get('topic 8400')).toBe(1), 10_000);
  });
});

const TOOL = { share: 'fleet', cooldownMs: 500, maxCooldownMs: 1_000 } as const;

/** A process of a fleet, whose garbage another client writes. */
const member = (agent: string) => {
  const fleet = createFleet({ client: createClient({ url: redis.server.url }) });
  onTestFinished(() => fleet.close());
  const box = createBreakerbox({ agent, scope: 'process', fleet, tools: { search: TOOL } });
  return { fleet, box, session: box.session(), key: fleetKey(PREFIX, agent) };
};

const idOf = (box: Breakerbox): string => `c:${shareCircuits(box).digest('search')}:search`;

/** One call that succeeds, if the tool may be called. */
const calls = ({ session }: ReturnType<typeof member>): boolean => {
  const permit = session.acquire('search');
  if (permit.decision !== 'call' && permit.decision !== 'probe') return false;
  permit.settle({ outcome: 'success' });
  return true;
};

const upAt = (one: ReturnType<typeof member>) =>
  vi.waitFor(() => expect(one.fleet.status().mode).toBe('up'), { timeout: 10_000, interval: 50 });

describe('a process', () => {
  test('G11: tells once that it ignores records, without their contents', async () => {
    const told: string[] = [];
    const tell = (text: string) => void told.push(text);
    diag.setLogger({ error: tell, warn: tell, info: () => {}, debug: () => {}, verbose: () => {} });
    onTestFinished(() => diag.disable());
    const one = member('told');
    await upAt(one);
    for (const version of ['8', '9']) {
      await put(one.key, { e: 'e1', v: version, [idOf(one.box)]: `${version} {"secret":1}` });
      await wait(1_500);
    }
    expect(told.filter((text) => text.includes('records that do not fit'))).toHaveLength(1);
    expect(told.join()).not.toContain('secret');
    expect(calls(one)).toBe(true);
  });

  test('G11: cuts a Retry-After of 30 days, and calls a tool again soon after docs/fleet.md was followed', async () => {
    const one = member('lied');
    await upAt(one);
    const lie = async (version: string, waitMs: number): Promise<void> => {
      const record = { s: 'open', g: 50, c: 'network', t: Date.now(), w: waitMs };
      await put(one.key, { e: 'e1', v: version, [idOf(one.box)]: `${version} ${JSON.stringify(record)}` });
      await vi.waitFor(() => expect(calls(one)).toBe(false), { timeout: 5_000, interval: 20 });
    };
    await lie('100', 30 * 86_400_000); // Longer than the tool can wait at all.
    await vi.waitFor(() => expect(calls(one)).toBe(true), { timeout: 4_000, interval: 50 });
    await redis.client.unlink(one.key);
    await lie('200', 1_800_000); // A Retry-After that the tool accepts.
    await wait(2_500);
    expect(calls(one)).toBe(false);
    await redis.client.unlink(one.key);
    await vi.waitFor(() => expect(calls(one)).toBe(true), { timeout: 4_000, interval: 50 });
  });

  test('G11: stays up after a mode for centuries was deleted, and sends it back with seven days at most', async () => {
    const one = member('centuries');
    await upAt(one);
    const body = { do: 'force', agent: 'centuries', tool: 'search', owner: 'x', mode: 'forced_open', reason: 'r' };
    const field = `a:${JSON.stringify(['centuries', 'search', 'x'])}`;
    const action = { i: 'i', m: Date.now(), o: 1e13, u: 1e13, b: JSON.stringify(body) };
    await put(one.key, { e: 'e1', v: '100', [field]: `100 ${JSON.stringify(action)}` });
    await vi.waitFor(() => expect(calls(one)).toBe(false), { timeout: 5_000, interval: 20 });
    await redis.client.unlink(one.key);
    const sent = await vi.waitFor(async () => (await redis.client.hGet(one.key, field)) ?? expect.fail(), 5_000);
    const { u } = JSON.parse(sent.slice(sent.indexOf(' '))) as { u: number };
    expect(u).toBeLessThan(Date.now() + 7 * 86_400_000 + 5_000);
    await wait(4_500);
    expect(one.fleet.status().mode).toBe('up');
    operate(one.box).release('search', { owner: 'x' });
    expect(calls(one)).toBe(true);
  });

  test('G11: stays up after actions were deleted of which one is too long to be written, and sends the other back', async () => {
    const one = member('too long');
    await upAt(one);
    const body = { do: 'force', agent: 'too long', tool: 'search', owner: 'x', mode: 'observe_only', reason: 'r' };
    const stored = (owner: string, more: object) => {
      const b = JSON.stringify({ ...body, owner, ...more });
      const until = Date.now() + 600_000;
      const action = JSON.stringify({ i: `i-${owner}`, m: Date.now(), o: until, u: until, b });
      return [`a:${JSON.stringify(['too long', 'search', owner])}`, `100 ${action}`] as const;
    };
    const long = stored('long', { reason: '\u007f'.repeat(3_900) });
    const fits = stored('fits', { reason: '\u007f'.repeat(1_000), other: '\u007f'.repeat(800) });
    await put(one.key, { e: 'e1', v: '100', [long[0]]: long[1], [fits[0]]: fits[1] });
    await vi.waitFor(() => expect(operate(one.box).modes()).toMatchObject([{ owner: 'fits' }]), 5_000);
    await redis.client.unlink(one.key);
    await vi.waitFor(async () => expect(await redis.client.hGet(one.key, fits[0])).toContain('i-fits'), 5_000);
    await wait(4_500);
    expect(one.fleet.status()).toMatchObject({ mode: 'up', actions: [{ owner: 'fits' }] });
    expect(await redis.client.hLen(one.key)).toBe(3);
  });

  test('G8: calls again, and so does another process, after the modes that others wrote were deleted and released here', async () => {
    const [one, other] = [member('written'), member('written')];
    await Promise.all([upAt(one), upAt(other)]);
    const until = Date.now() + 600_000;
    const written = many(20, (at) => {
      const body = { do: 'force', agent: 'written', tool: 'search', owner: `x${at}`, mode: 'forced_open', reason: 'r' };
      const action = { i: `i${at}`, m: Date.now(), o: until, u: until, b: JSON.stringify(body) };
      return [`a:${JSON.stringify(['written', 'search', `x${at}`])}`, `100 ${JSON.stringify(action)}`];
    });
    await put(one.key, { e: 'e1', v: '100', ...written });
    const operator = operate(one.box);
    await vi.waitFor(
      () => expect([operator, operate(other.box)].map((at) => at.modes().length)).toEqual([20, 20]),
      5_000,
    );
    await redis.client.unlink(one.key);
    for (const { owner } of operator.modes()) operator.release('search', { owner });
    await vi.waitFor(() => expect([one, other].map(calls)).toEqual([true, true]), 5_000);
    await wait(2_500);
    expect([one, other].map(calls)).toEqual([true, true]);
  });

  test('A4: has room for a mode that is forced here, whatever modes other processes force', async () => {
    const one = member('crowded');
    await upAt(one);
    const until = Date.now() + 600_000;
    const action = (owner: string) => {
      const b = JSON.stringify({ do: 'force', agent: 'crowded', tool: 'search', owner, mode: 'disabled', reason: 'r' });
      return `100 ${JSON.stringify({ i: `i-${owner}`, m: Date.now(), o: until, u: until, b })}`;
    };
    const field = (owner: string) => `a:${JSON.stringify(['crowded', 'search', owner])}`;
    await put(one.key, { e: 'e1', v: '100', ...many(200, (at) => [field(`o${at}`), action(`o${at}`)]) });
    await vi.waitFor(() => expect(operate(one.box).modes()).toHaveLength(100), 5_000);
    operate(one.box).force('search', { mode: 'forced_open', owner: 'ada', reason: 'repair' });
    expect(one.session.acquire('search')).toMatchObject({ decision: 'skip', reason: 'forced_open' });
    await wait(1_500);
    expect(one.fleet.status().mode).toBe('up');
  });

  test.each([
    ['60,000 circuits', 60_000, (at: number) => [`c:aaaaaaaaaaaa:tool${at}`, `7 ${OPEN}`] as const],
    ['16,400 actions', 16_400, (at: number) => [`a:${at}`, `7 {"i":"i${at}"}`] as const],
  ])('G11: stays up with %s that are not of a fleet, and as long as they are there', async (what, count, field) => {
    const one = member(what);
    await upAt(one);
    await put(one.key, { e: 'e1', v: '7', ...many(count, field) });
    await redis.client.sendCommand(['SPUBLISH', one.key, '']);
    await wait(2_500);
    expect(one.fleet.status()).toMatchObject({ mode: 'up', circuits: [], actions: [] });
    expect(calls(one)).toBe(true);
    for (let call = 0; call < 3; call += 1)
      one.session.acquire('search').settle({ outcome: 'failure', category: 'network' });
    await vi.waitFor(
      () => expect(one.fleet.status().circuits).toMatchObject([{ name: 'search', state: 'open' }]),
      10_000,
    );
    expect(await redis.client.hLen(one.key)).toBe(3);
  });
});
