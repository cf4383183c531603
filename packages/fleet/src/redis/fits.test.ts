/** Processes and scripts agree on what fits, and what is read fits when it is written. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fittingBody, keyOf, LONGEST_BODY } from '../fleet-action.ts';
import { NOWHERE } from '../protocol.ts';
import { fleetKey, redisStore } from './redis-store.ts';
import { connectedRedis } from './test-support.redis-server.ts';

const RUNS = Number(process.env.BREAKERBOX_MODEL_CASES ?? 1_000) / 5;
const NOW = 1_700_000_000_000;

let redis: Awaited<ReturnType<typeof connectedRedis>>;
beforeAll(async () => {
  redis = await connectedRedis();
});
afterAll(() => redis.stop());

let stores = 0;
/** A store whose hash has this field. */
const storeWith = async (field: string, json: string) => {
  stores += 1;
  const name = `fits ${stores}`;
  const key = fleetKey('breakerbox', name);
  const options = { prefix: 'breakerbox', name, commandTimeoutMs: 5_000, now: () => NOW, epoch: () => 'new' };
  await redis.client.hSet(key, { e: 'e1', v: '7', [field]: `7 ${json}` });
  return { store: redisStore(redis.connection, options), key };
};

/** Characters that JSON, UTF-8 or Lua writes longer than others, or not at all. */
const character = fc.constantFrom('a', 'é', '€', '\u{1f4a3}', '\u007f', '/', '"', '\\', '\u0000', '\n', '\ud800');
const repeated = fc.tuple(character, fc.constantFrom(1, 20, 33, 64, 65)).map(([one, times]) => one.repeat(times));
const name = fc.oneof({ weight: 3, arbitrary: fc.constantFrom('p1', 'network') }, { weight: 1, arbitrary: repeated });
const time = fc.constantFrom(0, 500, NOW, NOW + 5_000, 1e13, 1_234.567_890_123_456_7);
const extra = fc.dictionary(fc.constantFrom('z', '\ud800', '__proto__', 'y'), fc.oneof(repeated, fc.constant([[]])));

const circuit = fc
  .tuple(
    fc.record(
      {
        s: fc.constantFrom('pending', 'open', 'open', 'closed'),
        g: fc.constantFrom(1, 50, 1e12),
        c: name,
        t: time,
        w: time,
        n: fc.dictionary(name, time, { maxKeys: 17 }),
        h: name,
        k: name,
        u: time,
        d: fc.constantFrom(0, 1),
      },
      { requiredKeys: ['s', 'g', 'c', 't', 'w'] },
    ),
    extra,
  )
  .map(([record, more]) => JSON.stringify({ ...more, ...record }));

/** Lua writes 14 digits of a number. */
const rounded = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, one) => (typeof one === 'number' ? Number(one.toPrecision(14)) : one)));

test('G11: a circuit that is read can be changed by each script, and no message fails because of one', async () => {
  await fc.assert(
    fc.asyncProperty(circuit, async (json) => {
      const { store } = await storeWith('c:tool', json);
      const { circuits, ignored } = await store.read(NOWHERE);
      expect(circuits.length + (ignored ?? 0)).toBe(1);
      const [found] = circuits;
      const report = { id: 'tool', process: 'p2', category: 'timeout', waitMs: 1_000, windowMs: 1e13 } as const;
      const said = await store.report({ ...report, quorum: 16, generation: 0, ageMs: 0 });
      if (found?.state === 'open') {
        expect(rounded(said)).toEqual(rounded(found));
        expect(await store.end('tool', found.generation)).toBe(true);
      } else expect(said).toMatchObject({ seenBy: expect.any(Number), category: 'timeout' });
      expect(await store.read(NOWHERE)).toMatchObject({ ignored: 0, circuits: [{ id: 'tool' }] });
    }),
    { numRuns: RUNS },
  );
});

const word = fc.tuple(character, fc.constantFrom(1, 60, 300, 450, 650)).map(([one, times]) => one.repeat(times));

/** With a body of up to twice the length that a process sends, and with fields that no process sends. */
const action = fc
  .tuple(
    fc.record({
      do: fc.constantFrom('force', 'release'),
      agent: word,
      tool: word,
      owner: fc.oneof(word, fc.constantFrom('', ' ')),
      mode: fc.constantFrom('disabled', 'forced_open'),
      reason: word,
    }),
    extra,
    name,
    fc.boolean(),
  )
  .map(([body, more, i, isSpaced]) => {
    const text = JSON.stringify({ ...more, ...body }, null, isSpaced ? 10 : 0);
    return { key: keyOf(body), json: JSON.stringify({ i, b: text, m: NOW, o: NOW + 9_000, u: NOW + 9_000 }) };
  });

test('G11: an action that is read is as long when it is written, and is there after the key was deleted', async () => {
  await fc.assert(
    fc.asyncProperty(action, async ({ key, json }) => {
      const { store, key: hash } = await storeWith(`a:${key}`, json);
      const { actions, ignored } = await store.read(NOWHERE);
      expect(actions.length + (ignored ?? 0)).toBe(1);
      const [found] = actions;
      if (found === undefined) return;
      expect(found.body.length).toBeLessThanOrEqual(LONGEST_BODY);
      expect(fittingBody(key, found.body)).toBe(found.body);
      await redis.client.unlink(hash);
      const { id, body, ageMs, leftMs, keptMs } = found;
      const again = { key, id, body, ageMs, leftMs, keptMs, after: 0 };
      expect(await store.control(again)).toMatchObject({ key, id, body });
      expect((await store.read(NOWHERE)).actions).toMatchObject([{ key, id, body }]);
    }),
    { numRuns: RUNS },
  );
});

test('G11: an action that does not fit is not kept, and raises no version', async () => {
  const { store, key } = await storeWith('c:tool', '{}');
  const action = { id: 'i', body: '{}', ageMs: 0, leftMs: 60_000, keptMs: 60_000, after: 0 };
  for (const unfit of [
    { key: 'k', body: 'x'.repeat(6_001) },
    { key: 'k', body: '\u007f'.repeat(3_000) },
    { key: 'k', id: 'é' },
    { key: 'k'.repeat(9_000), body: '{}' },
  ])
    expect(await store.control({ ...action, ...unfit })).toBe('ignored');
  expect(await redis.client.hGetAll(key)).toMatchObject({ v: '7' });
  expect(await redis.client.hLen(key)).toBe(3);
});
