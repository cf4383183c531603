import { afterAll, expect, test } from 'vitest';
import { playRequests, type Sent, stopPretender } from './control.ts';
import { eachFieldGarbled, garbageJson, garbledJson } from './garbage.ts';
import { randomFrom } from './mutate.ts';

/** Random cases. The seed of one that fails is in the error. */
const CASES = Math.ceil(Number(process.env.BREAKERBOX_MODEL_CASES ?? 1_000) / 50);

const ON_TOOL = { agent: 'fuzz', tool: 'dead', session: 'run', version: 0 };
const ACTIONS = [
  { action: 'resume', agent: 'fuzz', session: 'run', cycle: 0 },
  { action: 'confirm', agent: 'fuzz', session: 'run', event: 'e1' },
  { action: 'disable', ...ON_TOOL, reason: 'r', expiresInMs: 60_000 },
  { action: 'release', ...ON_TOOL, owner: 'ada' },
];
const MODE = {
  tool: 'dead',
  mode: 'disabled',
  owner: 'ada',
  reason: 'r',
  session: 'run',
  sinceUnixMs: 1,
  untilUnixMs: 2,
};
const CIRCUIT = {
  ...{ tool: 'dead', group: 'g', state: 'open', generation: 1, failures: 3, category: 'network', openForMs: 5 },
  ...{ nextProbe: { steps: 1, ms: 2, notBeforeMs: 0 }, openKeys: 0, failedKeys: 0 },
};
const BUDGET = { limit: 10, remaining: 9, cycle: 0 };
const EVENT = { id: 'e1', category: 'network', layer: 'network', suspect: 'dns', tools: ['dead'], sinceUnixMs: 1 };
const RUN = { id: 'run', ageMs: 1, state: 'active', step: 1, budget: BUDGET, event: EVENT, circuits: [CIRCUIT] };
const BOX = { agent: 'fuzz', version: 0, tools: ['dead'], modes: [MODE], sessions: [RUN], sessionsLeftOut: 0 };
const STATE = { pid: 1, startedUnixMs: 1, role: 'operate', boxes: [BOX] };
const RESULT = { result: 'done', message: 'm', boxes: [BOX] };
const CHANGE = {
  kind: 'action',
  agent: 'fuzz',
  unixMs: 1,
  session: 'run',
  tool: 'dead',
  to: 'disable',
  who: 'ada',
  reason: 'r',
};

/** A record in which one of these is garbled, in each place where the API has it. */
const ANSWERS: readonly (readonly [object, (json: string) => string])[] = [
  [STATE, (json) => json],
  [RESULT, (json) => json],
  [{ text: 't' }, (json) => json],
  [{ error: 'e' }, (json) => json],
  [CHANGE, (json) => json],
  [BOX, (json) => `{"pid":1,"startedUnixMs":1,"role":"view","boxes":[${json}]}`],
  ...(
    [
      [RUN, 'sessions'],
      [MODE, 'modes'],
    ] as const
  ).map(([record, field]) => [record, (json: string) => boxesWith(`"${field}":[${json}]`)] as const),
  [CIRCUIT, (json) => boxesWith(`"sessions":[{"id":"run","circuits":[${json}]}]`)],
];
const boxesWith = (part: string): string =>
  `{"pid":1,"startedUnixMs":1,"role":"view","boxes":[{"agent":"fuzz","version":0,"tools":[],"sessionsLeftOut":0,${part}}]}`;

const HEADERS = ['breakerbox-user', 'host', 'origin', 'authorization'];
const TEXTS = ['session', 'report', 'path', ...HEADERS];
/** Each kind of dangerous character once, where a text may be. */
const HOSTILE = '\u0000 \u001b[31m \u009b31m \u202e \u2028 \ud800 \u{e0041}';

const play = (what: string, sent: Sent): Promise<void> =>
  playRequests(sent).catch((error: unknown) =>
    expect.fail(`${what}: ${error} ${JSON.stringify(sent).slice(0, 20_000)}`),
  );

afterAll(stopPretender);

test('A3, A5: each field of each request with the wrong contents', async () => {
  const random = randomFrom(7);
  for (const action of ACTIONS) {
    const garbled = eachFieldGarbled(action, random);
    const hostile = Object.keys(action).map((field) => JSON.stringify({ ...action, [field]: HOSTILE }));
    const unknown = JSON.stringify({ ...action, [HOSTILE]: 1 });
    await play(
      action.action,
      [...garbled, ...hostile, unknown].map((body) => ['body', body] as const),
    );
  }
  await play(
    'texts',
    TEXTS.map((field) => [field, HOSTILE] as const),
  );
});

test('A2, A7: each field of each answer with the wrong contents', async () => {
  const random = randomFrom(8);
  for (const [record, within] of ANSWERS) {
    const garbled = eachFieldGarbled(record as Record<string, unknown>, random);
    await play(
      'answer',
      garbled.map((json) => ['answer', within(json)] as const),
    );
  }
});

test('A7, A8: answers that are large, deep or long', async () => {
  const state = (circuits: string) => boxesWith(`"modes":[],"sessions":[${garbledRun(circuits)}]`);
  const garbledRun = (circuits: string) =>
    JSON.stringify({ ...RUN, circuits: 0 }).replace('"circuits":0', `"circuits":[${circuits}]`);
  const answers = [
    state(`${'1,'.repeat(300_000)}1`),
    state(`${'{},'.repeat(1_000_000)}{}`),
    state(`${JSON.stringify(CIRCUIT)},`.repeat(20_000).slice(0, -1)),
    state(JSON.stringify(CIRCUIT).replace('"steps":1', `"steps":${'['.repeat(20_000)}${']'.repeat(20_000)}`)),
    state(`{${Array.from({ length: 200_000 }, (_, index) => `"k${index}":1`).join()}}`),
    state(`"${'x'.repeat(5_000_000)}"`),
    boxesWith(`"modes":[],"sessions":[${`${garbledRun('')},`.repeat(20_000).slice(0, -1)}]`),
    ' '.repeat(7_000_000),
    JSON.stringify({
      ...STATE,
      boxes: [{ ...BOX, sessions: [{ ...RUN, event: { ...EVENT, id: 'e'.repeat(1_000) } }] }],
    }),
  ];
  for (const answer of answers) await play('large', [['answer', answer]]);
}, 60_000);

test('A2, A3, A5: random garbage in requests and answers', async () => {
  for (let seed = 1; seed <= CASES; seed += 1) {
    const random = randomFrom(seed);
    const sent = Array.from({ length: 1 + random(4) }, () => {
      const kind = random(3);
      if (kind === 0)
        return [
          'body',
          garbledJson(ACTIONS[random(ACTIONS.length)] as object as Record<string, unknown>, random),
        ] as const;
      if (kind === 1) return [TEXTS[random(TEXTS.length)] as string, garbageJson(random)] as const;
      const [record, within] = ANSWERS[random(ANSWERS.length)] as (typeof ANSWERS)[number];
      return ['answer', within(garbledJson(record as Record<string, unknown>, random))] as const;
    });
    await play(`seed ${seed}`, sent);
  }
});
