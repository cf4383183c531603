import { afterAll, expect, test } from 'vitest';
import { playGarbage, START_MS, stopRedis } from './fleet.ts';
import { eachFieldGarbled, garbageJson, garbledJson } from './garbage.ts';
import { randomFrom } from './mutate.ts';

/** Random cases. The seed of one that fails is in the error. */
const CASES = Math.ceil(Number(process.env.BREAKERBOX_MODEL_CASES ?? 1_000) / 25);

const CIRCUIT = {
  s: 'open',
  g: 50,
  c: 'network',
  t: START_MS + 2_000,
  w: 500,
  n: { p: START_MS },
  h: 'p',
  k: 't',
  u: START_MS + 5_000,
  d: 1,
};
const BODY = { do: 'force', agent: 'fuzz', tool: 'dead', owner: 'ada', mode: 'observe_only', reason: 'r' };
const KEY = `a:${JSON.stringify(['fuzz', 'dead', 'ada'])}`;
const END = START_MS + 9_000;
const ACTION = { i: 'i1', b: JSON.stringify(BODY), m: START_MS + 1_000, o: END, u: END };

afterAll(stopRedis);

test('G11: each field of each record with the wrong contents', async () => {
  const random = randomFrom(7);
  const circuits = eachFieldGarbled(CIRCUIT, random).map((json) => ['c:DIGEST:healthy', `100 ${json}`] as const);
  const actions = [
    ...eachFieldGarbled(ACTION, random),
    ...eachFieldGarbled(BODY, random).map((b) => JSON.stringify({ ...ACTION, b })),
  ].map((json) => [KEY, `100 ${json}`] as const);
  for (const one of [...circuits, ...actions])
    await playGarbage({ hash: [['e', 'other'], ['v', '100'], one], answers: [] }).catch((error: unknown) =>
      expect.fail(`${one}: ${error}`),
    );
});

test('G11: random garbage in records and answers', async () => {
  for (let seed = 1; seed <= CASES; seed += 1) {
    const random = randomFrom(seed);
    const circuit = ['healthy', 'dead'].map(
      (tool) => [`c:DIGEST:${tool}`, `${random(200)} ${garbledJson(CIRCUIT, random)}`] as const,
    );
    const action = [KEY, `${random(200)} ${garbledJson(ACTION, random)}`] as const;
    const head = [
      ['e', random(3) === 0 ? garbageJson(random) : 'other'],
      ['v', random(3) === 0 ? garbageJson(random) : '100'],
    ] as const;
    const hash = [...circuit, action, ...head].filter(() => random(5) > 0);
    const answers = random(4) === 0 ? Array.from({ length: 1 + random(3) }, () => safeJson(garbageJson(random))) : [];
    await playGarbage({ hash, answers }).catch((error: unknown) =>
      expect.fail(`seed ${seed}, ${JSON.stringify({ hash, answers })}: ${error}`),
    );
  }
});

const safeJson = (text: string): unknown => JSON.parse(text) as unknown;
